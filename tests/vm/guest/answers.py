"""What the kernel answers to writes in cgroup hierarchies: one list of questions for real kernels and for our fake.

Decides the questions. Never does: judge an answer, or know about Pinfold. Standard library only: it runs in the guest too.

A world has `root` (a directory in the cpuset hierarchy), `version`, `mkdir`, `rmdir`, `read`, `write`, `exists`, `start(directory) ->
pid`, `end(pid)`, `allowed(pid)` (a process's CPU list, or None where not known), `dead() -> pid` and `online(cpu, bool)`.
"""

# Plain on purpose: what fails here fails far away.
# ruff: noqa: B905, PTH102, PTH106, PTH110, PTH207, PTH208, SIM115, UP031, E501

import errno
import glob
import os
import subprocess
import time


def errno_name(exc):
    return "EOPNOTSUPP" if exc.errno == errno.EOPNOTSUPP else errno.errorcode[exc.errno]


class Kernel:
    """The kernel that runs this."""

    def __init__(self, root, version):
        self.root, self.version = root, version
        self.children = []

    def mkdir(self, path):
        os.mkdir(path)

    def rmdir(self, path):
        for _ in range(100):  # a process that has just ended is still counted for a moment
            try:
                return os.rmdir(path)
            except OSError as exc:
                if exc.errno != errno.EBUSY or self.read(path + "/cgroup.procs"):
                    raise
                time.sleep(0.02)
        return os.rmdir(path)

    def exists(self, path):
        return os.path.exists(path)

    def read(self, path):
        with open(path) as file:
            return file.read().strip()

    def write(self, path, text):
        handle = os.open(path, os.O_WRONLY)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)

    def start(self, directory):
        child = subprocess.Popen(["/bin/busybox", "sleep", "1000"])
        self.children.append(child)
        self.write(directory + "/cgroup.procs", str(child.pid))
        return child.pid

    def end(self, pid):
        for child in list(self.children):
            if child.pid == pid:
                child.kill()
                child.wait()
                self.children.remove(child)

    def allowed(self, pid):
        for line in open("/proc/%d/status" % pid):
            if line.startswith("Cpus_allowed_list:"):
                return line.split()[1]
        return None

    def dead(self):
        child = subprocess.Popen(["/bin/busybox", "true"])
        child.wait()
        return child.pid

    def online(self, cpu, on):
        self.write("/sys/devices/system/cpu/cpu%d/online" % cpu, "1" if on else "0")
        time.sleep(0.5)  # cpusets follow in a work queue


class Asker:
    """Asks in a fresh directory `probe` each time, and writes down what came back."""

    def __init__(self, world):
        self.world, self.answers = world, {}
        self.base = world.root + "/probe"
        self.pids, self.offline = [], []

    # What the questions are made of.

    def put(self, name, text, directory=""):
        """Write `text` into cpuset file `name`; the answer is "ok" or the errno's name."""
        path = "/".join(part for part in (self.base, directory, name) if part)
        try:
            self.world.write(path, text)
        except OSError as exc:
            return errno_name(exc)
        return "ok"

    def get(self, name, directory=""):
        path = "/".join(part for part in (self.base, directory, name) if part)
        try:
            return self.world.read(path).strip() or "(empty)"
        except OSError as exc:
            return errno_name(exc)

    def cpus(self, directory=""):
        """configured / effective"""
        effective = "cpuset.cpus.effective" if self.world.version == 2 else "cpuset.effective_cpus"
        return "%s / %s" % (self.get("cpuset.cpus", directory), self.get(effective, directory))

    def partition(self, directory=""):
        return self.get("cpuset.cpus.partition", directory)

    def start(self, directory):
        pid = self.world.start(self.base + "/" + directory)
        self.pids.append(pid)
        return pid

    def off(self, cpu):
        """A CPU offline, if the kernel lets it go: "ok" or the errno's name."""
        try:
            self.world.online(cpu, False)
        except OSError as exc:
            return errno_name(exc)
        self.offline.append(cpu)
        return "ok"

    def on(self, cpu):
        if cpu in self.offline:
            self.world.online(cpu, True)
            self.offline.remove(cpu)

    def fresh(self, *children, cpus="0-7", child_cpus=()):
        """probe with CPUs `cpus` and nodes 0-1, and children with the controllers and, in turn, `child_cpus`."""
        self.clean()
        if self.world.version == 2:
            self.world.write(self.world.root + "/cgroup.subtree_control", "+cpuset")
            self.world.write(self.world.root + "/cgroup.subtree_control", "+cpu")
        self.world.mkdir(self.base)
        self.need("cpuset.cpus", cpus)
        self.need("cpuset.mems", "0-1")
        if self.world.version == 2:
            self.need("cgroup.subtree_control", "+cpuset")
            self.need("cgroup.subtree_control", "+cpu")
        for child in children:
            self.world.mkdir(self.base + "/" + child)
        for child, text in zip(children, child_cpus):
            if text:
                self.need("cpuset.cpus", text, child)
                self.need("cpuset.mems", "0", child)

    def need(self, name, text, directory=""):
        answer = self.put(name, text, directory)
        if answer != "ok":
            raise RuntimeError("%s/%s %r: %s" % (directory, name, text, answer))

    def clean(self):
        for pid in self.pids:
            self.world.end(pid)
        self.pids = []
        for cpu in list(self.offline):
            self.on(cpu)
        for path in ("/probe/a/x", "/probe/a", "/probe/b", "/probe"):
            if self.world.exists(self.world.root + path):
                self.world.rmdir(self.world.root + path)

    def ask(self, key, *parts):
        self.answers[key] = "; ".join(str(part) for part in parts)

    # The questions.

    def lists(self):
        self.fresh("a", child_cpus=("2-3",))
        self.ask("child list partly outside the parent's", self.put("cpuset.cpus", "6-9", "a"), self.cpus("a"))
        self.fresh("a", child_cpus=("2-3",))
        self.ask("child list wholly outside the parent's", self.put("cpuset.cpus", "8-9", "a"), self.cpus("a"))
        self.fresh("a", child_cpus=("2-5",))
        self.ask("parent shrunk below its child", self.put("cpuset.cpus", "0-3"), self.cpus("a"))
        self.fresh("a", child_cpus=("2-5",))
        self.ask("parent shrunk so that nothing of the child's is left", self.put("cpuset.cpus", "0-1"), self.cpus("a"))
        self.fresh("a")
        self.ask("list never set", self.cpus("a"))
        for text in (
            "15",
            "16",
            "600",
            "99999999999",
            "x",
            "-1",
            "5-3",
            "1--3",
            "1,,2",
            "0-3:1/2",
            " 4 ",
            "3,1-3",
            "all",
        ):
            self.fresh("a", cpus="0-15", child_cpus=("2-3",))
            self.ask("cpus %r" % text, self.put("cpuset.cpus", text, "a"), self.get("cpuset.cpus", "a"))
        for text in ("3", "4", "2000", "x"):
            self.fresh("a", child_cpus=("2-3",))
            self.need("cpuset.mems", "0-3")
            self.ask("mems %r" % text, self.put("cpuset.mems", text, "a"), self.get("cpuset.mems", "a"))

    def empty(self):
        self.fresh("a", child_cpus=("2-3",))
        self.ask("cpus emptied, no task inside", self.put("cpuset.cpus", "\n", "a"), self.cpus("a"))
        self.fresh("a", child_cpus=("2-3",))
        self.start("a")
        self.ask("cpus emptied, a task inside", self.put("cpuset.cpus", "\n", "a"), self.cpus("a"))
        self.fresh("a", child_cpus=("2-3",))
        self.start("a")
        self.ask("mems emptied, a task inside", self.put("cpuset.mems", "\n", "a"), self.get("cpuset.mems", "a"))

    def processes(self):
        self.fresh("a")
        pid = self.start_elsewhere()
        self.ask("task into a cpuset never set", self.put("cgroup.procs", str(pid), "a"))
        self.fresh("a", child_cpus=("2-3",))
        self.ask("pid of a process that has ended", self.put("cgroup.procs", str(self.world.dead()), "a"))
        self.ask("pid that is no number", self.put("cgroup.procs", "x", "a"))
        self.start("a")
        try:
            os_error = "ok"
            self.world.rmdir(self.base + "/a")
        except OSError as exc:
            os_error = errno_name(exc)
        self.ask("rmdir with a task inside", os_error)
        try:
            os_error = "ok"
            self.world.mkdir(self.base + "/a")
        except OSError as exc:
            os_error = errno_name(exc)
        self.ask("mkdir of what is there", os_error)
        if self.world.version == 2:
            self.ask("cpuset enabled where a task sits", self.put("cgroup.subtree_control", "+cpuset", "a"))
            self.world.mkdir(self.base + "/a/x")
            pid = self.start_elsewhere()
            self.ask("... then a task moves below it", self.put("cgroup.procs", str(pid), "a/x"))
            self.ask("... then its child's lists", self.put("cpuset.cpus", "2", "a/x"), self.cpus("a/x"))
            self.ask("task into a directory that has controllers enabled", self.put("cgroup.procs", str(pid)))
            if "memory" in self.world.read(self.world.root + "/cgroup.controllers").split():
                self.fresh("a", child_cpus=("2-3",))
                self.world.write(self.world.root + "/cgroup.subtree_control", "+memory")
                self.need("cgroup.subtree_control", "+memory")
                self.start("a")
                self.ask("memory enabled where a task sits", self.put("cgroup.subtree_control", "+memory", "a"))
                self.ask("cpuset and memory enabled where a task sits",
                         self.put("cgroup.subtree_control", "+cpuset +memory", "a"))  # fmt: skip
                self.fresh("a")
            self.ask("controller enabled that is not offered", self.put("cgroup.subtree_control", "+io", "a"))
            self.ask("controller that does not exist", self.put("cgroup.subtree_control", "+nothing", "a"))

    def start_elsewhere(self):
        pid = self.world.start(self.world.root)
        self.pids.append(pid)
        return pid

    def affinity(self):
        self.fresh("a", child_cpus=("2-5",))
        pid = self.start("a")
        seen = [self.world.allowed(pid)]
        for text in ("2-3", "2-7"):
            self.need("cpuset.cpus", text, "a")
            seen.append(self.world.allowed(pid))
        if seen[0]:
            self.ask("Cpus_allowed_list of a task: at start, narrowed to 2-3, widened to 2-7", *seen)

    def hotplug(self):
        self.fresh("a", child_cpus=("2-3",))
        pid = self.start("a")
        self.off(3)
        first = (self.cpus("a"), self.world.allowed(pid)) if self.world.allowed(pid) else (self.cpus("a"),)
        self.ask("a CPU of the set goes offline", *first)
        self.on(3)
        self.ask("... and comes back", self.cpus("a"))
        self.fresh("a", child_cpus=("2-3",))
        self.off(3)
        self.ask("list with a CPU that is offline", self.put("cpuset.cpus", "2-3", "a"), self.cpus("a"))
        self.ask("list of only CPUs that are offline", self.put("cpuset.cpus", "3", "a"), self.cpus("a"))
        self.on(3)
        self.ask("... when it is back", self.cpus("a"))
        self.fresh("a", child_cpus=("2-3",))
        pid = self.start("a")
        self.off(2)
        self.off(3)
        inside = "the task is " + ("inside" if str(pid) in self.get("cgroup.procs", "a").split() else "in its parent")
        self.ask("all CPUs of the set go offline", self.cpus("a"), inside)
        self.on(2)
        self.on(3)
        self.ask("... and come back", self.cpus("a"))

    def exclusive_flag(self):
        """v1: cpuset.cpu_exclusive"""
        self.fresh("a", "b", child_cpus=("2-3", "4-5"))
        if self.put("cpuset.cpu_exclusive", "1") != "ok":
            return
        self.need("cpuset.cpu_exclusive", "1", "a")
        self.ask("list that overlaps an exclusive sibling's", self.put("cpuset.cpus", "3-4", "b"), self.cpus("b"))

    def time(self):
        if self.world.version == 2:
            self.fresh("a")
            for text in ("0", "1", "10000", "10001"):
                self.ask("cpu.weight %s" % text, self.put("cpu.weight", text, "a"), self.get("cpu.weight", "a"))
            for text in ("150000 100000", "50000", "999 100000", "1000 1000", "max", "1000000 2000000"):
                self.need("cpu.max", "max 100000", "a")
                self.ask("cpu.max %s" % text, self.put("cpu.max", text, "a"), self.get("cpu.max", "a"))

    def partitions(self):
        """v2 only, below a base that is a member."""
        self.fresh("a", child_cpus=("2-3",))
        self.ask("root below a member parent", self.put("cpuset.cpus.partition", "root", "a"), self.partition("a"))
        self.ask("local: with base made root afterwards", self.put("cpuset.cpus.partition", "root"), self.partition(),
                 self.partition("a"), self.put("cpuset.cpus.partition", "root", "a"), self.partition("a"))  # fmt: skip
        self.ask("local: effective of base and of the partition", self.cpus(), self.cpus("a"))
        self.fresh("a", child_cpus=("2-3",))
        self.ask("word that is no partition", self.put("cpuset.cpus.partition", "mine", "a"))
        if self.world.exists(self.base + "/a/cpuset.cpus.exclusive"):
            self.claims()

    def local(self):
        """v2 only: partitions below a base that is one itself, as kernels before 6.7 want it."""
        for mode in ("root", "isolated"):
            self.chain()
            self.ask("local: %s below a root parent" % mode, self.put("cpuset.cpus.partition", mode, "a"), self.partition("a"),
                     self.cpus(), self.cpus("a"))  # fmt: skip
            pid = self.start_elsewhere()
            self.ask(
                "local: %s: a task moves in" % mode,
                self.put("cgroup.procs", str(pid), "a"),
                self.world.allowed(pid) or "",
            )
            self.world.end(pid)
            self.ask("local: %s: its list grows to 1-3" % mode, self.put("cpuset.cpus", "1-3", "a"), self.partition("a"),
                     self.cpus("a"))  # fmt: skip
            self.ask("local: %s: its list shrinks to 3" % mode, self.put("cpuset.cpus", "3", "a"), self.partition("a"),
                     self.cpus("a"))  # fmt: skip
            self.ask("local: %s: back to member" % mode, self.put("cpuset.cpus.partition", "member", "a"), self.cpus())
        self.chain()
        self.need("cpuset.cpus.partition", "root", "a")
        self.ask("local: a sibling's list overlaps a partition", self.put("cpuset.cpus", "3-4", "b"), self.partition("a"),
                 self.cpus("a"), self.cpus("b"))  # fmt: skip
        self.ask("local: and no longer", self.put("cpuset.cpus", "4-5", "b"), self.partition("a"))
        self.chain("3-4")
        self.ask(
            "local: partition whose CPUs a sibling lists",
            self.put("cpuset.cpus.partition", "root", "a"),
            self.partition("a"),
        )
        self.ask("local: when the sibling has left", self.put("cpuset.cpus", "4-5", "b"), self.partition("a"))
        self.chain()
        self.need("cpuset.cpus.partition", "root", "a")
        self.off(3)
        self.ask("local: a CPU of a partition goes offline", self.partition("a"), self.cpus("a"))
        self.on(3)
        self.ask("local: and comes back to it", self.partition("a"), self.cpus("a"))
        self.ask(
            "local: all CPUs of a partition go offline", self.off(2), self.off(3), self.partition("a"), self.cpus("a")
        )
        self.on(2)
        self.on(3)
        self.ask("local: and come back to it", self.partition("a"), self.cpus("a"))
        self.chain()
        self.need("cpuset.cpus.partition", "root", "a")
        self.start("a")
        self.ask(
            "local: all CPUs of a partition with a task go offline",
            self.off(2),
            self.off(3),
            self.partition("a"),
            self.cpus("a"),
        )
        self.on(2)
        self.on(3)
        self.ask("local: and come back to the task", self.partition("a"), self.cpus("a"))
        self.chain()
        self.need("cpuset.cpus.partition", "root", "a")
        self.world.rmdir(self.base + "/a")
        time.sleep(0.3)  # it is taken down some time later
        self.ask("local: rmdir of a partition: base gets the CPUs back", self.cpus())
        self.fresh("a")
        self.need("cpuset.cpus.partition", "root")
        self.ask("local: partition without a list", self.put("cpuset.cpus.partition", "root", "a"), self.partition("a"))
        self.chain()
        self.start("b")
        self.need("cpuset.cpus", "4-5", "b")
        self.ask("local: partition that takes all CPUs of base", self.put("cpuset.cpus", "0-7", "a"),
                 self.put("cpuset.cpus.partition", "root", "a"), self.partition("a"), self.cpus("b"))  # fmt: skip
        self.chain()
        self.need("cpuset.cpus.partition", "root", "a")
        self.ask("local: the parent partition goes back to member", self.put("cpuset.cpus.partition", "member"),
                 self.partition("a"), self.cpus("a"))  # fmt: skip
        self.chain()
        self.need("cpuset.cpus.partition", "root", "a")
        self.ask("local: the parent's list loses the partition's CPUs", self.put("cpuset.cpus", "4-7"), self.partition(),
                 self.partition("a"), self.cpus("a"))  # fmt: skip

    def chain(self, sibling="4-5"):
        self.fresh("a", "b", child_cpus=("2-3", sibling))
        self.need("cpuset.cpus.partition", "root")

    def claims(self):
        """6.7 and later: cpuset.cpus.exclusive and remote partitions."""
        self.fresh("a", "b", child_cpus=("2-3", "4-5"))
        self.ask("claim of CPUs that base does not claim", self.put("cpuset.cpus.exclusive", "2-3", "a"),
                 self.get("cpuset.cpus.exclusive", "a"), self.put("cpuset.cpus.partition", "root", "a"),
                 self.partition("a"))  # fmt: skip
        self.claimed()
        self.ask("claimed from the top, then isolated", self.put("cpuset.cpus.partition", "isolated", "a"),
                 self.partition("a"), self.cpus(), self.cpus("a"))  # fmt: skip
        self.ask("... then root", self.put("cpuset.cpus.partition", "root", "a"), self.partition("a"))
        self.ask("... effective of the top", self.world.read(self.world.root + "/cpuset.cpus.effective"))
        self.ask("claim that overlaps a sibling's claim", self.put("cpuset.cpus.exclusive", "3-4", "b"))
        self.ask("claim below that base does not have", self.put("cpuset.cpus.exclusive", "4-5", "b"))
        self.ask("a sibling's list wholly inside a claim", self.put("cpuset.cpus", "3", "b"), self.cpus("b"))
        self.ask("a sibling's list overlaps a remote partition", self.put("cpuset.cpus", "3-4", "b"), self.partition("a"),
                 self.cpus("a"), self.cpus("b"))  # fmt: skip
        self.ask("... and no longer, remote", self.put("cpuset.cpus", "4-5", "b"), self.partition("a"))
        self.ask("base's claim taken back under a partition", self.put("cpuset.cpus.exclusive", "\n"), self.partition("a"),
                 self.cpus("a"))  # fmt: skip
        self.claimed()
        self.need("cpuset.cpus", "3-4", "b")
        self.ask("remote partition whose CPUs a sibling lists", self.put("cpuset.cpus.partition", "root", "a"),
                 self.partition("a"), self.cpus("a"), self.cpus("b"))  # fmt: skip
        self.claimed()
        self.need("cpuset.cpus.partition", "root", "a")
        self.off(3)
        self.ask("a CPU of a remote partition goes offline", self.partition("a"), self.cpus("a"))
        self.on(3)
        self.ask("... and comes back, remote", self.partition("a"), self.cpus("a"))
        self.ask(
            "all CPUs of a remote partition go offline", self.off(2), self.off(3), self.partition("a"), self.cpus("a")
        )
        self.on(2)
        self.on(3)
        self.ask("... and come back, remote", self.partition("a"), self.cpus("a"))
        self.claimed()
        self.need("cpuset.cpus.partition", "root", "a")
        self.ask("a remote partition grows to 1-3: base's claim, its claim, its list",
                 self.put("cpuset.cpus.exclusive", "1-3"), self.put("cpuset.cpus.exclusive", "1-3", "a"),
                 self.put("cpuset.cpus", "1-3", "a"), self.partition("a"), self.cpus("a"))  # fmt: skip
        self.ask("a remote partition shrinks to 2: its list, its claim, base's claim",
                 self.put("cpuset.cpus", "2", "a"), self.put("cpuset.cpus.exclusive", "2", "a"),
                 self.put("cpuset.cpus.exclusive", "2"), self.partition("a"), self.cpus("a"))  # fmt: skip
        self.claimed()
        self.ask("claim that takes a CPU of a sibling's list", self.put("cpuset.cpus.exclusive", "2-4"),
                 self.put("cpuset.cpus.exclusive", "2-4", "a"))  # fmt: skip
        self.ask("claim that takes all of a sibling's list", self.put("cpuset.cpus.exclusive", "2-5"),
                 self.put("cpuset.cpus.exclusive", "2-5", "a"))  # fmt: skip
        self.claimed()
        self.need("cpuset.cpus.partition", "root", "a")
        self.ask("a remote partition's list shrinks below its claim", self.put("cpuset.cpus", "2", "a"),
                 self.partition("a"), self.cpus("a"))  # fmt: skip
        self.claimed()
        self.need("cpuset.cpus.partition", "root", "a")
        self.ask("member, then both claims given up from below", self.put("cpuset.cpus.partition", "member", "a"),
                 self.put("cpuset.cpus.exclusive", "\n", "a"), self.put("cpuset.cpus.exclusive", "\n"),
                 self.cpus("a"))  # fmt: skip

    def claimed(self):
        self.fresh("a", "b", child_cpus=("2-3", "4-5"))
        self.need("cpuset.cpus.exclusive", "2-3")
        self.need("cpuset.cpus.exclusive", "2-3", "a")


QUESTIONS = ("lists", "empty", "processes", "affinity", "hotplug", "time")


def ask_all(world, only=None):
    """{question: answer}. A group of questions that fails in an unforeseen way says so under its name."""
    asker = Asker(world)
    groups = only or (*QUESTIONS, *(("partitions", "local") if world.version == 2 else ("exclusive_flag",)))
    for group in groups:
        try:
            getattr(asker, group)()
        except (RuntimeError, OSError, AssertionError) as exc:
            asker.answers["(%s broke off)" % group] = "%s: %s" % (type(exc).__name__, exc)
    asker.clean()
    return asker.answers


def ask_kernel_v2():
    return ask_all(Kernel("/sys/fs/cgroup", 2))


def ask_kernel_v1():
    """On hierarchies of our own, mounted for this; None where the kernel has no v1 cpuset (any more)."""
    try:
        mount("cgroup", "/run/v1", "cgroup", 0, "cpuset")  # noqa: F821  the agent's
    except OSError as exc:
        return str(exc)
    answers = ask_all(Kernel("/run/v1", 1))
    while "cpuset" not in open("/sys/fs/cgroup/cgroup.controllers").read().split():
        # The controller goes back to v2 only if no removed cgroup is still being taken down when we unmount.
        time.sleep(0.5)
        umount("/run/v1")  # noqa: F821
        time.sleep(0.5)
        if "cpuset" not in open("/sys/fs/cgroup/cgroup.controllers").read().split():
            mount("cgroup", "/run/v1", "cgroup", 0, "cpuset")  # noqa: F821
    return answers


def release():
    return os.uname().release + " (" + os.uname().version + ")"


def leftovers():
    return glob.glob("/sys/fs/cgroup/probe*")
