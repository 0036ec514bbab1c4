"""The search for the best choice of CPUs, by numbers per group.

Decides which `count` CPUs of those that may be chosen make the smallest number of `order`, under exact quantities by
zone and limits on the nodes and caches used. Each group of the tree gets a table: for each number of CPUs taken there
the best key, and the keys of its children add up. A key also has the chosen CPUs in it, so the answer is read from it.

Never decides which CPUs may be chosen, nor what a profile asks for (`rules`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from math import comb

from provider.allocator.budget import Budget, TooMuchWorkError
from provider.allocator.groups import Choice, group_table
from provider.allocator.order import Order
from provider.allocator.pack import pack
from provider.allocator.tables import Tables, Tree, Vertex

__all__ = ["MAX_NODE_SETS", "Problem", "solve", "solve_in_general"]

MAX_NODE_SETS = 20_000
"""Where distances do not fit a tree, at most this many sets of nodes are compared; beyond it the sets are grown from
each node to its nearest ones, and the answer is a good one, not always the best."""

MAX_NODE_SETS_SOLVED = 500
"""Of these at most so many are looked into, in the order of their distances."""

_GOOD_NODE_SETS = 12

_NODE = 1 << 16
_LLC = 1 << 32
_COUNT = _NODE - 1

Table = dict[int, int]
"""CPUs taken here + `_NODE` * nodes used + `_LLC` * caches used -> best key. The latter two only where they are
limited."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What to choose."""

    tables: Tables
    tree: Tree
    order: Order
    count: int
    """How many CPUs to choose."""
    choice: int
    """CPUs that may be chosen."""
    held: int
    """CPUs that the set has and keeps."""
    free: int
    """CPUs of the pool that are free before the choice; contains `choice`."""
    whole: bool = False
    """Only whole cores may be chosen."""
    units: bool = False
    """With `whole`: parts of cores count as whole if they are all that may be chosen of the core (for what shrinks)."""
    zones: Mapping[str, int] | None = None
    """Exactly so many chosen CPUs of each zone, none of the others."""
    local: int = 0
    """CPUs local to the device."""
    nodes: Mapping[int, int] | None = None
    """How many nodes may be used (those of `held` included) -> what that number costs in step `count`; None: any
    number."""
    max_llcs: int | None = None
    one_llc: bool = False
    """All in one cache; `held` then lies in one, and so does `choice` where something is held."""
    distances: bool = False
    """Whether to tell distances apart; `solve` sets it where they can decide."""
    budget: Budget = field(default_factory=Budget, compare=False)

    def parts(self) -> Choice:
        """What the tables of groups depend on."""
        only = self.count if self.one_llc else 0
        return Choice(
            self.tables, self.order, self.choice, self.held, self.free, self.local, self.whole, self.units, only
        )


def solve(problem: Problem) -> int | None:
    """The smallest key, or None where nothing meets the problem's rules."""
    if not _enough(problem):
        return None
    try:
        if problem.order.nodes and problem.zones is None and problem.max_llcs is None and problem.nodes is None:
            key = _packed(problem)
            if key is None and not problem.tree.metric and not problem.tree.uniform:
                first = _packed(problem, far=False)
                if first is not None:
                    return _by_node_sets(replace(problem, nodes={problem.order.split(first)["nodes"]: 0}))
            if key is not None:
                return key
        return solve_in_general(problem)
    except TooMuchWorkError:
        return _good(problem)


def _packed(problem: Problem, *, far: bool = True) -> int | None:
    only = problem.count if problem.one_llc else 0
    return pack(problem.tree, problem.parts(), problem.count, only, problem.budget, far=far)


def _enough(problem: Problem) -> bool:
    """Whether there can be an answer, by numbers."""
    if problem.choice.bit_count() < problem.count:
        return False
    step = problem.tables.width_step
    if problem.whole and not problem.units and problem.count % step:
        return False
    if problem.nodes is not None:
        fewest = min(problem.nodes, default=0)
        held = sum(1 for vertex in problem.tree.nodes if vertex.mask & problem.held)
        there = sum(1 for vertex in problem.tree.nodes if vertex.mask & (problem.held | problem.choice))
        most_new = problem.count // step if problem.whole and not problem.units else problem.count
        if fewest > min(there, most_new + held):
            return False
        if problem.max_llcs is not None and problem.tree.flat and fewest > problem.max_llcs:
            return False
    limits = []
    if problem.max_llcs is not None:
        limits.append((problem.max_llcs, problem.tree.llcs))
    if problem.nodes is not None:
        limits.append((max(problem.nodes, default=0), problem.tree.nodes))
    for most, groups in limits:
        rooms = sorted(((problem.choice & vertex.mask).bit_count() for vertex in groups), reverse=True)
        if sum(rooms[:most]) < problem.count:
            return False
    return True


def _good(problem: Problem) -> int | None:
    """An answer for what is too much work: no limit has to be counted once caches and nodes are chosen beforehand."""
    if problem.max_llcs is not None:
        fullest = sorted(
            problem.tree.llcs,
            key=lambda v: (not problem.held & v.mask, -(problem.choice & v.mask).bit_count(), v.low),
        )
        mask = 0
        for vertex in fullest[: problem.max_llcs]:
            mask |= vertex.mask
        problem = replace(problem, choice=problem.choice & mask, max_llcs=None)
    masks, fixed, there = _nodes_of(problem)
    if problem.nodes is None:
        return _any_nodes(problem, masks)
    for number, cost in sorted(problem.nodes.items(), key=lambda item: item[1]):
        if not _enough(replace(problem, nodes={number: cost})):
            continue
        best = _good_nodes(problem, fixed, there, masks, number, cost)
        if best is not None:
            return best
    return _any_nodes(problem, masks) if len(problem.nodes) >= len(masks) else None


def _any_nodes(problem: Problem, masks: Mapping[int, int]) -> int | None:
    """An answer in whatever nodes; what these cost is added afterwards."""
    key = _root(replace(problem, nodes=None, distances=False))
    if key is None:
        return None
    cpus = problem.held | problem.tables.reverse(problem.order.chosen(key))
    chosen = tuple(node for node, mask in masks.items() if mask & cpus)
    far = 0 if problem.tree.uniform else _distance(problem.tables, chosen) * problem.order.dist
    cost = problem.nodes.get(len(chosen), 0) if problem.nodes is not None else 0
    return key + far + cost * problem.order.count


def _good_nodes(
    problem: Problem, fixed: tuple[int, ...], there: list[int], masks: Mapping[int, int], number: int, cost: int
) -> int | None:
    """A good answer in exactly `number` nodes."""
    best: int | None = None
    budget = problem.budget.rest()
    more = number - len(fixed)
    sets: Iterable[tuple[int, ...]] = [fixed]
    if more > 0:
        sets = islice(_grown_sets(problem, fixed, there, masks, more, budget), _GOOD_NODE_SETS)
    try:
        for chosen in sets:
            mask = 0
            for node in chosen:
                mask |= masks[node]
            among = replace(problem, choice=problem.choice & mask, nodes={number: cost}, distances=False, budget=budget)
            key = _root(among) if _enough(among) else None
            if key is not None:
                if not problem.tree.uniform:
                    key += _distance(problem.tables, chosen) * problem.order.dist
                if best is None or key < best:
                    best = key
    except TooMuchWorkError:
        pass
    return best


def solve_in_general(problem: Problem) -> int | None:
    """The same without the short cut for `pack`."""
    if problem.zones is not None and all(vertex.node >= 0 for vertex in problem.tree.zones):
        return _by_zones(problem, problem.zones)
    if problem.order.count and problem.nodes is not None and len(problem.nodes) > 1:
        # The number of nodes is the first step, for a set that grows the fewest: the first that can be had is the best.
        grows = bool(problem.order.new_nodes)
        for number, cost in sorted(problem.nodes.items(), key=lambda item: item[0 if grows else 1]):
            among = replace(problem, nodes={number: cost})
            key = solve_in_general(among) if _enough(among) else None
            if key is not None:
                return key
        return None
    if not problem.order.dist or problem.tree.uniform:
        return _root(problem)
    if problem.order.nodes:
        # Most answers have one node: then no distance decides.
        first = _root(problem)
        if first is None:
            return None
        fewest = problem.order.split(first)["nodes"]
        if fewest < 2:
            return first
        problem = replace(problem, nodes={fewest: 0})
    if problem.tree.metric:
        return _root(replace(problem, distances=True))
    return _by_node_sets(problem)


def _by_zones(problem: Problem, zones: Mapping[str, int]) -> int | None:
    """Where zones are nodes, the quantities say which nodes are used."""
    named = [v for v in problem.tree.zones if v.zone is not None and (zones.get(v.zone) or problem.held & v.mask)]
    used = {v.node for v in named} | {v.node for v in problem.tree.nodes if problem.held & v.mask}
    cost = 0
    if problem.nodes is not None:
        if len(used) not in problem.nodes:
            return None
        cost = problem.nodes[len(used)] * problem.order.count
    key = _root(replace(problem, nodes=None, distances=False))
    far = 0 if problem.tree.uniform else _distance(problem.tables, used) * problem.order.dist
    return None if key is None else key + cost + far


def _root(problem: Problem) -> int | None:
    table = _Solver(problem).table(problem.tree.root, problem.count, problem.choice.bit_count())
    if problem.nodes is None and problem.max_llcs is None:
        return table.get(problem.count)
    best: int | None = None
    for state, key in table.items():
        if state & _COUNT != problem.count:
            continue
        if problem.max_llcs is not None and state >> 32 > problem.max_llcs:
            continue
        if problem.nodes is not None:
            cost = problem.nodes.get((state >> 16) & _COUNT)
            if cost is None:
                continue
            key += cost * problem.order.count
        if best is None or key < best:
            best = key
    return best


class _Solver:
    """One pass over the tree."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.count_nodes = problem.nodes is not None
        self.most_nodes = max(problem.nodes, default=0) if problem.nodes is not None else 0
        there = problem.choice | problem.held
        nodes = sum(1 for vertex in problem.tree.nodes if vertex.mask & there) if problem.nodes else 0
        # So many of the nodes that could be used need not be.
        self.spare_nodes = nodes - min(problem.nodes, default=0) if problem.nodes else 0
        self.count_llcs = problem.max_llcs is not None
        self.parts = problem.parts()

    def table(self, vertex: Vertex, need: int, there: int) -> Table:
        """The best keys of a group, where `need` CPUs are to come from the `there` choosable ones of a larger group."""
        problem = self.problem
        mine = (problem.choice & vertex.mask).bit_count()
        if problem.zones is not None and vertex.zone is not None:
            need = problem.zones.get(vertex.zone, 0)
            there = mine
        least = max(0, need - (there - mine))
        if mine < least:
            return {}
        if problem.zones is not None and vertex.zone is not None:
            least = need
        inside = not vertex.children or (vertex.node >= 0 and (problem.zones is None or not vertex.zoned))
        if inside and not (self.count_llcs and vertex.children):
            state = 0
            if self.count_nodes and vertex.node >= 0:
                state += _NODE
            if self.count_llcs and vertex.llc:
                state += _LLC
            has = problem.held & vertex.mask
            keys = group_table(self.parts, vertex)
            return {
                taken + (state if taken or has else 0): key
                for taken, key in enumerate(keys[: need + 1])
                if key is not None and taken >= least
            }
        table = self._inner(vertex, need, there)
        table = {state: key for state, key in table.items() if least <= state & _COUNT <= need}
        if vertex.node >= 0 or vertex.llc or vertex.package or vertex.zone is not None:
            table = self._priced(vertex, table)
        return table

    def _inner(self, vertex: Vertex, need: int, there: int) -> Table:
        problem = self.problem
        table: Table = {0: 0}
        rest = there
        usable_nodes = 0
        weight = problem.order.dist * vertex.distance if problem.distances else 0
        for child in vertex.children:
            if not (problem.choice | problem.held) & child.mask:
                continue
            rest -= (problem.choice & child.mask).bit_count()
            if self.count_nodes:
                usable_nodes += _nodes_in(child, problem.choice | problem.held)
            other = self.table(child, need, there)
            table = self._merge(table, other, need, weight, usable_nodes - self.spare_nodes)
            least = need - rest
            if least > 0 and problem.zones is None:
                table = {state: key for state, key in table.items() if state & _COUNT >= least}
            if not table:
                return table
        return table

    def _merge(self, one: Table, other: Table, need: int, weight: int, least_nodes: int) -> Table:
        merged: Table = {}
        limit = self.problem.max_llcs
        if self.count_llcs or self.count_nodes:
            # Without these a table has no more entries than CPUs, and the work is small.
            self.problem.budget.spend(len(one) * len(other) * (3 if self.count_llcs else 1))
        for state, key in one.items():
            nodes = (state >> 16) & _COUNT
            for state2, key2 in other.items():
                both = state + state2
                if both & _COUNT > need:
                    continue
                if self.count_nodes and not least_nodes <= (both >> 16) & _COUNT <= self.most_nodes:
                    continue
                if limit is not None and both >> 32 > limit:
                    continue
                total = key + key2
                if weight:
                    total += weight * nodes * ((state2 >> 16) & _COUNT)
                old = merged.get(both)
                if old is None or total < old:
                    merged[both] = total
        return _without_worse(merged) if self.count_llcs else merged

    def _priced(self, vertex: Vertex, table: Table) -> Table:
        """Add what it costs that this group is used, or stays free."""
        problem = self.problem
        order = problem.order
        has = (problem.held & vertex.mask).bit_count()
        free = (problem.free & vertex.mask).bit_count()
        priced: Table = {}
        for state, key in table.items():
            taken = state & _COUNT
            own = taken + has
            if problem.one_llc and vertex.llc and taken not in (0, problem.count):
                continue
            if vertex.node >= 0:
                key += order.sos_node * own * own
                if own:
                    key += order.nodes + order.left_nodes * (free - taken)
                    if not has:
                        key += order.new_nodes
                    if self.count_nodes:
                        state += _NODE
                if taken and free == taken:
                    key -= order.stay_nodes
            if vertex.llc:
                key += order.sos_llc * own * own
                if own:
                    key += order.llcs + order.left_llcs * (free - taken)
                    if not has:
                        key += order.new_llcs
                    if self.count_llcs:
                        state += _LLC
                if taken and free == taken:
                    key -= order.stay_llcs
            if vertex.package and own:
                key += order.packages
            if vertex.zone is not None:
                key += order.sos_zone * own * own
            priced[state] = key
        return priced


def _without_worse(table: Table) -> Table:
    """Without the entries that use more caches than another for the same numbers and are no better."""
    best: dict[int, int] = {}
    kept: Table = {}
    for state in sorted(table):
        key = table[state]
        numbers = state & (_LLC - 1)
        fewer = best.get(numbers)
        if fewer is None or key < fewer:
            best[numbers] = key
            kept[state] = key
    return kept


def _nodes_of(problem: Problem) -> tuple[dict[int, int], tuple[int, ...], list[int]]:
    """(CPUs of each node, the nodes that the set has already, the others with CPUs to choose)."""
    masks: dict[int, int] = {}
    for vertex in problem.tree.nodes:
        masks[vertex.node] = masks.get(vertex.node, 0) | vertex.mask
    fixed = tuple(node for node, mask in masks.items() if problem.held & mask)
    there = [node for node, mask in masks.items() if node not in fixed and problem.choice & mask]
    return masks, fixed, there


def _nodes_in(vertex: Vertex, mask: int) -> int:
    if not vertex.mask & mask:
        return 0
    return int(vertex.node >= 0) + sum(_nodes_in(child, mask) for child in vertex.children if child.node_count)


def _by_node_sets(problem: Problem) -> int | None:
    """Distances that fit no tree: compare sets of nodes, the nearest first, and stop where none can be better."""
    order = problem.order
    assert problem.nodes is not None
    masks, fixed, there = _nodes_of(problem)
    # With these two the sets come in the order of the first steps that can differ.
    sorted_by_steps = not order.new_nodes and not (order.count and order.whole)
    best: int | None = None
    tried = 0
    for number, cost in sorted(problem.nodes.items(), key=lambda item: item[1]):
        if best is not None and order.count and not order.new_nodes:
            break
        sets: list[tuple[int, int, tuple[int, ...], int]] = []
        for chosen in _node_sets(problem, fixed, there, masks, number - len(fixed)):
            mask = 0
            for node in chosen:
                mask |= masks[node]
            if (problem.choice & mask).bit_count() < problem.count:
                continue
            near = min(problem.count, (problem.choice & mask & problem.local).bit_count()) if order.nodes else 0
            sets.append((-near if order.local else 0, _distance(problem.tables, chosen), chosen, mask))
        sets.sort()
        for near, distance, _, mask in sets:
            if best is not None and sorted_by_steps:
                found = order.split(best)
                if (near, distance) > (found.get("local", 0) if order.nodes else 0, found["dist"]):
                    break
            if tried >= MAX_NODE_SETS_SOLVED:
                break
            tried += 1
            among = replace(problem, choice=problem.choice & mask, nodes={number: cost})
            key = None
            try:
                if order.nodes and problem.zones is None and problem.max_llcs is None:
                    key = _packed(among, far=False)
                if key is None:
                    key = _root(among)
            except TooMuchWorkError:
                if best is None:
                    raise
                return best
            if key is not None:
                key += distance * order.dist
                if best is None or key < best:
                    best = key
    return best if best is not None else _root(problem)


def _node_sets(
    problem: Problem, fixed: tuple[int, ...], there: list[int], masks: Mapping[int, int], more: int
) -> Iterator[tuple[int, ...]]:
    """Sets of `fixed` and `more` other nodes: all of them, or where these are too many, good ones."""
    if more < 0 or more > len(there):
        return
    if comb(len(there), more) <= MAX_NODE_SETS:
        problem.budget.spend(4 * comb(len(there), more))
        for chosen in combinations(there, more):
            yield (*fixed, *chosen)
        return
    yield from _grown_sets(problem, fixed, there, masks, more, problem.budget)


def _grown_sets(
    problem: Problem, fixed: tuple[int, ...], there: list[int], masks: Mapping[int, int], more: int, budget: Budget
) -> Iterator[tuple[int, ...]]:
    """Sets of `fixed` and `more` other nodes that are near to each other, or have much room; some for each node."""
    if more > len(there):
        return
    room = {node: (problem.choice & masks[node]).bit_count() for node in there}
    seen: set[tuple[int, ...]] = set()
    for start in there:
        for by_room in (False, True):
            budget.spend(more * len(there))
            found = tuple(sorted((*fixed, *_grown(problem.tables.distance, fixed, start, room, more, by_room))))
            if found not in seen:
                seen.add(found)
                yield found


def _grown(
    distance: Sequence[Sequence[int]],
    fixed: Sequence[int],
    start: int,
    room: Mapping[int, int],
    more: int,
    by_room: bool,
) -> list[int]:
    """`more` nodes: `start`, and then always the nearest to all of them, or (`by_room`) the one with the most CPUs."""
    group = [start]
    near = {node: distance[start][node] + sum(distance[one][node] for one in fixed) for node in room if node != start}
    while len(group) < more:
        if by_room:
            _, _, best = min((-room[node], far, node) for node, far in near.items())
        else:
            _, _, best = min((far, -room[node], node) for node, far in near.items())
        group.append(best)
        del near[best]
        row = distance[best]
        for node in near:
            near[node] += row[node]
    return group


def _distance(tables: Tables, nodes: Iterable[int]) -> int:
    return sum(tables.distance[a][b] for a, b in combinations(sorted(nodes), 2))
