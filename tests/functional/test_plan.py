"""`pinfold plan` on real files: what it reads, what it prints, and the field reports that are written in its words."""

from __future__ import annotations

import json
import tarfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from provider.cli.plan import plan
from tests.unit.machines import A6, D16, G34, H28, L8, P18, Q16, S8, T8, U4

SELECTOR = {"resource_providers": [{"type": "org.pinfold.rp.cpu", "name": "host"}]}
PROFILES = {
    "plain": {},
    "required": {"core_siblings": "required"},
    "denied": {"core_siblings": "denied"},
    "none": {"core_siblings": "none"},
    "bind": {"memory": {"policy": "bind", "mode": "required"}},
    "near": {"memory": {"policy": "bind", "mode": "preferred"}},
    "cache": {"cache": {"llc": "required"}},
    "spread": {"placement": "spread"},
    "shared": {"mode": "shared"},
    "rt": {"pool": "rt"},
}


class Desk:
    """A directory with the files of one run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.profiles = self.write(
            "profiles.json",
            {
                "profile_matrix": {
                    name: {"resource_provider_selector": SELECTOR, "cpuset": cpuset}
                    for name, cpuset in PROFILES.items()
                }
            },
        )

    def write(self, name: str, content: Any) -> str:
        path = self.directory / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def run(self, topology: Any, requests: Any, *options: str, config: Any = None) -> Result:
        arguments = [
            "--topology",
            topology if isinstance(topology, str) else self.write("topology.json", topology),
            "--profiles",
            self.profiles,
            "--requests",
            self.write("requests.json", requests),
        ]
        if config is not None:
            arguments += ["--config", self.write("config.json", config)]
        return CliRunner().invoke(plan, [*arguments, *options], catch_exceptions=False)

    def answers(self, topology: Any, requests: Any, config: Any = None) -> list[dict[str, Any]]:
        result = self.run(topology, requests, "--json", config=config)
        assert result.exit_code == 0, result.output
        answers: list[dict[str, Any]] = json.loads(result.stdout)
        return answers

    def one(self, topology: Any, profile: str, cpus: int, config: Any = None, **more: Any) -> Any:
        """The CPUs of one request, or the text of its refusal."""
        answer = self.answers(topology, [{"id": "r", "profile": profile, "cpus": cpus, **more}], config)[0]
        return answer["error"] if "error" in answer else answer["cpus"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_answer_has_the_designs_form(desk: Desk) -> None:
    requests = [
        {"id": "r1", "profile": "denied", "cpus": 4, "available": "0-15", "zones": {"numa/1": 4}},
        {"id": "r2", "profile": "bind", "cpus": 2},
        {"id": "r3", "profile": "plain", "cpus": 99},
    ]
    first, second, third = desk.answers(D16, requests)
    # Without a memory policy every node's memory may be used.
    assert first == {"id": "r1", "cpus": [4, 5], "blocked": [12, 13], "mems": [0, 1]}
    assert second == {"id": "r2", "cpus": [6, 14], "blocked": [], "mems": [1]}
    assert third.keys() == {"id", "error"}
    assert "10 are free" in third["error"]


def test_report_1_one_thread_offline(desk: Desk) -> None:
    records = {"cpus": [cpu for cpu in S8["cpus"] if cpu["cpu"] != 7], "offline": "7"}
    config = {"type": "org.pinfold.rp.cpu", "name": "host", "cpu": {"reserved_cpus": "3"}}
    assert desk.one(records, "required", 2, config) == [0, 4]
    taken = [{"id": str(i), "profile": "none", "cpus": 1} for i in range(7)]
    given = [answer.get("cpus", [None])[0] for answer in desk.answers(records, taken, config)]
    assert 3 not in given
    assert 7 not in given
    assert given.count(None) == 1


def test_report_2_hybrid(desk: Desk) -> None:
    config = {"cpu": {"reserved_cpus": "0"}}
    for profile in ("plain", "required"):
        assert desk.one(H28, profile, 2, config) == [2, 3]


def test_report_5_nodes_without_memory(desk: Desk) -> None:
    nodes = [{**node, "memory_bytes": 0 if node["id"] in (0, 3) else 1 << 34} for node in Q16["nodes"]]
    records = {**Q16, "nodes": nodes}
    near = desk.answers(records, [{"id": "r", "profile": "near", "cpus": 2, "zones": {"numa/0": 2}}])[0]
    assert (near["cpus"], near["mems"]) == ([0, 1], [1])
    assert "node 0 has no memory" in desk.one(records, "bind", 2, zones={"numa/0": 2})


def test_report_6_threads(desk: Desk) -> None:
    assert desk.one(T8, "required", 4) == [0, 1, 2, 3]
    assert "4 or 8" in desk.one(T8, "required", 6)
    eight, four = (desk.answers(T8, [{"id": "r", "profile": "denied", "cpus": cpus}])[0] for cpus in (8, 4))
    assert (eight["cpus"], eight["blocked"]) == ([0, 4], [1, 2, 3, 5, 6, 7])
    assert (four["cpus"], four["blocked"]) == ([0], [1, 2, 3])
    assert desk.answers(U4, [{"id": "r", "profile": "denied", "cpus": 3}])[0]["blocked"] == []


def test_report_7_isolated(desk: Desk) -> None:
    records = {**D16, "isolated": "2-3,10-11"}
    every = [{"id": str(i), "profile": "none", "cpus": 1} for i in range(16)]
    given = [answer["cpus"][0] for answer in desk.answers(records, every) if "cpus" in answer]
    assert sorted(given) == [0, 1, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15]
    config = {"cpu": {"pools": [{"name": "rt", "cpus": "2-3,10-11"}]}}
    assert desk.one(records, "rt", 4, config) == [2, 3, 10, 11]
    assert "4 are free in pool 'rt'" in desk.one(records, "rt", 5, config)
    assert "there is no pool 'rt'" in desk.one(records, "rt", 1)


def test_report_10_lists_that_do_not_fit(desk: Desk) -> None:
    for cpu, words in (
        ({"reserved_cpus": "15"}, "CPUs 15 cannot exist here"),
        ({"pools": [{"name": "a", "cpus": "0-3"}, {"name": "b", "cpus": "3-5"}]}, "both name CPUs 3"),
        ({"reserved_cpus": "0-7"}, "leaves none"),
    ):
        result = desk.run(S8, [], config={"cpu": cpu})
        assert result.exit_code == 1
        assert words in result.output


def test_report_13_refuse_and_explain(desk: Desk) -> None:
    available = "4,5,9-11,15-17"
    assert desk.one(P18, "near", 5, available=available) == [4, 5, 9, 10, 11]
    refusal = desk.one(P18, "bind", 5, available=available)
    assert "5 CPUs of one NUMA node" in refusal
    assert "most free in a node: 3" in refusal
    assert desk.one(Q16, "plain", 6, available="0-3,6-15") == [0, 1, 2, 3, 6, 7]
    assert desk.one(Q16, "plain", 6, available="0-3,8-15") == [8, 9, 10, 11, 12, 13]


def test_report_15_caches(desk: Desk) -> None:
    assert desk.one(A6, "plain", 3) == [0, 1, 2]
    assert desk.one(L8, "cache", 2, available="0-3,6-7") == [6, 7]
    both = [
        {"id": "two", "profile": "cache", "cpus": 2, "available": "0-3,6-7"},
        {"id": "four", "profile": "cache", "cpus": 4, "available": "0-3"},
    ]
    assert [answer["cpus"] for answer in desk.answers(L8, both)] == [[6, 7], [0, 1, 2, 3]]
    assert desk.one(L8, "cache", 6) == [0, 1, 2, 3, 4, 5]


def test_report_16_the_small_one_goes_where_it_hurts_least(desk: Desk) -> None:
    two_nodes = {"cpus": [{"cpu": i, "numa": i // 8, "socket": i // 8, "llc": i // 8} for i in range(16)]}
    requests = [
        {"id": "A", "profile": "bind", "cpus": 6, "zones": {"numa/0": 6}},
        {"id": "small", "profile": "bind", "cpus": 1},
        {"id": "B", "profile": "bind", "cpus": 8},
    ]
    answers = desk.answers(two_nodes, requests)
    assert [answer["mems"] for answer in answers] == [[0], [0], [1]]
    grown = desk.answers(
        two_nodes,
        [{"id": "A", "profile": "bind", "cpus": 8, "available": "6-7", "holds": "0-5", "zones": {"numa/0": 2}}],
    )
    assert grown[0]["cpus"] == list(range(8))


def test_report_30_the_floor_is_left(desk: Desk) -> None:
    for floor in (0, 1):
        config = {"cpu": {"floor": floor}}
        refusal = desk.one(S8, "plain", 8, config)
        assert "6 are free" in refusal
        assert desk.one(S8, "plain", 6, config) == [1, 2, 3, 5, 6, 7]
    requests = [{"id": "s", "profile": "shared", "cpus": 2}, {"id": "x", "profile": "plain", "cpus": 7}]
    answers = desk.answers(S8, requests)
    assert answers[0]["cpus"] == list(range(8))
    assert "2 are guaranteed to shared sets" in answers[1]["error"]


def test_report_49_many_nodes(desk: Desk) -> None:
    tracemalloc.start()
    start = time.perf_counter()
    assert len(desk.one(G34, "plain", 40)) == 40
    assert time.perf_counter() - start < 1
    cpus = [
        {"cpu": i, "core": i % 256, "numa": i % 256 // 4, "socket": i % 256 // 32, "llc": i % 256 // 4}
        for i in range(512)
    ]
    available = ",".join(str(i) for i in range(512) if (i * 7919) % 5 not in (0, i % 3))
    start = time.perf_counter()
    first = desk.run({"cpus": cpus}, [{"id": "r", "profile": "plain", "cpus": 200, "available": available}], "--json")
    assert time.perf_counter() - start < 3
    assert len(json.loads(first.stdout)[0]["cpus"]) == 200
    again = desk.run({"cpus": cpus}, [{"id": "r", "profile": "plain", "cpus": 200, "available": available}], "--json")
    assert first.stdout == again.stdout
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


def test_report_53_two_tenants_on_one_core(desk: Desk) -> None:
    def second(first: str, then: str) -> tuple[list[int], list[int]]:
        answers = desk.answers(
            S8,
            [
                {"id": "a", "profile": first, "cpus": 2 if first == "denied" else 1},
                {"id": "b", "profile": then, "cpus": 2},
            ],
        )
        return answers[0]["cpus"], answers[1].get("cpus")

    assert second("none", "required") == ([0], [1, 5])
    assert second("none", "none")[1] == [1, 4], "under none they may share"
    assert second("denied", "none") == ([0], [1, 5])


def test_requests_see_what_the_earlier_ones_left(desk: Desk) -> None:
    requests = [
        {"id": "a", "profile": "plain", "cpus": 2},
        {"id": "b", "profile": "plain", "cpus": 4, "holds": "0,4"},
        {"id": "c", "profile": "plain", "cpus": 2},
        {"id": "d", "profile": "plain", "cpus": 2, "holds": "0-1,4-5"},
        {"id": "e", "profile": "plain", "cpus": 4},
    ]
    answers = desk.answers(S8, requests)
    assert [answer["cpus"] for answer in answers] == [[0, 4], [0, 1, 4, 5], [2, 6], [0, 4], [1, 3, 5, 7]]


def test_plan_reads_a_sysfs_copy(desk: Desk, tmp_path: Path) -> None:
    tree = tmp_path / "host"
    for cpu in range(4):
        directory = tree / f"sys/devices/system/cpu/cpu{cpu}/topology"
        directory.mkdir(parents=True)
        for name, value in (
            ("core_id", str(cpu % 2)),
            ("physical_package_id", "0"),
            ("thread_siblings_list", f"{cpu % 2},{cpu % 2 + 2}"),
            ("core_cpus_list", f"{cpu % 2},{cpu % 2 + 2}"),
            ("package_cpus_list", "0-3"),
        ):
            (directory / name).write_text(value + "\n")
    for name in ("online", "present", "possible"):
        (tree / f"sys/devices/system/cpu/{name}").write_text("0-3\n")
    assert desk.one(str(tree), "plain", 2) == [0, 2]
    archive = tmp_path / "host.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tree, arcname="host")
    assert desk.one(str(archive), "plain", 2) == [0, 2]


def test_the_table_and_the_explanation(desk: Desk) -> None:
    requests = [{"id": "r1", "profile": "denied", "cpus": 4}, {"id": "r2", "profile": "required", "cpus": 3}]
    table = desk.run(D16, requests).stdout.splitlines()
    assert table[0].split() == ["ID", "CPUS", "BLOCKED", "MEMS"]
    assert table[1].split() == ["r1", "0-1", "8-9", "0-1"]
    assert table[2].startswith("r2  error: 3 CPUs cannot be made of whole free cores")
    explained = desk.run(D16, requests, "--explain").stdout
    assert "in node 1 instead: 4-5,12-13" in explained
    as_json = json.loads(desk.run(D16, requests, "--explain", "--json").stdout)
    assert any("given: CPUs 0-1" in line for line in as_json[0]["explain"])


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ({}, "the requests are a list"),
        ([3], "requests[0]: a request is an object"),
        ([{"cpus": 1}], "requests[0].profile"),
        ([{"profile": "plain"}], "requests[0].cpus"),
        ([{"profile": "plain", "cpus": 1.5}], "requests[0].cpus"),
        ([{"profile": "plain", "cpus": True}], "requests[0].cpus"),
        ('[{"profile": "plain", "cpus": NaN}]', "requests[0].cpus"),
        ('[{"profile": "plain", "cpus": 1e999}]', "requests[0].cpus"),
        ([{"profile": "plain", "cpus": 1, "available": "0-"}], "requests[0].available"),
        ([{"profile": "plain", "cpus": 1, "available": 3}], "requests[0].available"),
        ([{"profile": "plain", "cpus": 1, "zones": 3}], "requests[0].zones"),
        ([{"profile": "plain", "cpus": 1, "holds": "x"}], "requests[0].holds"),
    ],
)
def test_a_bad_request_file_is_named(desk: Desk, requests: Any, words: str) -> None:
    result = desk.run(S8, requests)
    assert result.exit_code == 1
    assert words in result.output


def test_bad_files_and_bad_usage(desk: Desk, tmp_path: Path) -> None:
    for topology, words in (("[]", "object"), ("{", "no JSON"), ('{"cpus": []}', "empty")):
        result = desk.run(desk.write("t.json", topology), [])
        assert result.exit_code == 1
        assert words in result.output
    assert desk.run(str(tmp_path / "nowhere"), []).exit_code == 1
    (tmp_path / "bare").mkdir()
    bare = desk.run(str(tmp_path / "bare"), [])
    assert bare.exit_code == 1
    assert "no CPU found" in bare.output
    (tmp_path / "bad.tar.gz").write_text("no archive")
    archive = desk.run(str(tmp_path / "bad.tar.gz"), [])
    assert archive.exit_code == 1
    assert "bad.tar.gz" in archive.output
    assert CliRunner().invoke(plan, []).exit_code == 2
    result = desk.run(S8, [], config={"cpu": {"group_by": "SOCKET"}})
    assert result.exit_code == 1
    assert "cpu.group_by" in result.output
    result = desk.run(S8, [], config={"cpu": {"reserved_cpu": "0"}})
    assert result.exit_code == 1
    assert "config.json: cpu.reserved_cpu: there is no such field; is reserved_cpus meant?" in result.output
    result = desk.run(S8, [{"id": "r", "profile": "plain", "cpus": 1, "availabel": "0"}])
    assert result.exit_code == 0
    assert "requests[0].availabel: a request has no such key" in result.output
    unknown = desk.answers(S8, [{"id": "r", "profile": "nothing", "cpus": 1}])[0]
    assert "profile 'nothing' is not in the document" in unknown["error"]


def test_a_refusal_for_a_guarantee_says_how_many_would_do(desk: Desk) -> None:
    requests = [{"id": "s", "profile": "shared", "cpus": 3}, {"id": "r", "profile": "plain", "cpus": 7}]
    assert "at most 5 would not touch their guarantee" in desk.answers(S8, requests)[1]["error"]


def test_a_profile_of_another_provider_is_refused(desk: Desk) -> None:
    config = {"type": "org.pinfold.rp.cpu", "name": "other", "cpu": {}}
    assert "is not for provider" in desk.one(S8, "plain", 1, config)
    assert desk.one(S8, "plain", 1, {**config, "name": "host"}) == [0]


def test_config_cuts_the_machine(desk: Desk) -> None:
    config = {"cpu": {"group_by": "MACHINE", "reserved_cpus": "0", "floor": 2}}
    assert desk.one(D16, "plain", 2, config) == [2, 10]
    assert desk.one(D16, "plain", 4, config, zones={"machine": 4}) == [2, 3, 10, 11]
    # What is available is taken at its word, but reserved CPUs and the floor are nobody's.
    assert desk.one(D16, "plain", 1, config, available="0-2,8-10") == [2]
    assert desk.one(D16, "spread", 2, {"cpu": {"group_by": "NUMA"}}) == [0, 8]
