"""The search for `pack`: fewest nodes first, so only sets of nodes that are filled nearly to the brim are looked at.

Decides the same as `search`, faster, where fewest nodes is the first step: how many nodes are needed follows from
numbers alone, and with it for each node the fewest CPUs that it has to give if it is used at all. Of groups that differ
only in their ids (`Vertex.shape`) the lower ones are used first.

`pack` gives None both where nothing fits and where the fewest nodes by numbers do not do (cores of uneven width);
`search` then looks again in the general way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from provider.allocator.budget import Budget
from provider.allocator.groups import Choice, group_table
from provider.allocator.tables import Tree, Vertex

__all__ = ["pack"]

MAX_GOALS = 2000
"""How many goals the look at distances by numbers follows, at most; beyond it nothing is left out beforehand."""

_PACKAGES = 1 << 16

Fronts = dict[int, list[tuple[int, int]]]
"""Number of new nodes used -> (distances * `_PACKAGES` + packages, CPUs that they can give), the cheapest first."""

Rows = dict[int, dict[int, int]]
"""Number of new nodes used -> CPUs taken -> best key."""


def pack(tree: Tree, one: Choice, count: int, only: int, budget: Budget, *, far: bool = True) -> int | None:
    """The smallest key of a choice of `count` CPUs in the fewest new nodes; `only` as in `Problem.one_llc`.

    `far`: whether distances count; False where they are the same for all that may be chosen.
    """
    far = far and bool(one.order.dist) and not tree.uniform
    caps: list[int] = []
    held_room = held_nodes = covered = 0
    for vertex in tree.nodes:
        room = (one.choice & vertex.mask).bit_count()
        covered += room
        if one.held & vertex.mask:
            held_nodes += 1
            held_room += room
        elif room:
            caps.append(room)
    if covered != one.choice.bit_count():
        return None
    caps.sort(reverse=True)
    top = [0]
    while top[-1] + held_room < count:
        if len(top) > len(caps):
            return None
        top.append(top[-1] + caps[len(top) - 1])
    new = len(top) - 1
    if not held_nodes and tree.flat and new < 3:
        return _one_node(tree, one, count) if new == 1 else _two_nodes(tree, one, count, far)
    distances = far and new + held_nodes > 1
    if distances and not tree.metric:
        return None
    rows = _Pack(one, count, only, new, held_room, distances, budget).rows(tree.root, [], new)[0]
    return rows.get(new, {}).get(count)


def _one_node(tree: Tree, one: Choice, count: int) -> int | None:
    """All in one node, and no cache or zone is larger than a node: the least key of the nodes' own."""
    best: int | None = None
    seen: set[tuple[int, ...]] = set()
    for vertex in tree.nodes:
        if (one.choice & vertex.mask).bit_count() < count:
            continue
        # Of nodes that are the same but for their ids the first one wins.
        same = (*_state(one, vertex), bool(vertex.package_above))
        if same in seen:
            continue
        seen.add(same)
        keys = group_table(one, vertex)
        # Where cores are only taken whole, not every number up to the room has an entry.
        key = keys[count] if count < len(keys) else None
        if key is not None:
            if vertex.package_above:
                key += one.order.packages
            if best is None or key < best:
                best = key
    return best


def _two_nodes(tree: Tree, one: Choice, count: int, far: bool) -> int | None:
    """All in two nodes, and no cache or zone is larger than a node: the pairs that are nearest, one by one."""
    nodes = [(vertex, room) for vertex in tree.nodes if (room := (one.choice & vertex.mask).bit_count())]
    distance = one.tables.distance
    weight = one.order.dist if far else 0
    by_cost: dict[int, list[tuple[int, int]]] = {}
    for index, (vertex, room) in enumerate(nodes):
        row = distance[vertex.node]
        above = vertex.package_above
        for later in range(index + 1, len(nodes)):
            other, more = nodes[later]
            if room + more < count:
                continue
            cost = row[other.node] * weight
            if above:
                cost += one.order.packages
                if other.package_above and other.package_above != above:
                    cost += one.order.packages
            elif other.package_above:
                cost += one.order.packages
            by_cost.setdefault(cost, []).append((index, later))
    states = [_state(one, vertex) for vertex, _ in nodes]
    best: int | None = None
    for cost, pairs in sorted(by_cost.items()):
        if best is not None and not one.local and not one.order.local:
            # Distances and packages come before everything that tells these pairs apart.
            break
        first: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[int, int]] = {}
        for index, later in pairs:
            kept = first.setdefault((states[index], states[later]), (index, later))
            if kept != (index, later) and kept[0] <= index and kept[1] <= later:
                continue
            keys, others = group_table(one, nodes[index][0]), group_table(one, nodes[later][0])
            for taken in range(max(1, count - len(others) + 1), min(len(keys), count)):
                key, other_key = keys[taken], others[count - taken]
                if key is not None and other_key is not None:
                    key += other_key + cost
                    if best is None or key < best:
                        best = key
    return best


def _state(one: Choice, vertex: Vertex) -> tuple[int, ...]:
    """Equal for groups that are the same but for a distance of ids."""
    mask, low = vertex.mask, vertex.low
    return (vertex.shape, (one.choice & mask) >> low, (one.free & mask) >> low, (one.local & mask) >> low)


def _join(first: Fronts, second: Fronts, distance: int, most: int) -> Fronts:
    joined: Fronts = {}
    for number1, entries1 in first.items():
        for number2, entries2 in second.items():
            number = number1 + number2
            if number > most:
                continue
            far = distance * number1 * number2 * _PACKAGES
            into = joined.setdefault(number, [])
            for cost1, room1 in entries1:
                for cost2, room2 in entries2:
                    into.append((cost1 + cost2 + far, room1 + room2))
    for number, entries in joined.items():
        if len(entries) > 1:
            entries.sort(key=lambda entry: (entry[0], -entry[1]))
            best = -1
            kept = []
            for entry in entries:
                if entry[1] > best:
                    kept.append(entry)
                    best = entry[1]
            joined[number] = kept
    return joined


class _Pack:
    def __init__(
        self, one: Choice, count: int, only: int, new: int, held_room: int, distances: bool, budget: Budget
    ) -> None:
        self.budget = budget
        self.one = one
        self.count = count
        self.only = only
        self.new = new
        self.held_room = held_room
        self.weight = one.order.dist if distances else 0

    def rows(self, vertex: Vertex, others: list[int], most: int) -> tuple[Rows, int, int]:
        """(the table of a group, what of it held nodes can give, how many held nodes it has).

        `others`: what each node outside the group can give, those that hold nothing of the set yet; `most`: how many
        new nodes the group may have.
        """
        if vertex.node >= 0:
            return self._node(vertex, others, most)
        groups = self._groups(vertex)
        rooms = [[room for child in group for room in self._rooms(child)] for group in groups]
        rows: Rows = {0: {0: 0}}
        room = nodes = 0
        allowed = None if others else self._allowed(vertex, groups)
        for index, group in enumerate(groups):
            later = [room for part in rooms[index + 1 :] for room in part]
            earlier = [room for part in rooms[:index] for room in part]
            numbers = (
                [allowed[child.mask] for child in group] if allowed is not None else [range(most + 1)] * len(group)
            )
            outside = [*others, *later, *earlier]
            other, other_room, other_nodes = self._together(group, vertex.distance, outside, numbers, most)
            room += other_room
            rows = self._merge(rows, nodes, other, other_nodes, vertex.distance, room, [*others, *later], most)
            nodes += other_nodes
            if not rows:
                return rows, room, nodes
        if vertex.llc or vertex.package or vertex.zone is not None:
            rows = self._priced(vertex, rows)
        return rows, room, nodes

    def _allowed(self, vertex: Vertex, groups: list[list[Vertex]]) -> dict[int, Collection[int]] | None:
        """For each child (by mask) how many new nodes it may have where distances and packages are the least possible.

        By numbers only: for each number of nodes the pairs (distances and packages, CPUs) of which none is better in
        both. None where other steps come before these, or where they decide nothing.
        """
        children = [child for group in groups for child in group]
        if self.one.held or self.one.order.local or all(child.node >= 0 for child in children):
            return None
        distance = vertex.distance if self.weight else 0
        fronts = [self._front(child) for child in children]
        before: list[Fronts] = [{0: [(0, 0)]}]
        for front in fronts:
            before.append(_join(before[-1], front, distance, self.new))
        fit = [cost for cost, room in before[-1].get(self.new, ()) if room >= self.count]
        if not fit:
            return None
        allowed: dict[int, Collection[int]] = {}
        goals = {(self.new, min(fit), self.count)}
        for index in range(len(fronts) - 1, -1, -1):
            mine: set[int] = set()
            earlier: set[tuple[int, int, int]] = set()
            for number, cost, need in goals:
                for here, entries in fronts[index].items():
                    rest = number - here
                    for more, room in entries:
                        budget = cost - more - distance * here * rest * _PACKAGES
                        if any(c <= budget and r >= need - room for c, r in before[index].get(rest, ())):
                            mine.add(here)
                            earlier.add((rest, budget, need - room))
            allowed[children[index].mask] = mine
            goals = earlier
            if len(goals) > MAX_GOALS:
                return None
        return allowed

    def _front(self, vertex: Vertex) -> Fronts:
        distance = vertex.distance if self.weight else 0
        price = 1 if vertex.package else 0
        if vertex.node >= 0:
            room = (self.one.choice & vertex.mask).bit_count()
            return {0: [(0, 0)], 1: [(price, room)]} if room else {0: [(0, 0)]}
        if all(child.node >= 0 and not child.package for child in vertex.children):
            top = self._top(self._rooms(vertex))
            return {
                number: [((distance * number * (number - 1) // 2) * _PACKAGES + (price if number else 0), room)]
                for number, room in enumerate(top)
                if not number or room > top[number - 1]
            }
        front: Fronts = {0: [(0, 0)]}
        for child in vertex.children:
            front = _join(front, self._front(child), distance, self.new)
        return {n: [(cost + (price if n else 0), room) for cost, room in entries] for n, entries in front.items()}

    def _node(self, vertex: Vertex, others: list[int], most: int) -> tuple[Rows, int, int]:
        one = self.one
        room = (one.choice & vertex.mask).bit_count()
        if one.held & vertex.mask:
            # What all the others cannot give has to come from here.
            least = self.count - self._top(others)[-1] - (self.held_room - room)
            keys = group_table(one, vertex)
            row = {n: key for n, key in enumerate(keys) if key is not None and least <= n <= self.count}
            return ({0: row} if row else {}), room, 1
        rows: Rows = {0: {0: 0}}
        if not most:
            return rows, 0, 0
        least = max(1, self.count - self._top(others)[self.new - 1] - self.held_room)
        if least <= room:
            keys = group_table(one, vertex)
            row = {}
            for taken in range(least, min(room, self.count, len(keys) - 1) + 1):
                key = keys[taken]
                if key is not None:
                    row[taken] = key
            if row:
                rows[1] = row
        return rows, 0, 0

    def _top(self, rooms: list[int]) -> list[int]:
        """What 0, 1, … new nodes of these can give at most."""
        top = [0]
        for room in sorted(rooms, reverse=True)[: self.new]:
            top.append(top[-1] + room)
        top.extend([top[-1]] * (self.new + 1 - len(top)))
        return top

    def _rooms(self, vertex: Vertex) -> list[int]:
        one = self.one
        if vertex.node >= 0:
            return [] if one.held & vertex.mask else [(one.choice & vertex.mask).bit_count()]
        return [room for child in vertex.children for room in self._rooms(child)] if one.choice & vertex.mask else []

    def _groups(self, vertex: Vertex) -> list[list[Vertex]]:
        """The children with something in them, the fullest first; those that differ only in their ids together."""
        one = self.one
        alike: dict[tuple[int, ...], list[Vertex]] = {}
        for child in vertex.children:
            mask, low = child.mask, child.low
            choice = one.choice & mask
            if one.held & mask:
                alike[-1, low] = [child]
            elif choice:
                alike.setdefault(_state(one, child), []).append(child)
        return sorted(alike.values(), key=lambda group: -(one.choice & group[0].mask).bit_count())

    def _together(
        self, group: list[Vertex], distance: int, others: list[int], numbers: Sequence[Collection[int]], most: int
    ) -> tuple[Rows, int, int]:
        """The table of groups that are the same but for their ids, or of one group; `numbers`: of nodes, for each."""
        if len(group) > 1 and not most:
            return {0: {0: 0}}, 0, 0
        limit = min(most, max(numbers[0], default=0))
        if len(group) == 1:
            rows, room, nodes = self.rows(group[0], others, limit)
            return {number: row for number, row in rows.items() if number in numbers[0]}, room, nodes
        # An answer that uses the second of them and not the first would have lower ids the other way round.
        group = group[: self.new]
        rooms = self._rooms(group[0])
        last: Rows = {0: {0: 0}}
        rows = {0: {0: 0}}
        for index, vertex in enumerate(group):
            fewest = min((number for number in numbers[index] if number), default=most + 1)
            if min(last) + fewest > most:
                break
            limit = min(most - min(last), max(numbers[index]))
            rest = rooms * (len(group) - 1)
            own = self.rows(vertex, others + rest, limit)[0]
            used = {number: row for number, row in own.items() if number and number in numbers[index]}
            left = others + rooms * (len(group) - 1 - index)
            last = self._merge(last, 0, used, 0, distance, 0, left, most)
            if not last:
                break
            for number, row in last.items():
                mine = rows.setdefault(number, {})
                for taken, key in row.items():
                    old = mine.get(taken)
                    if old is None or key < old:
                        mine[taken] = key
        return rows, 0, 0

    def _merge(
        self, first: Rows, held1: int, second: Rows, held2: int, distance: int, room: int, others: list[int], most: int
    ) -> Rows:
        """Both together, without what cannot become an answer.

        `room`: what the held nodes in both can give; `others`: what each new node can give that is in neither.
        """
        count, new = self.count, self.new
        top = self._top(others)
        outside = self.held_room - room
        weight = self.weight * distance
        rows: Rows = {}
        for number1, row1 in first.items():
            for number2, row2 in second.items():
                number = number1 + number2
                if number > most:
                    continue
                least = count - top[new - number] - outside
                far = weight * (number1 + held1) * (number2 + held2)
                self.budget.spend(len(row1) * len(row2))
                row = rows.setdefault(number, {})
                for taken1, key1 in row1.items():
                    key1 += far
                    for taken2, key2 in row2.items():
                        taken = taken1 + taken2
                        if least <= taken <= count:
                            key = key1 + key2
                            old = row.get(taken)
                            if old is None or key < old:
                                row[taken] = key
                if not row:
                    del rows[number]
        return rows

    def _priced(self, vertex: Vertex, rows: Rows) -> Rows:
        """As `groups.priced`, for caches, packages and zones that are larger than a node."""
        one, order = self.one, self.one.order
        has = (one.held & vertex.mask).bit_count()
        free = (one.free & vertex.mask).bit_count()
        priced: Rows = {}
        for number, row in rows.items():
            mine: dict[int, int] = {}
            for taken, key in row.items():
                own = taken + has
                if own and vertex.package:
                    key += order.packages
                if own and vertex.llc:
                    if self.only and taken not in (0, self.only):
                        continue
                    key += order.llcs + order.left_llcs * (free - taken) + (0 if has else order.new_llcs)
                    if taken and taken == free:
                        key -= order.stay_llcs
                mine[taken] = key
            if mine:
                priced[number] = mine
        return priced
