"""What on a host helps Pinfold or hinders it, and what to do about it: one sentence each.

`reading` reads the facts, the other modules judge them and are pure: they never read, change or try anything, and never
decide what is put in force.

Bad is what keeps a promise of Pinfold from being kept (sets that nothing keeps others off, no CPU to offer, a profile
that nothing on this host can ever meet). A warning is what makes it weaker, or is there by somebody's choice.
"""

from provider.doctor.judging import examine
from provider.doctor.values import BAD, OK, WARN, Cgroups, Facts, Finding

__all__ = ["BAD", "OK", "WARN", "Cgroups", "Facts", "Finding", "examine"]
