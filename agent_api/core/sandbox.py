"""Where a task's directory is. Pure: decides a name, touches nothing. The launcher makes it, the views show it.

Ids are whatever a framework sends, so they are encoded: never empty, no separator, not hidden, at most 200 bytes long,
and no two ids the same name. Ordinary ids stay as they are.
"""

from __future__ import annotations

import hashlib
import re

__all__ = ["encode", "task_path"]

_MAX_NAME = 200
"""Bytes; file systems take 255, and what is kept of an earlier task gets a number behind its name."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


def encode(text: str) -> str:
    """An id as one safe file name."""
    name = _UNSAFE.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode("utf-8", "surrogatepass")), text)
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > _MAX_NAME:
        name = name[: _MAX_NAME - 65] + "~" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return name or "%"


def task_path(work_dir: str, framework_id: str, task_id: str) -> str:
    """The task's directory below the agent's (absolute) work directory."""
    return f"{work_dir.rstrip('/')}/tasks/{encode(framework_id)}/{encode(task_id)}"
