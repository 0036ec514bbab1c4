"""All findings about a host, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from profiles.mapping import Entry, selects
from provider.doctor.cgroups import enforcing
from provider.doctor.host import describing
from provider.doctor.profiles import wishes
from provider.doctor.values import BAD, Facts, Finding
from provider.errors import ConfigError
from provider.layout import Config, Layout, plan_layout

__all__ = ["examine"]


def examine(
    facts: Facts,
    config: Config | None = None,
    entries: Mapping[str, Entry] | None = None,
    provider: tuple[str, str] | None = None,
) -> list[Finding]:
    """`config` is the provider's (None: the default one), `entries` the profiles to look at, `provider` the (type,
    name) whose profiles they are (None: all are)."""
    layout: Layout | None = None
    found = list(enforcing(facts))
    try:
        layout = plan_layout(facts.host, config or Config(), facts.cgroups.cpus)
    except ConfigError as error:
        found.append(Finding("config", BAD, f"{error}.", "Change the provider's configuration, or the host."))
    found += describing(facts, layout)
    if layout is not None:
        for name, entry in (entries or {}).items():
            if provider is None or selects(entry, *provider):
                found += wishes(facts, layout, name, entry.profile)
    return found
