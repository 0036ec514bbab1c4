"""The best choice in one group of CPUs, for every number of CPUs taken there.

Decides the tables of caches, of nodes and of whatever lies inside a node; the searches add them up. A table depends on
the group's shape and on which of its CPUs are free, not on where in the machine the group lies: it is kept in that
form, so that equal groups, and groups that did not change since the last request, are worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass

from provider.allocator.order import Order
from provider.allocator.tables import Tables, Vertex

__all__ = ["MAX_MEMO", "Choice", "group_table"]

MAX_MEMO = 2_000_000
"""How many tables are kept for one order of preference on one host, times the bits of a key: about 10 MB."""

Keys = list[int | None]
"""By number of CPUs taken: the best key; None where no choice has that number."""


@dataclass(slots=True)
class Choice:
    """What may be chosen, and by which order; the part of a problem that tables depend on."""

    tables: Tables
    order: Order
    choice: int
    held: int
    free: int
    local: int
    whole: bool
    units: bool
    only: int = 0
    """If not 0, every cache gives so many CPUs or none: for sets that have to be in one cache."""


def group_table(one: Choice, vertex: Vertex) -> Keys:
    """The best key for each number of CPUs taken in a group that lies inside one node, its own price included."""
    low = vertex.low
    mask = vertex.mask
    choice = one.choice & mask
    memo = one.tables.memo_of(one.order)
    key = (
        vertex.shape,
        choice >> low,
        (one.free & mask) >> low,
        (one.held & mask) >> low,
        (one.local & mask) >> low,
        one.whole,
        one.units,
        one.only,
    )
    found = memo.get(key)
    if found is None:
        table = _leaf(one, vertex, choice) if not vertex.children else _inner(one, vertex)
        if one.only and vertex.llc:
            table = [key if n in (0, one.only) else None for n, key in enumerate(table)]
        table = priced(one, vertex, table)
        if len(memo) * (one.order.width + 512) >= MAX_MEMO:
            memo.clear()
        width = (1 << one.order.width) - 1
        memo[key] = [None if k is None else (k + (-k & width), (-k & width) << low) for k in table]
        return table
    if low:
        return [None if entry is None else entry[0] - (entry[1] >> low) for entry in found]
    return [None if entry is None else entry[0] - entry[1] for entry in found]


def _inner(one: Choice, vertex: Vertex) -> Keys:
    table: Keys = [0]
    there = one.choice | one.held
    for child in vertex.children:
        if there & child.mask:
            table = add(table, group_table(one, child))
    return table


def add(first: Keys, second: Keys) -> Keys:
    """The table of two groups together."""
    if len(first) == 1 and first[0] == 0:
        return second
    size = len(first) + len(second) - 1
    table: Keys = [None] * size
    for taken, key in enumerate(first):
        if key is None:
            continue
        position = taken
        for other in second:
            if other is not None:
                total = key + other
                old = table[position]
                if old is None or total < old:
                    table[position] = total
            position += 1
    return table


def priced(one: Choice, vertex: Vertex, table: Keys) -> Keys:
    """Add what it costs that this group is used, and what it saves that nothing of it stays free."""
    order = one.order
    has = (one.held & vertex.mask).bit_count()
    free = (one.free & vertex.mask).bit_count()
    used = left = squares = saved = 0
    if vertex.node >= 0:
        used += order.nodes + (0 if has else order.new_nodes)
        left += order.left_nodes
        squares += order.sos_node
        saved += order.stay_nodes
    if vertex.llc:
        used += order.llcs + (0 if has else order.new_llcs)
        left += order.left_llcs
        squares += order.sos_llc
        saved += order.stay_llcs
    if vertex.package:
        used += order.packages
    if vertex.zone is not None:
        squares += order.sos_zone
    if not (used or left or squares or saved):
        return table
    result: Keys = []
    if not squares and not has:
        price = used + left * free
        for key in table:
            result.append(None if key is None else key + price)
            price -= left
        result[0] = table[0]
        if free == len(table) - 1 and free and (last := result[-1]) is not None:
            result[-1] = last - saved
        return result
    for taken, key in enumerate(table):
        if key is not None:
            own = taken + has
            if own:
                key += used + left * (free - taken) + squares * own * own
                if taken == free:
                    key -= saved if taken else 0
        result.append(key)
    return result


def _leaf(one: Choice, leaf: Vertex, choice: int) -> Keys:
    delta = leaf.delta
    if delta and not one.held & leaf.mask and one.free & leaf.mask == choice and not one.order.sos_core:
        local = choice & one.local
        if not local or local == choice:
            quick = _pairs(one, leaf, choice, delta)
            if quick is not None:
                near = one.order.local if local else 0
                return [None if k is None else k - near * n for n, k in enumerate(quick)] if near else quick
    table: Keys = [0]
    for core in leaf.cores:
        part = core & leaf.mask
        available = one.choice & part
        held = one.held & part
        if not available and not held:
            continue
        options = core_options(one, core, available, held, (one.free & part).bit_count())
        merged: Keys = [None] * (len(table) + options[-1][0])
        for taken, key in enumerate(table):
            if key is None:
                continue
            for more, other in options:
                total = key + other
                old = merged[taken + more]
                if old is None or total < old:
                    merged[taken + more] = total
        table = merged
    return table


def core_options(one: Choice, core: int, choice: int, held: int, free: int) -> list[tuple[int, int]]:
    """(CPUs taken of this core, key), ascending; local ones first, then the lowest."""
    order = one.order
    bit = one.tables.bit
    width = core.bit_count()
    size = choice.bit_count()
    has = held.bit_count()
    if one.whole and choice | held != core and not one.units:
        size = 0
    key = order.sos_core * has * has
    if has:
        key += order.touched
        if has == width:
            key -= order.whole * has
    options = [(0, key)]
    was_broken = 0 < free < width
    ids = near = 0
    rest, other = choice & one.local, choice & ~one.local
    for taken in range(1, size + 1):
        if not rest:
            rest, other = other, 0
        cpu = rest & -rest
        rest ^= cpu
        ids += bit[cpu]
        if cpu & one.local:
            near += 1
        if one.whole and taken < size:
            continue
        own = has + taken
        key = order.touched + order.sos_core * own * own - order.local * near - ids
        if own == width:
            key -= order.whole * own
        # Told as a change, so that keys under different choices compare.
        key += order.broken * ((0 < free - taken < width) - was_broken)
        options.append((taken, key))
    return options


def _pairs(one: Choice, leaf: Vertex, choice: int, delta: int) -> Keys | None:
    """The table of a leaf whose cores have one thread, or two threads `delta` ids apart, by arithmetic.

    Given a number, the steps fix how many whole cores, single-thread cores and parts of cores are taken; of each sort
    the lowest ids. None where two mixes tie in every step, which the general way has to decide.
    """
    order = one.order
    bit = one.tables.bit
    lows = choice & (choice >> delta) & leaf.firsts
    pairs = lows | lows << delta
    rest = choice & ~pairs
    ones = rest & leaf.singles
    parts = rest & ~leaf.singles
    siblings = bool(order.touched)
    if not siblings and ones:
        return None
    whole_sum, first_sum, seconds = [0], [0], []
    while lows:
        cpu = lows & -lows
        lows ^= cpu
        first, second = bit[cpu], bit[cpu << delta]
        first_sum.append(first_sum[-1] + first)
        whole_sum.append(whole_sum[-1] + first + second)
        seconds.append(second)
    one_sum = _sums(ones, bit)
    if one.whole:
        return _only_whole(order, whole_sum, one_sum)
    part_sum = _sums(parts, bit)
    if siblings:
        return _whole_first(order, whole_sum, seconds, one_sum, part_sum)
    return _parts_first(order, whole_sum, seconds, part_sum)


def _sums(mask: int, bit: dict[int, int]) -> list[int]:
    sums = [0]
    total = 0
    while mask:
        cpu = mask & -mask
        mask ^= cpu
        total += bit[cpu]
        sums.append(total)
    return sums


def _only_whole(order: Order, whole_sum: list[int], one_sum: list[int]) -> Keys:
    most, singles = len(whole_sum) - 1, len(one_sum) - 1
    table: Keys = []
    for taken in range(2 * most + singles + 1):
        cores = min(most, taken // 2)
        rest = taken - 2 * cores
        if rest > singles:
            table.append(None)
            continue
        table.append(order.touched * (cores + rest) - order.whole * taken - whole_sum[cores] - one_sum[rest])
    return table


def _whole_first(
    order: Order, whole_sum: list[int], seconds: list[int], one_sum: list[int], part_sum: list[int]
) -> Keys:
    most, singles, parts = len(whole_sum) - 1, len(one_sum) - 1, len(part_sum) - 1
    table: Keys = []
    least = 0
    for taken in range(2 * most + singles + parts + 1):
        cores = min(most, taken // 2)
        rest = taken - 2 * cores
        single = min(singles, rest)
        rest -= single
        own = 2 * cores + single
        if rest <= parts:
            key = order.touched * (cores + single + rest) - order.broken * rest - part_sum[rest] - whole_sum[cores]
        else:
            # One thread of one more core: of the first cores the one whose second thread has the highest id.
            if cores:
                least = min(seconds[: cores + 1])
            else:
                least = seconds[0]
            key = order.touched * (cores + single + 1) + order.broken - whole_sum[cores + 1] + least
        table.append(key - order.whole * own - one_sum[single])
    return table


def _parts_first(order: Order, whole_sum: list[int], seconds: list[int], part_sum: list[int]) -> Keys:
    most, parts = len(whole_sum) - 1, len(part_sum) - 1
    table: Keys = []
    for taken in range(2 * most + parts + 1):
        used = min(parts, taken)
        rest = taken - used
        cores = rest // 2
        if rest % 2 == 0:
            table.append(-order.broken * used - part_sum[used] - whole_sum[cores])
            continue
        # One core more is broken, or one part of a core fewer is used up: the steps are the same, the ids decide.
        best: int | None = None
        if cores < most:
            least = min(seconds[: cores + 1])
            best = -order.broken * (used - 1) - part_sum[used] - whole_sum[cores + 1] + least
            if used:
                other = -order.broken * (used - 1) - part_sum[used - 1] - whole_sum[cores + 1]
                best = min(best, other)
        table.append(best)
    return table
