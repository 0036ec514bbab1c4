"""A cgroup file system in memory that answers like the kernel: `provider.cgroups.fs.Fs` for tests.

The answers were seen on a real cgroup v1 (Linux 6.18) or are the kernel's documented ones for v2. After each write it
checks what must never be: a CPU in an exclusive set and in another list, an empty list written.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass, field

from provider.cpuset import CpuListError, format_mask, parse

CONTROLLERS = ("cpuset", "cpu")
KNOWN = {"cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"}
THREADED = {"cpuset", "cpu", "pids"}
MAX_NODES = 1024


@dataclass
class Node:
    path: str
    parent: Node | None
    children: dict[str, Node] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    procs: set[int] = field(default_factory=set)
    invalid: str = ""
    """Why its partition is none; "" where it is one, or a member."""
    lost: int = 0
    """Its CPUs, where it has lost all of them and was given none of them back: what runs in it has to run somewhere."""

    def below(self) -> list[Node]:
        return [self, *(n for child in self.children.values() for n in child.below())]


def _error(code: int, path: str) -> OSError:
    return OSError(code, os.strerror(code), path)


class FakeCgroups:
    """`version` 2: root /cg; 1: /cg/cpuset and /cg/cpu. `cpus` online = possible at first, `mems` nodes, both masks."""

    def __init__(self, version: int, cpus: int, mems: int = 1, *, remote: bool = True, base: str = "pinfold") -> None:
        self.version, self.possible, self.online, self.mems, self.remote = version, cpus, cpus, mems, remote
        self.base = base
        self.mounts = {"/cg": "v2"} if version == 2 else {"/cg/cpuset": "cpuset", "/cg/cpu": "cpu"}
        self.roots = {path: Node(path, None) for path in self.mounts}
        self.writes: list[tuple[str, str]] = []
        self.calls = 0
        """Changing calls so far: mkdir, rmdir and write."""
        self.fail_at: dict[int, int] = {}
        """Number of the changing call (from 1) -> errno."""
        self.delegates: set[str] = set()
        """Directories that systemd marks as delegated."""
        self.deaf: set[str] = set()
        """Ends of paths whose writes are accepted and ignored."""
        self.unreadable: dict[str, int] = {}
        """End of a path -> errno of every read of it."""
        self.partition_reason: str | None = None
        """Every partition becomes invalid for this reason."""
        self.controllers = set(CONTROLLERS)
        self.overlaps: list[str] = []
        for path, root in self.roots.items():
            if self.mounts[path] == "cpuset":
                root.files |= {"cpuset.cpus": format_mask(cpus), "cpuset.mems": format_mask(mems)}

    # Tree.

    def _node(self, path: str) -> Node:
        for mount, root in self.roots.items():
            if path == mount or path.startswith(mount + "/"):
                node = root
                for part in path[len(mount) :].strip("/").split("/"):
                    if part:
                        if part not in node.children:
                            raise _error(errno.ENOENT, path)
                        node = node.children[part]
                return node
        raise _error(errno.ENOENT, path)

    def _kind(self, node: Node) -> str:
        return next(kind for mount, kind in self.mounts.items() if f"{node.path}/".startswith(f"{mount}/"))

    def _offered(self, node: Node) -> set[str]:
        if node.parent is None:
            return self.controllers
        return set(node.parent.files.get("cgroup.subtree_control", "").split())

    def _names(self, node: Node) -> set[str]:
        kind = self._kind(node)
        if kind == "cpuset":
            return {"cgroup.procs", "cpuset.cpus", "cpuset.mems", "cpuset.effective_cpus", "cpuset.effective_mems"}
        if kind == "cpu":
            return {"cgroup.procs", "cpu.shares", "cpu.cfs_quota_us", "cpu.cfs_period_us"}
        names = {"cgroup.procs", "cgroup.threads", "cgroup.controllers", "cgroup.subtree_control"}
        offered = self._offered(node)
        if node.parent:
            names.add("cgroup.type")
        if "cpuset" in offered:
            names |= {"cpuset.cpus.effective", "cpuset.mems.effective"}
            if node.parent:
                names |= {"cpuset.cpus", "cpuset.mems", "cpuset.cpus.partition"}
                if self.remote:
                    names.add("cpuset.cpus.exclusive")
        if "cpu" in offered and node.parent:
            names |= {"cpu.weight", "cpu.max"}
        return names

    # Fs.

    def exists(self, path: str) -> bool:
        try:
            self._node(path)
            return True
        except OSError:
            pass
        parent, _, name = path.rpartition("/")
        try:
            return name in self._names(self._node(parent))
        except OSError:
            return path in ("/cg", "/")

    def writable(self, path: str) -> bool:
        return self.exists(path)

    def delegated(self, path: str) -> bool:
        return path in self.delegates

    def listdir(self, path: str) -> list[str]:
        return sorted(self._node(path).children)

    def mkdir(self, path: str) -> None:
        parent, _, name = path.rpartition("/")
        node = self._node(parent)
        if name in node.children:
            raise _error(errno.EEXIST, path)
        self._change(path)
        node.children[name] = Node(path, node)

    def rmdir(self, path: str) -> None:
        node = self._node(path)
        if node.children or node.procs or node.parent is None:
            raise _error(errno.EBUSY, path)
        self._change(path)
        del node.parent.children[path.rpartition("/")[2]]

    def read(self, path: str) -> str:
        directory, _, name = path.rpartition("/")
        node = self._node(directory)
        if name not in self._names(node):
            raise _error(errno.ENOENT, path)
        for end, code in self.unreadable.items():
            if path.endswith(end):
                raise _error(code, path)
        match name:
            case "cgroup.procs" | "cgroup.threads":
                return "\n".join(map(str, sorted(node.procs)))
            case "cgroup.type":
                return "domain"
            case "cgroup.controllers":
                return " ".join(sorted(self._offered(node)))
            case "cpuset.cpus.effective" | "cpuset.effective_cpus":
                return format_mask(self.effective(node))
            case "cpuset.mems.effective" | "cpuset.effective_mems":
                return format_mask(self._effective_mems(node))
            case "cpuset.cpus.partition":
                return self._partition(node)
        defaults = {
            "cpu.shares": "1024",
            "cpu.cfs_quota_us": "-1",
            "cpu.cfs_period_us": "100000",
            "cpu.weight": "100",
            "cpu.max": "max 100000",
        }
        return node.files.get(name, defaults.get(name, ""))

    def write(self, path: str, text: str) -> None:
        directory, _, name = path.rpartition("/")
        node = self._node(directory)
        if name not in self._names(node):
            raise _error(errno.EACCES, path)
        self._change(path)
        self.writes.append((path, text))
        if name in ("cpuset.cpus", "cpuset.mems"):
            assert text.strip(), f"an empty list was written to {path}"
        if any(path.endswith(end) for end in self.deaf):
            return
        match name:
            case "cpuset.cpus" | "cpuset.mems":
                self._write_list(node, name, text, path)
            case "cgroup.procs":
                self._move(node, text, path)
            case "cgroup.subtree_control":
                self._subtree(node, text, path)
            case "cpu.shares":
                node.files[name] = str(min(262144, max(2, int(text))))
            case "cpu.weight":
                if not 1 <= int(text) <= 10000:
                    raise _error(errno.ERANGE, path)
                node.files[name] = text
            case "cpu.cfs_quota_us":
                if 0 <= int(text) < 1000:
                    raise _error(errno.EINVAL, path)
                node.files[name] = text
            case "cpu.max":
                words = text.split()
                quota = 1000 if words[0] == "max" else int(words[0])
                if quota < 1000 or not 1000 <= int((*words, "100000")[1]) <= 1_000_000:
                    raise _error(errno.EINVAL, path)
                node.files[name] = f"{words[0]} {words[1] if len(words) > 1 else '100000'}"
            case "cpuset.cpus.exclusive":
                mask = self._parse(text, path)
                for other in node.parent.children.values() if node.parent else ():
                    theirs = self._mask(other, "cpuset.cpus")
                    if other is not node and (self._mask(other, name) & mask or (theirs and not theirs & ~mask)):
                        raise _error(errno.EINVAL, path)
                node.files[name] = format_mask(mask)
            case "cpuset.cpus.partition":
                if text not in ("member", "root", "isolated"):
                    raise _error(errno.EINVAL, path)
                node.files[name] = text
                node.invalid = "" if text == "member" else self._why_not(node)
            case _:
                node.files[name] = text.strip()
        self._lose()
        self._look()

    def _change(self, path: str) -> None:
        self.calls += 1
        if self.calls in self.fail_at:
            raise _error(self.fail_at.pop(self.calls), path)

    # The cpuset controller.

    def _mask(self, node: Node, name: str) -> int:
        text = node.files.get(name, "")
        return parse(text) if text else 0

    def _parse(self, text: str, path: str) -> int:
        large = max((int(number) for number in re.findall(r"[0-9]+", text)), default=0)
        if large > 0xFFFFFFFF:
            raise _error(errno.EOVERFLOW, path)
        cpus = path.endswith(("cpus", "exclusive"))
        try:
            mask = parse(text.strip(), max_id=max(large, 1)) if text.strip() else 0
        except CpuListError as exc:
            raise _error(errno.EINVAL, path) from exc
        if mask.bit_length() > (self.possible.bit_length() if cpus else MAX_NODES):
            raise _error(errno.ERANGE, path)
        if mask & ~(self.possible if cpus else self.mems):
            raise _error(errno.EINVAL, path)
        return mask

    def _write_list(self, node: Node, name: str, text: str, path: str) -> None:
        mask = self._parse(text, path)
        if node.parent is None:
            raise _error(errno.EACCES, path)
        if not mask and node.procs:
            raise _error(errno.ENOSPC, path)
        if self.version == 1:
            everything = self.online if name == "cpuset.cpus" else self.mems
            if mask & ~everything:
                raise _error(errno.EINVAL, path)
            if any(self._mask(child, name) & ~mask for child in node.children.values()):
                raise _error(errno.EBUSY, path)
            if mask & ~self._mask(node.parent, name):
                raise _error(errno.EACCES, path)
        node.files[name] = format_mask(mask)
        if name == "cpuset.cpus" and mask & node.lost:
            node.lost = 0

    def listed(self, node: Node) -> int:
        """The list in force: its own, or on v2 its parent's."""
        own = self._mask(node, "cpuset.cpus")
        if own or self.version == 1:
            return own
        return self.listed(node.parent) if node.parent else self.online

    def effective(self, node: Node) -> int:
        if self.version == 1:
            return self._mask(node, "cpuset.cpus") & self.online
        if node.parent is None:
            mask = self.online
        elif self._partition(node) in ("root", "isolated"):
            return self._mask(node, "cpuset.cpus.exclusive") & self.online
        else:
            above = self.effective(node.parent)
            mask = (self.listed(node) & above) or above
        for other in node.below():
            if other is not node and self._partition(other) in ("root", "isolated"):
                mask &= ~self._mask(other, "cpuset.cpus.exclusive")
        return mask

    def _effective_mems(self, node: Node) -> int:
        own = self._mask(node, "cpuset.mems")
        if self.version == 1:
            return own
        above = self._effective_mems(node.parent) if node.parent else self.mems
        return (own & above) or above

    def _partition(self, node: Node) -> str:
        wish = node.files.get("cpuset.cpus.partition", "member")
        if wish == "member" or node.parent is None:
            return "member"
        reason = self.partition_reason or node.invalid
        return f"{wish} invalid ({reason})" if reason else wish

    def _why_not(self, node: Node) -> str:
        """What keeps the directory from being a partition now. Below a parent that is none, as ours always is, there
        are only remote ones: kernels before 6.7 (`remote` False) have none."""
        cpus = self._mask(node, "cpuset.cpus")
        if not cpus:
            return "cpuset.cpus and cpuset.cpus.exclusive are empty" if self.remote else "cpuset.cpus is empty"
        if not self.remote:
            return "Parent is not a partition root"
        if not self._claimed(node, cpus):
            return "Invalid cpu list in cpuset.cpus.exclusive"
        siblings = node.parent.children.values() if node.parent else ()
        if any(self._mask(other, "cpuset.cpus") & cpus for other in siblings if other is not node):
            return "Cpu list in cpuset.cpus not exclusive"
        return ""

    def _claimed(self, node: Node, cpus: int) -> bool:
        """All the way up to the root."""
        up: Node | None = node
        while up and up.parent:
            if cpus & ~self._mask(up, "cpuset.cpus.exclusive"):
                return False
            up = up.parent
        return True

    def _lose(self) -> None:
        """A partition whose claim was taken back is none any more, until it is written again. What a sibling lists
        later changes nothing: it does not get those CPUs."""
        for root in self.roots.values():
            for node in root.below():
                if node.files.get("cpuset.cpus.partition", "member") == "member" or node.invalid:
                    continue
                if not self._claimed(node, self._mask(node, "cpuset.cpus.exclusive") or -1):
                    node.invalid = "Parent is not a partition root"

    def set_online(self, mask: int) -> None:
        """CPUs go or come. v1 takes them out of every list, puts them back only at the root, and moves the processes of
        what has none left to the nearest directory above that has."""
        self.online = mask
        for root in self.roots.values():
            for node in root.below():
                own = self._mask(node, "cpuset.cpus")
                if own and not own & mask:
                    node.lost = own
        for path, root in self.roots.items():
            if self.mounts[path] == "cpuset":
                for node in root.below():
                    if "cpuset.cpus" in node.files:
                        node.files["cpuset.cpus"] = format_mask(self._mask(node, "cpuset.cpus") & mask)
                root.files["cpuset.cpus"] = format_mask(mask)
                for node in root.below():
                    above = node
                    while above.parent and not self._mask(above, "cpuset.cpus"):
                        above = above.parent
                    if above is not node:
                        above.procs |= node.procs
                        node.procs = set()

    # Processes.

    def start(self, pid: int, path: str) -> None:
        """A process appears in the directory, in each hierarchy where that place exists (else at the root)."""
        place = next(path[len(mount) :] for mount in self.mounts if f"{path}/".startswith(f"{mount}/"))
        self._node(path)
        for mount, root in self.roots.items():
            self._forget(root, pid)
            there = f"{mount}{place}"
            (self._node(there) if self.exists(there) else root).procs.add(pid)

    def stop(self, pid: int) -> None:
        """A process ends."""
        for root in self.roots.values():
            self._forget(root, pid)

    def where(self, pid: int) -> str:
        """The directory the process is in, in the cpuset hierarchy."""
        root = next(iter(self.roots.values()))
        return next(node.path for node in root.below() if pid in node.procs)

    def _forget(self, root: Node, pid: int) -> bool:
        for node in root.below():
            if pid in node.procs:
                node.procs.remove(pid)
                return True
        return False

    def _move(self, node: Node, text: str, path: str) -> None:
        if not text.strip().isdigit():
            raise _error(errno.EINVAL, path)
        kind = self._kind(node)
        if kind == "cpuset" and not (self._mask(node, "cpuset.cpus") and self._mask(node, "cpuset.mems")):
            raise _error(errno.ENOSPC, path)
        if kind == "v2" and node.parent and node.files.get("cgroup.subtree_control"):
            raise _error(errno.EBUSY, path)
        self._vet_domain(node, path)
        root = node
        while root.parent:
            root = root.parent
        if not self._forget(root, int(text)):
            raise _error(errno.ESRCH, path)
        node.procs.add(int(text))

    def _subtree(self, node: Node, text: str, path: str) -> None:
        now = set(node.files.get("cgroup.subtree_control", "").split())
        for word in text.split():
            controller = word[1:]
            if controller not in KNOWN:
                raise _error(errno.EINVAL, path)
            if controller not in self._offered(node):
                raise _error(errno.ENOENT, path)
            self._vet_domain(node, path)
            if node.parent and node.procs and controller not in THREADED:
                raise _error(errno.EBUSY, path)
            now.add(controller)
        node.files["cgroup.subtree_control"] = " ".join(sorted(now))

    def _vet_domain(self, node: Node, path: str) -> None:
        """Below a directory that has processes and (threaded) controllers, nothing can be done until they leave."""
        up = node.parent
        while up and up.parent:
            if up.procs and up.files.get("cgroup.subtree_control"):
                raise _error(errno.EOPNOTSUPP, path)
            up = up.parent

    # What must never be.

    def _look(self) -> None:
        root = next(iter(self.roots.values()))
        base = root.children.get(self.base)
        if base is None:
            return
        names = {n.path: n.path.removeprefix(base.path + "/") for n in base.below()}
        groups = [
            n for n in base.below() if n is not base and not (names[n.path].startswith("set.") and "/" in names[n.path])
        ]
        for node in groups:
            own = self._mask(node, "cpuset.cpus")
            if not node.path.startswith(base.path + "/set.") or not own or node.lost:
                continue
            for other in groups:
                # On v2 a directory that has no list yet has its parent's: its list has to be the first thing written.
                theirs = self.listed(other)
                mixed = names[other.path].startswith("mix.") and (
                    names[node.path].removeprefix("set.") in names[other.path].removeprefix("mix.").split("+")
                )
                if other is not node and own & theirs and not (mixed and "cpuset.cpus" in other.files):
                    self.overlaps.append(
                        f"after {self.writes[-1]}: {node.path}={format_mask(own)} {other.path}={format_mask(theirs)}"
                    )
