"""The agent's figures as Prometheus text: names and types of what `core.views.metrics` counts.

Decides only how a name is spelled for Prometheus. Figures are read when they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["Exposition"]


_COUNTER = re.compile(
    r"(master|slave)/tasks_(finished|failed|killed|lost|gone|error)|slave/executors_preempted|master/operations/(finished|failed|error|dropped)"
    r"|pinfold/(?!profiles_)\w+_(sent|rescinded|refused|launched)"
)
"""Figures that only grow while the process runs. All others may go both ways."""


class Exposition(Collector):
    """What GET /metrics answers with."""

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        self._read = read
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def collect(self) -> Iterable[Metric]:
        for name, value in sorted(self._read().items()):
            spelled = "pinfold_" + re.sub(r"[^a-zA-Z0-9_]", "_", name)
            family = CounterMetricFamily if _COUNTER.fullmatch(name) else GaugeMetricFamily
            metric = family(spelled, f"{name} as in /metrics/snapshot")
            metric.add_metric([], value)
            yield metric

    def describe(self) -> Iterable[Metric]:
        return ()

    def text(self) -> bytes:
        """The exposition format, version 0.0.4."""
        return generate_latest(self._registry)
