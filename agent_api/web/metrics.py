"""The agent's figures as Prometheus text: names and types of what `core.figures` counts.

Decides only how a name is spelled for Prometheus. Figures are read when they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import unquote

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

__all__ = ["Exposition"]


_COUNTER = re.compile(
    r"(master|slave)/tasks_(finished|failed|killed|lost|error|dropped|gone|gone_by_operator)|master/task_\w+/.*|slave/executors_preempted"
    r"|master/operations/(\w+/)?(finished|failed|error|dropped|gone_by_operator)"
    r"|master/messages_\w+|master/(in)?valid_\w+|allocator/mesos/allocation_runs"
    r"|master/framework/(calls|events|offers|operations|tasks/terminal)/.*"
    r"|pinfold/(?!profiles_)\w+_(sent|rescinded|refused|launched)"
)
"""Figures that only grow while the process runs. All others may go both ways."""

_LABELLED = (
    (r"master/frameworks/(?P<framework>[^/]*)/(?P<framework_id>[^/]*)/roles/(?P<role>.+)/", "master/framework_role/"),
    (r"master/frameworks/(?P<framework>[^/]*)/(?P<framework_id>[^/]*)/", "master/framework/"),
    (r"allocator/mesos/offer_filters/roles/(?P<role>.+)/", "allocator/mesos/offer_filters/role/"),
    (r"allocator/mesos/quota/roles/(?P<role>.+)/resources/(?P<resource>[^/]+)/", "allocator/mesos/quota/resource/"),
    (r"allocator/mesos/roles/(?P<role>.+)/shares/", "allocator/mesos/role/share/"),
    (r"allocator/mesos/resources/(?P<resource>[^/]+)/", "allocator/mesos/resource/"),
)
"""Names with somebody's name in them: for Prometheus that is a label, so that one name is one thing."""


def _labelled(name: str) -> tuple[str, dict[str, str]]:
    """A figure's name without anybody's name in it, and those as labels."""
    for pattern, general in _LABELLED:
        match = re.match(pattern, name)
        if match is not None:
            labels = match.groupdict()
            for key in labels.keys() & {"framework", "framework_id"}:
                labels[key] = unquote(labels[key])
            return general + name[match.end() :], labels
    return name, {}


class Exposition(Collector):
    """What GET /metrics answers with."""

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        self._read = read
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def collect(self) -> Iterable[Metric]:
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for original, value in sorted(self._read().items()):
            name, labels = _labelled(original)
            metric = families.get(name)
            if metric is None:
                spelled = "pinfold_" + re.sub(r"[^a-zA-Z0-9_]", "_", name)
                family = CounterMetricFamily if _COUNTER.fullmatch(name) else GaugeMetricFamily
                metric = families[name] = family(spelled, f"{name} as in /metrics/snapshot", labels=list(labels))
            metric.add_metric(list(labels.values()), value)
        yield from families.values()

    def describe(self) -> Iterable[Metric]:
        return ()

    def text(self) -> bytes:
        """The exposition format, version 0.0.4."""
        return generate_latest(self._registry)
