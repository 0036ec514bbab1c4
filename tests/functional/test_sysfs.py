"""Reading hosts: dumps of real machines against their truth, and trees with missing, lying and broken files."""

from __future__ import annotations

import io
import json
import random
import shutil
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from truth import differences

from provider import cpuset, sysfs, topology
from provider.topology import Topology, TopologyError

HERE = Path(__file__).parent
OURS = HERE.parent / "data" / "topologies"
SHARED = HERE.parent.parent.parent / "shared" / "topologies"
DUMPS = sorted(OURS.glob("*.tar.gz"))
MORE_DUMPS = sorted(path for path in SHARED.glob("*.tar.gz") if not (OURS / path.name).exists())

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


def lists(masks: tuple[int, ...]) -> list[str]:
    return [cpuset.format_mask(mask) for mask in masks]


def nodes(host: Topology) -> list[tuple[int, str]]:
    return [(node.id, cpuset.format_mask(node.cpus)) for node in host.nodes]


def make(root: Path, files: Mapping[str, str | None]) -> Path:
    """Writes a tree; a file whose content is None is removed, with what lies below it."""
    for name, content in files.items():
        path = root / name
        if content is None:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    return root


def machine(root: Path, cpus: int, *, threads: int = 2, per_node: int | None = None, cores_first: bool = True) -> Path:
    """A tidy machine: `threads` a core (i, i + cores, … or neighbours), `per_node` cores a node, package and LLC."""
    cores = cpus // threads
    per_node = per_node or cores
    files = {f"{CPU}/{name}": f"0-{cpus - 1}\n" for name in ("online", "present", "possible")}
    files |= {f"{CPU}/isolated": "\n", f"{CPU}/offline": "\n"}
    count = cores // per_node
    files |= {f"{NODE}/{name}": f"0-{count - 1}\n" for name in ("online", "possible")}
    core_of = {cpu: cpu % cores if cores_first else cpu // threads for cpu in range(cpus)}
    for cpu in range(cpus):
        core = core_of[cpu]
        own = cpuset.format_mask(cpuset.of(other for other in range(cpus) if core_of[other] == core))
        node = cpuset.format_mask(cpuset.of(o for o in range(cpus) if core_of[o] // per_node == core // per_node))
        directory = f"{CPU}/cpu{cpu}"
        files |= {
            f"{directory}/topology/core_cpus_list": own + "\n",
            f"{directory}/topology/package_cpus_list": node + "\n",
            f"{directory}/topology/die_cpus_list": node + "\n",
            f"{directory}/topology/core_id": f"{core % per_node}\n",
            f"{directory}/topology/die_id": "0\n",
            f"{directory}/topology/physical_package_id": f"{core // per_node}\n",
        }
        for index, (level, sort, shared) in enumerate(
            [(1, "Data", own), (1, "Instruction", own), (2, "Unified", own), (3, "Unified", node)]
        ):
            files |= {
                f"{directory}/cache/index{index}/level": f"{level}\n",
                f"{directory}/cache/index{index}/type": f"{sort}\n",
                f"{directory}/cache/index{index}/shared_cpu_list": shared + "\n",
            }
    for node_id in range(count):
        own = cpuset.format_mask(cpuset.of(cpu for cpu in range(cpus) if core_of[cpu] // per_node == node_id))
        distances = " ".join("10" if other == node_id else "21" for other in range(count))
        files |= {
            f"{NODE}/node{node_id}/cpulist": own + "\n",
            f"{NODE}/node{node_id}/distance": distances + "\n",
            f"{NODE}/node{node_id}/meminfo": f"Node {node_id} MemTotal:       1048576 kB\n",
        }
    return make(root, files)


# --- Dumps against their truth ------------------------------------------------------------------------------------


def check_dump(archive: Path) -> None:
    told = json.loads(archive.with_name(archive.name.removesuffix(".tar.gz") + ".json").read_text())
    with sysfs.open_root(archive) as root:
        host = sysfs.read(root)
        limits = sysfs.cgroup_limits(root)
    assert differences(host, told, limits) == []
    for groups in (host.cores, host.llcs, host.dies, host.packages, tuple(node.cpus for node in host.nodes)):
        assert sum(groups) == host.online
    back = topology.from_records(json.loads(json.dumps(topology.to_json(host))))
    assert back == host
    assert topology.to_wire(host).IsInitialized()


@pytest.mark.parametrize("archive", DUMPS, ids=lambda path: path.name.removesuffix(".tar.gz"))
def test_dumps_agree_with_their_truth(archive: Path) -> None:
    check_dump(archive)


@pytest.mark.skipif(not MORE_DUMPS, reason="the further dumps are not beside this project")
@pytest.mark.parametrize("archive", MORE_DUMPS, ids=lambda path: path.name.removesuffix(".tar.gz"))
def test_further_dumps_agree_with_their_truth(archive: Path) -> None:
    check_dump(archive)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("2ps3-2t", ["system/node is missing", "The package of CPUs 0-1", "The last-level cache of CPUs 0-1"]),
        ("4qs22-2s2t", ["The core of CPUs 0-3", "The package of CPUs 0-3"]),
        ("8em64t-2s2ca2c-buggynuma", ["Several nodes claim CPUs 0-7"]),
        ("offline-cpu0-node0", ["No online node has CPUs 4,6,8,10,12,14,16,18,20: they are taken to be in node 1"]),
        ("20em64t-hybrid-1p6c2t+2ca4co1t", ["No PMU tells performance and efficiency cores apart"]),
        ("nvidia-dgx-gb10", []),
    ],
)
def test_dumps_warn_of_what_was_guessed(name: str, words: list[str]) -> None:
    with sysfs.open_root(OURS / f"{name}.tar.gz") as root:
        warnings = sysfs.read(root).warnings
    for word in words:
        assert any(word in warning for warning in warnings), warnings
    assert words or not warnings


def test_this_host_can_be_read() -> None:
    host = sysfs.read("/")
    assert host.online
    sysfs.cgroup_limits("/")


# --- Missing and lying files --------------------------------------------------------------------------------------


def test_a_tidy_machine_needs_no_guess(tmp_path: Path) -> None:
    host = sysfs.read(machine(tmp_path, 16, per_node=4))
    assert host.warnings == ()
    assert lists(host.cores) == ["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"]
    assert lists(host.llcs) == lists(host.dies) == lists(host.packages) == ["0-3,8-11", "4-7,12-15"]
    assert nodes(host) == [(0, "0-3,8-11"), (1, "4-7,12-15")]
    assert [node.distances for node in host.nodes] == [(10, 21), (21, 10)]
    assert [node.memory_bytes for node in host.nodes] == [1 << 30] * 2
    assert host.kinds == ()


def test_an_offline_thread_leaves_its_core_with_one(tmp_path: Path) -> None:
    root = machine(tmp_path, 8)
    make(root, {f"{CPU}/online": "0-6\n", f"{CPU}/cpu7/online": "0\n"})
    with_directory = sysfs.read(root)
    make(root, {f"{CPU}/cpu7/topology": None})
    host = sysfs.read(root)
    assert host == with_directory
    assert lists(host.cores) == ["0,4", "1,5", "2,6", "3"]
    assert (host.offline, host.possible) == (1 << 7, 0xFF)
    assert host.warnings == ()


def test_without_numa_there_is_one_node(tmp_path: Path) -> None:
    root = machine(tmp_path, 8)
    make(
        root,
        {
            NODE: None,
            "proc/meminfo": "MemTotal:  16 kB\nHugePages_Total: 3\nHugePages_Free: 1\nHugepagesize: 2048 kB\n",
        },
    )
    host = sysfs.read(root)
    assert nodes(host) == [(0, "0-7")]
    assert host.nodes[0].distances == (10,)
    assert host.nodes[0].memory_bytes == host.memory_bytes == 16384
    assert host.nodes[0].hugepages == host.hugepages == ((2048, 3, 1),)
    assert len(host.warnings) == 1


def test_online_with_a_gap(tmp_path: Path) -> None:
    host = sysfs.read(make(machine(tmp_path, 6, threads=1), {f"{CPU}/online": "0,3-5\n"}))
    assert cpuset.ids(host.online) == [0, 3, 4, 5]
    assert lists(host.cores) == ["0", "3", "4", "5"]
    assert cpuset.ids(host.offline) == [1, 2]
    assert nodes(host) == [(0, "0,3-5")]


def test_a_node_that_lists_cpus_that_do_not_exist(tmp_path: Path) -> None:
    host = sysfs.read(make(machine(tmp_path, 4), {f"{NODE}/node0/cpulist": "0-15\n"}))
    assert nodes(host) == [(0, "0-3")]
    assert host.warnings == ("Node 0 lists CPUs 4-15, which do not exist: they are ignored.",)


def test_without_caches_the_node_is_the_last_level_cache(tmp_path: Path) -> None:
    root = machine(tmp_path, 16, per_node=4)
    make(root, {f"{CPU}/cpu{cpu}/cache": None for cpu in range(16)})
    host = sysfs.read(root)
    assert lists(host.llcs) == ["0-3,8-11", "4-7,12-15"]
    assert host.warnings == ("The last-level cache of CPUs 0-15 is not told: it is taken to be the CPUs of the node.",)


def test_the_last_cache_is_of_data(tmp_path: Path) -> None:
    root = machine(tmp_path, 8)
    make(root, {f"{CPU}/cpu{cpu}/cache/index3/type": "Instruction\n" for cpu in range(8)})
    assert lists(sysfs.read(root).llcs) == ["0,4", "1,5", "2,6", "3,7"]


def test_ids_of_minus_one_are_unknown(tmp_path: Path) -> None:
    root = machine(tmp_path, 4)
    ids = ("core_id", "die_id", "physical_package_id")
    make(root, {f"{CPU}/cpu{cpu}/topology/{name}": "-1\n" for cpu in range(4) for name in ids})
    assert lists(sysfs.read(root).cores) == ["0,2", "1,3"]
    masks = ("core_cpus_list", "package_cpus_list", "die_cpus_list")
    make(root, {f"{CPU}/cpu{cpu}/topology/{name}": None for cpu in range(4) for name in masks})
    host = sysfs.read(root)
    assert lists(host.cores) == ["0", "1", "2", "3"]
    assert lists(host.packages) == lists(host.dies) == ["0-3"]
    assert [warning.split(" of ")[0] for warning in host.warnings] == ["The package", "The core"]


def test_without_masks_ids_group_whole(tmp_path: Path) -> None:
    root = machine(tmp_path, 16, per_node=4)
    masks = ("core_cpus_list", "package_cpus_list", "die_cpus_list")
    make(root, {f"{CPU}/cpu{cpu}/topology/{name}": None for cpu in range(16) for name in masks})
    host = sysfs.read(root)  # core_id runs from 0 to 3 in each package
    assert lists(host.cores) == ["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"]
    assert lists(host.packages) == ["0-3,8-11", "4-7,12-15"]


def test_without_topology_directories_each_cpu_is_a_core(tmp_path: Path) -> None:
    root = machine(tmp_path, 8)
    make(root, {f"{CPU}/cpu{cpu}/topology": None for cpu in (1, 5)})
    host = sysfs.read(root)
    assert lists(host.cores) == ["0,4", "1", "2,6", "3,7", "5"]
    assert any("The core of CPUs 1,5 is not told" in warning for warning in host.warnings)
    assert lists(host.packages) == ["0-7"]  # the others name CPUs 1 and 5


def test_four_threads_a_core(tmp_path: Path) -> None:
    assert lists(sysfs.read(machine(tmp_path, 8, threads=4, cores_first=False)).cores) == ["0-3", "4-7"]


def test_siblings_that_contradict_each_other_are_one_core(tmp_path: Path) -> None:
    root = machine(tmp_path, 8)
    make(root, {f"{CPU}/cpu4/topology/core_cpus_list": "4-5\n", f"{CPU}/cpu3/topology/core_cpus_list": "7\n"})
    host = sysfs.read(root)
    assert lists(host.cores) == ["0-1,4-5", "2,6", "3,7"]
    assert host.warnings == (
        "CPUs 0-1,3-5,7 contradict each other about their core: all that one of them joins is one.",
    )


def test_a_core_ends_at_the_border_of_its_node(tmp_path: Path) -> None:
    root = machine(tmp_path, 4, threads=1, per_node=2)
    make(root, {f"{CPU}/cpu{cpu}/topology/package_cpus_list": "0-3\n" for cpu in range(4)})
    make(root, {f"{CPU}/cpu{cpu}/topology/die_cpus_list": "0-3\n" for cpu in range(4)})
    make(root, {f"{CPU}/cpu{cpu}/topology/core_cpus_list": f"{cpu % 2},{cpu % 2 + 2}\n" for cpu in range(4)})
    host = sysfs.read(root)
    assert lists(host.cores) == ["0", "1", "2", "3"]
    assert "The core of CPUs 0,2 lies in several nodes: it is taken as one in each." in host.warnings


def test_a_die_that_is_not_known_is_the_package(tmp_path: Path) -> None:
    root = machine(tmp_path, 8)
    make(root, {f"{CPU}/cpu{cpu}/topology/die_cpus_list": f"{cpu}\n" for cpu in range(8)})
    make(root, {f"{CPU}/cpu{cpu}/topology/die_id": "-1\n" for cpu in range(8)})
    host = sysfs.read(root)
    assert (lists(host.dies), lists(host.cores)[0], host.warnings) == (["0-7"], "0,4", ())


def test_nodes_without_memory_and_without_cpus(tmp_path: Path) -> None:
    root = machine(tmp_path, 16, per_node=4)
    make(
        root,
        {
            f"{NODE}/online": "0-2\n",
            f"{NODE}/node0/meminfo": "Node 0 MemTotal: 0 kB\n",
            f"{NODE}/node2/meminfo": "Node 2 MemTotal: 4 kB\n",
            f"{NODE}/node2/cpulist": "\n",
            **{f"{NODE}/node{node}/distance": "10 20 30\n" for node in range(3)},
            f"{CPU}/online": "0-3,8-11\n",
        },
    )
    host = sysfs.read(root)
    assert nodes(host) == [(0, "0-3,8-11"), (1, ""), (2, "")]
    assert [node.has_memory for node in host.nodes] == [False, True, True]
    assert host.nodes[0].distances == (10, 20, 30)


@pytest.mark.parametrize(
    ("row", "taken"),
    [
        ("10 15\n", (10, 15)),
        ("10 15 99 99\n", (10, 99)),  # a column for each possible node: 0-3, and 0 and 2 are online
        ("10\n", (10, 20)),
        ("10 15 16\n", (10, 20)),
        ("10 x\n", (10, 20)),
        ("\n", (10, 20)),
    ],
)
def test_rows_of_distances(tmp_path: Path, row: str, taken: tuple[int, int]) -> None:
    root = machine(tmp_path, 16, per_node=4)
    (root / NODE / "node1").rename(root / NODE / "node2")
    make(root, {f"{NODE}/online": "0,2\n", f"{NODE}/possible": "0-3\n", f"{NODE}/node0/distance": row})
    host = sysfs.read(root)
    assert host.nodes[0].distances == taken
    assert bool(host.warnings) == (taken == (10, 20))


def test_isolated_cpus(tmp_path: Path) -> None:
    root = machine(tmp_path, 16, per_node=4)
    make(root, {f"{CPU}/isolated": "2-3,10-11\n", f"{CPU}/nohz_full": "  (null)\n"})
    host = sysfs.read(root)
    assert (cpuset.format_mask(host.isolated), host.nohz_full, host.warnings) == ("2-3,10-11", 0, ())
    make(root, {f"{CPU}/isolated": None, "proc/cmdline": "quiet isolcpus=nohz,domain,2-3 x=isolcpus=9\n"})
    host = sysfs.read(root)
    assert cpuset.format_mask(host.isolated) == "2-3"
    assert "is taken from isolcpus= of the command line" in host.warnings[0]
    make(root, {"proc/cmdline": "isolcpus=2-\n"})
    assert sysfs.read(root).isolated == 0


def test_without_masks_online_is_asked_of_each_cpu(tmp_path: Path) -> None:
    root = machine(tmp_path, 4)
    make(root, {f"{CPU}/{name}": None for name in ("online", "present", "possible", "offline", "isolated")})
    make(
        root,
        {f"{CPU}/cpu3/online": "0\n", f"{CPU}/cpu2/online": "1\n", f"{CPU}/cpufreq/x": "", f"{CPU}/cpu9999999/x": ""},
    )
    host = sysfs.read(root)
    assert (cpuset.ids(host.online), cpuset.ids(host.offline), host.warnings) == ([0, 1, 2], [3], ())


def test_without_sysfs_the_processors_are_taken(tmp_path: Path) -> None:
    host = sysfs.read(make(tmp_path, {"proc/cpuinfo": "processor\t: 0\nx\t: 1\n\nprocessor\t: 2\n"}))
    assert cpuset.ids(host.online) == [0, 2]
    assert len(host.warnings) == 5


def test_without_any_cpu_there_is_no_host(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="no CPU found below it"):
        sysfs.read(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["", "\n", "garbage\n", "-5\n", "0-\n", "9" * 5000, "0-4294967295\n", "\0\0", "٣\n", "1,,2\n", "," * 9000],
)
def test_no_content_of_any_file_stops_it(tmp_path: Path, content: str) -> None:
    root = machine(tmp_path, 4)
    for path in sorted(root.rglob("*")):
        if path.is_file():
            before = path.read_text()
            path.write_text(content)
            host = sysfs.read(root)
            assert sum(host.cores) == sum(host.llcs) == sum(node.cpus for node in host.nodes) == host.online
            path.write_text(before)


@pytest.mark.parametrize("seed", range(20))
def test_no_broken_tree_stops_it(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = machine(tmp_path, 16, per_node=4)
    paths = sorted(path for path in root.rglob("*") if path.is_file() and path.name != "online")
    contents = ["0-3\n", "5\n", "-1\n", "junk", "", "0-15\n", "1\n", "7,9\n", "99\n"]
    for path in chance.sample(paths, 60):
        if chance.random() < 0.5:
            path.unlink()
        else:
            path.write_text(chance.choice(contents))
    host = sysfs.read(root)
    assert host.online == 0xFFFF
    for groups in (host.cores, host.llcs, host.dies, host.packages, tuple(node.cpus for node in host.nodes)):
        assert sum(groups) == host.online
        assert sum(mask.bit_count() for mask in groups) == 16
    assert all(len(node.distances) == len(host.nodes) for node in host.nodes)
    assert topology.from_records(topology.to_json(host)) == host


# --- Kinds of core ------------------------------------------------------------------------------------------------


def kinds(host: Topology) -> list[tuple[str, str]]:
    return [(kind.name, cpuset.format_mask(kind.cpus)) for kind in host.kinds]


def test_kinds_by_pmu(tmp_path: Path) -> None:
    root = machine(tmp_path, 8, threads=1)
    make(root, {"sys/devices/cpu_core/cpus": "0-3\n", "sys/devices/cpu_atom/cpus": "4-7\n"})
    assert kinds(sysfs.read(root)) == [("performance", "0-3"), ("efficiency", "4-7")]
    make(root, {"sys/devices/cpu_atom/cpus": "4-5\n", "sys/devices/cpu_lowpower/cpus": "6-7\n"})
    assert kinds(sysfs.read(root)) == [("performance", "0-3"), ("kind-1", "4-5"), ("efficiency", "6-7")]
    make(root, {"sys/devices/cpu_lowpower": None})
    host = sysfs.read(root)
    assert kinds(host) == [("performance", "0-3"), ("efficiency", "4-7")]
    assert host.warnings
    make(root, {"sys/devices/cpu_atom/cpus": "3-7\n"})
    assert kinds(sysfs.read(root)) == []
    make(root, {"sys/devices/cpu_atom": None})
    assert kinds(sysfs.read(root)) == []


def test_kinds_by_model(tmp_path: Path) -> None:
    root = machine(tmp_path, 6, threads=1)
    text = "".join(
        f"processor\t: {cpu}\nCPU implementer\t: 0x41\nCPU part\t: {'0xd05' if cpu < 4 else '0xd0a'}\n\n"
        for cpu in range(6)
    )
    make(root, {"proc/cpuinfo": text, **{f"{CPU}/cpu{cpu}/cpu_capacity": f"{500 + cpu * 100}\n" for cpu in range(6)}})
    assert kinds(sysfs.read(root)) == [("performance", "4-5"), ("efficiency", "0-3")]
    midr = "regs/identification/midr_el1"
    make(root, {f"{CPU}/cpu{cpu}/{midr}": f"0x00000000410fd05{cpu % 2}\n" for cpu in range(6)})
    make(root, {"proc/cpuinfo": None, **{f"{CPU}/cpu{cpu}/cpu_capacity": "1024\n" for cpu in range(6)}})
    assert kinds(sysfs.read(root)) == []  # revisions of one model


def test_kinds_by_capacity(tmp_path: Path) -> None:
    root = machine(tmp_path, 6, threads=1)
    capacities = [1024, 1000, 700, 690, 300, 1010]
    make(root, {f"{CPU}/cpu{cpu}/cpu_capacity": f"{number}\n" for cpu, number in enumerate(capacities)})
    assert kinds(sysfs.read(root)) == [("performance", "0-1,5"), ("kind-1", "2-3"), ("efficiency", "4")]


def test_an_offline_sibling_or_a_favoured_core_makes_no_kind(tmp_path: Path) -> None:
    root = machine(tmp_path, 8)
    make(root, {f"{CPU}/online": "0-6\n"})
    make(root, {f"{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq": "5000000\n" for cpu in range(7)})
    assert kinds(sysfs.read(root)) == []
    make(root, {f"{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq": "5200000\n" for cpu in (0, 4)})
    assert kinds(sysfs.read(root)) == []


# --- Devices ------------------------------------------------------------------------------------------------------


def test_devices_and_their_names(tmp_path: Path) -> None:
    root = machine(tmp_path, 16, per_node=4)
    pci = "sys/devices/pci0000:00"
    for address, files in {
        "0000:00:01.0": {
            "class": "0x020000",
            "vendor": "0x8086",
            "device": "0x1592",
            "numa_node": "1",
            "local_cpulist": "4-7",
        },
        "0000:00:02.0": {"class": "0x010802", "numa_node": "1"},
        "0000:00:03.0": {"class": "0x010000", "numa_node": "-1", "local_cpus": "ffff"},
        "0000:00:04.0": {},
        "notpci": {},
    }.items():
        make(
            root,
            {f"{pci}/{address}/{name}": text + "\n" for name, text in files.items()} | {f"{pci}/{address}/uevent": ""},
        )
        make(root, {"sys/bus/pci/devices/.keep": ""})
        (root / "sys/bus/pci/devices" / address).symlink_to(f"../../../devices/pci0000:00/{address}")
    links = {
        "sys/class/net/eth0": "../../devices/pci0000:00/0000:00:01.0/net/eth0",
        "sys/class/net/lo": "../../devices/virtual/net/lo",
        "sys/class/nvme/nvme3": "../../devices/pci0000:00/0000:00:02.0/nvme/nvme3",
        "sys/block/nvme0n1": "../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1",
        "sys/block/vda": "../devices/pci0000:00/0000:00:03.0/virtio1/block/vda",
        "sys/class/block/vda": "../../devices/pci0000:00/0000:00:03.0/virtio1/block/vda",
        "sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme3": "../../../pci0000:00/0000:00:02.0/nvme/nvme3",
    }
    for name, target in links.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target)
    host = sysfs.read(root)
    assert [(d.address, d.pci_class, d.numa_node, cpuset.format_mask(d.cpus), d.names) for d in host.devices] == [
        ("0000:00:01.0", 0x020000, 1, "4-7", ("net:eth0",)),
        ("0000:00:02.0", 0x010802, 1, "4-7,12-15", ("block:nvme0n1",)),
        ("0000:00:03.0", 0x010000, None, "0-15", ("block:vda",)),
        ("0000:00:04.0", 0, None, "0-15", ()),
    ]
    assert (host.devices[0].vendor, host.devices[0].device) == (0x8086, 0x1592)
    assert topology.match_devices(host, "net:eth0") == [host.devices[0]]


# --- Limits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        ({}, (None, None)),
        ({"proc/mounts": "tmpfs /tmp tmpfs rw 0 0\nshort\n"}, (None, None)),
        (
            {  # v2, the controller is not enabled in the lowest cgroup
                "proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/cpuset.cpus.effective": "1-2\n",
                "sys/fs/cgroup/a/cpuset.mems.effective": "0\n",
                "sys/fs/cgroup/cpuset.cpus.effective": "0-7\n",
            },
            ("1-2", "0"),
        ),
        (
            {  # v1 has the controller, although v2 is mounted as well
                "proc/mounts": "c /sys/fs/cgroup/uni cgroup2 rw 0 0\nc /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n",
                "proc/self/cgroup": "3:cpuset:/a\n2:cpu:/z\n0::/x\n",
                "sys/fs/cgroup/cpuset/a/cpuset.cpus": "0-3\n",
                "sys/fs/cgroup/cpuset/a/cpuset.effective_cpus": "1-3\n",
                "sys/fs/cgroup/cpuset/a/cpuset.mems": "0-1\n",
            },
            ("1-3", "0-1"),
        ),
        (
            {  # a path of another namespace: the mount shows our own cgroup
                "proc/mounts": "c /sys/fs/cgroup cgroup2 rw 0 0\n",
                "proc/self/cgroup": "0::/../docker/abc\n",
                "sys/fs/cgroup/cpuset.cpus.effective": "4-5\n",
                "docker/abc/cpuset.cpus.effective": "0\n",
            },
            ("4-5", None),
        ),
        (
            {  # the cpuset file system, with a space in its path
                "proc/mounts": "none /dev/cpu\\040set cpuset rw 0 0\n",
                "proc/self/cpuset": "/p\n",
                "dev/cpu set/p/cpus": "2\n",
                "dev/cpu set/p/mems": "\n",
                "dev/cpu set/mems": "0-1\n",
            },
            ("2", "0-1"),
        ),
    ],
)  # fmt: skip
def test_limits(tmp_path: Path, files: dict[str, str], limits: tuple[str | None, str | None]) -> None:
    found = sysfs.cgroup_limits(make(tmp_path, files))
    assert tuple(None if mask is None else cpuset.format_mask(mask) for mask in found) == limits


# --- Archives and time --------------------------------------------------------------------------------------------


def test_a_directory_is_read_where_it_is(tmp_path: Path) -> None:
    with sysfs.open_root(tmp_path) as root:
        assert root == str(tmp_path)


def test_a_host_is_loaded_from_a_tree_an_archive_or_json(tmp_path: Path) -> None:
    host = sysfs.load(OURS / "4qs22-2s2t.tar.gz")
    with sysfs.open_root(OURS / "4qs22-2s2t.tar.gz") as root:
        assert sysfs.load(root) == host
    description = tmp_path / "host"
    description.write_text(json.dumps(topology.to_json(host)))
    assert sysfs.load(description) == host
    for text, message in (("{", "Expecting property name"), ("[]", "expected an object"), ("[" * 9999, "recursion")):
        description.write_text(text)
        with pytest.raises(TopologyError, match=f"{description}: .*{message}"):
            sysfs.load(description)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_text("no archive")
    for name, message in (("x.tar.gz", "cannot be unpacked"), ("absent", "no such file or directory")):
        with pytest.raises(TopologyError, match=message), sysfs.open_root(tmp_path / name):
            pass


def test_an_archive_cannot_leave_its_directory(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("0-7\n")
    archive = tmp_path / "x.tar"
    with tarfile.open(archive, "w") as tar:
        for name, target in {
            f"{CPU}/online": str(secret),
            "up": "../secret",
            "sys/a/turn": "../devices/../../../secret",
            "sys/a/good": "../devices/system",
            "sys/devices/dangling": "../../proc/none",
        }.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
        for name in ("../outside", "sys/a/good/through", f"{CPU}/cpu0/topology/core_id"):
            member = tarfile.TarInfo(name)
            member.size = 2
            tar.addfile(member, io.BytesIO(b"3\n"))
        device = tarfile.TarInfo("dev/null")
        device.type = tarfile.CHRTYPE
        tar.addfile(device)
    with sysfs.open_root(archive) as root:
        kept = sorted(str(path.relative_to(root)) for path in Path(root).rglob("*") if not path.is_dir())
        assert sysfs.read(root).online == 1
    assert kept == ["sys/a/good/through", "sys/devices/dangling", f"{CPU}/cpu0/topology/core_id"]
    assert not (tmp_path.parent / "outside").exists()
    assert not Path(root).exists()


def test_an_archive_with_a_folder_around_it(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(machine(tmp_path / "host", 4), arcname="host")
    with sysfs.open_root(archive) as root:
        assert sysfs.read(root).online == 0xF
    archive.write_bytes(archive.read_bytes()[:-200])
    with pytest.raises(TopologyError, match="cannot be unpacked"), sysfs.open_root(archive):
        pass


def test_256_cpus_take_at_most_150_ms(tmp_path: Path) -> None:
    root = machine(tmp_path, 256, per_node=32)
    took = []
    for _ in range(5):
        start = time.process_time()
        host = sysfs.read(root)
        took.append(time.process_time() - start)
    assert len(host.cores) == 128
    assert len(host.nodes) == 4
    assert min(took) < 0.150
