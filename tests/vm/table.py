"""Writes docs/kernel-answers.md: what the kernels that we asked answer.

Decides the file's form. The answers are kept in it between runs: each kernel replaces its own column only.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from expected import ERRNO_TABLE, expected

__all__ = ["write_table"]

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "kernel-answers.md"
RECORDED = Path(__file__).parent / "answers.json"
"""{kernel series: {"release", "v1": {question: answer} or a reason, "v2": {...}}}"""

_HEAD = """# What the kernel answers

Pinfold relies on what the kernel says to writes in cgroup hierarchies. These are the answers of Debian's kernels on
16 CPUs with SMT on 4 NUMA nodes, under QEMU, asked by `make test-vm` (`tests/vm/guest/answers.py` has the questions).
With `PINFOLD_VM_WRITE=1` it writes this file again. The fake cgroup file system of the functional tests is asked the
same questions, and has to give the same answers to those marked *f*.

Unless a question says otherwise: `probe` has CPUs 0-7 and nodes 0-1, its child `a` has 2-3 and `b` has 4-5, all are
members, and nothing else is in them. `X / Y` is the list that was written and the list in effect. Where several things
were done, their answers follow each other. A question that begins with "..." goes on from the one above. "local:" is
about partitions below a parent that is one itself, which Pinfold does not make; on 6.1 answers about CPUs that go
offline there changed from run to run.

What follows for Pinfold:

- A partition of ours needs 6.7 or later (`cpuset.cpus.exclusive`, claimed from the top). On 6.1 the set is a member, and
  says so.
- On 6.7 and later another group's list that comes to overlap a partition does not break it, and does not get its CPUs.
- A remote partition's CPUs are its claim, not its list: to shrink it, the claim has to be narrowed too.
- cpuset and cpu can be enabled in a directory that holds processes, but then no process may go below it (EOPNOTSUPP):
  the enforcer refuses such a parent before it changes anything.
- On 6.12 the last CPU of a partition cannot be taken offline (EBUSY).
- On v1 a CPU that went offline does not come back into any list, and the tasks of a set that has lost all its CPUs are
  moved to its parent.

"""


def write_table(release: str, v1: dict[str, str] | str, v2: dict[str, str]) -> None:
    """Keep this kernel's answers, if PINFOLD_VM_WRITE is set."""
    if not os.environ.get("PINFOLD_VM_WRITE"):
        return
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    recorded[".".join(release.split(".")[:2])] = {"release": release, "v1": v1, "v2": v2}
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    DOCUMENT.write_text(document(recorded))


def document(recorded: dict[str, dict[str, dict[str, str] | str]]) -> str:
    out = [_HEAD]
    names = sorted(recorded, key=lambda name: [int(part) for part in name.split(".")])
    for name in names:
        out.append(f"- {name}: {recorded[name]['release']}\n")
    for version, title in (("v1", "cgroup v1 (cpuset)"), ("v2", "cgroup v2")):
        columns = {name: recorded[name][version] for name in names}
        out.append(f"\n## {title}\n\n")
        for name, reason in columns.items():
            if isinstance(reason, str):
                out.append(f"{name} has none: {reason}.\n\n")
        tables = {name: column for name, column in columns.items() if isinstance(column, dict)}
        questions: dict[str, None] = {}
        for column in tables.values():
            questions |= dict.fromkeys(column)
        out.append(f"| question | {' | '.join(tables)} | |\n|---|{'---|' * len(tables)}---|\n")
        for question in questions:
            found = [column.get(question, "-") for column in tables.values()]
            marks = ("*f*" if expected({question: ""}) else "") + (
                " relied on" if question in ERRNO_TABLE[version] else ""
            )
            cells = [question, *found, marks.strip()]
            out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return "".join(out)
