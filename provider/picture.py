"""Draws a host as an SVG picture: packages, nodes, caches, cores and threads as boxes inside each other.

Decides where each box lies and how it looks; what is in what is `provider.outline`'s. Pure: the same topology
gives the same bytes. Sizes are in SVG user units (pixels, unless the picture is small: then it is enlarged).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from provider import cpuset
from provider.outline import Group, memory, nearest, outline, summary
from provider.topology import Topology

__all__ = ["picture"]

_CELL = (30, 20)
_GAP = 5
_PAD = 8
_CAPTION = 18
_CHARACTER = 7.1
"""Width of a character of a caption, generously: the picture cannot measure its font."""
_MARGIN = 20
_SMALLEST = 560

_STYLE = """
text{font-family:system-ui,"Segoe UI","DejaVu Sans",sans-serif;font-size:11px;fill:#1f2933}
.h{font-size:16px;font-weight:600}.s{font-size:12px;fill:#52606d}.b{font-weight:600}
.id{font-size:11px;text-anchor:middle}
.package{fill:#eef1f5;stroke:#7b8794}.node{fill:#dceafa;stroke:#4a7fb5}.die{fill:#ece6f6;stroke:#8a72b8}
.cache{fill:#fff4d6;stroke:#d0a020}.core{fill:#ffffff;stroke:#52606d}
.apart{fill:#dceafa;stroke:#4a7fb5;stroke-dasharray:5 3}
.cpu{fill:#9fd8b4}.performance{fill:#9fd8b4}.efficiency{fill:#b9d3f5}.between{fill:#d9d0f2}
.isolated{fill:url(#hatch);stroke:#b4530a;stroke-width:1.5}
.barred{fill:#c9ced6}.offline{fill:#fff;stroke:#9aa5b1;stroke-dasharray:3 2}
.dim{fill:#7b8794}
"""


@dataclass(slots=True)
class _Box:
    """A box with its size and what lies in it, each at a place relative to its corner."""

    width: float
    height: float
    group: Group | None = None
    core: int = 0
    caption: str = ""
    inner: list[tuple[float, float, _Box]] = field(default_factory=list)
    columns: int = 0
    """Of a grid: how many columns it has."""

    def stretch(self, width: float, height: float) -> None:
        """Makes a group's box, and what fills it, as wide and as high as its neighbours."""
        if self.group is not None:
            more_width, more_height = width - self.width, height - self.height
            self.width, self.height = width, height
            if len(self.inner) == 1:
                row = self.inner[0][2]
                row.stretch(row.width + more_width, row.height + more_height)
        elif self.inner and self.inner[0][2].group is not None:
            rows = len(self.inner) // self.columns
            if rows * self.columns != len(self.inner):
                return
            more_width, more_height = (width - self.width) / self.columns, (height - self.height) / rows
            self.width, self.height = width, height
            places = []
            for place, (x, y, box) in enumerate(self.inner):
                box.stretch(box.width + more_width, box.height + more_height)
                places.append((x + place % self.columns * more_width, y + place // self.columns * more_height, box))
            self.inner = places


def picture(topology: Topology, *, allowed: int | None = None, name: str = "") -> str:
    """The SVG document. CPUs outside `allowed` are greyed; `name` heads the picture."""
    drawing = _Drawing(topology, allowed)
    return drawing.document(name or "This host")


class _Drawing:
    def __init__(self, topology: Topology, allowed: int | None) -> None:
        self.topology = topology
        self.barred = topology.online & ~allowed if allowed is not None else 0
        self.outline = outline(topology)
        self.nodes = {node.id: node for node in topology.nodes}
        self.kind = {cpu: kind.name for kind in topology.kinds for cpu in cpuset.ids(kind.cpus)}
        self.parts: list[str] = []

    # --- sizes ---

    def box(self, group: Group) -> _Box:
        caption = self.caption(group)
        inner = [self.box(child) for child in group.groups]
        rows: list[_Box] = []
        run: list[_Box] = []
        for core in self.ordered(group.cores):
            own = self.core(core)
            if run and (run[-1].width, self.kind_of(run[-1].core)) != (own.width, self.kind_of(core)):
                rows.append(self.grid(run, 1.6))
                run = []
            run.append(own)
        if run:
            rows.append(self.grid(run, 1.6))
        if inner:
            rows.append(self.grid(inner, 1.7))
        frame = _PAD if group.sort != "host" else 0
        top = frame + (_CAPTION if caption else 0)
        width = max((row.width for row in rows), default=0)
        y = float(top)
        placed: list[tuple[float, float, _Box]] = []
        for row in rows:
            placed.append((frame, y, row))
            y += row.height + _GAP
        inside = max(width, len(caption) * _CHARACTER if caption else 0)
        for _, _, row in placed:
            row.stretch(inside, row.height)
        return _Box(
            width=inside + 2 * frame,
            height=y - _GAP + frame,
            group=group,
            caption=caption,
            inner=placed,
        )

    def ordered(self, cores: list[int]) -> list[int]:
        """Cores of one kind together, the most capable first."""
        rank = {kind.name: number for number, kind in enumerate(self.topology.kinds)}
        return sorted(cores, key=lambda core: (rank.get(self.kind_of(core), 0), cpuset.lowest(core)))

    def kind_of(self, core: int) -> str:
        return self.kind.get(cpuset.ids(cpuset.lowest(core))[0], "")

    def core(self, core: int) -> _Box:
        count = core.bit_count()
        columns = count if count <= 2 else 2 if count <= 4 else 4
        rows = -(-count // columns)
        return _Box(columns * (_CELL[0] + 2) + 4, rows * (_CELL[1] + 2) + 4, core=core)

    def grid(self, boxes: list[_Box], aspect: float) -> _Box:
        """The boxes in rows, in as many columns as bring width to height nearest to `aspect`."""
        best: _Box | None = None
        score = 0.0
        for columns in range(1, len(boxes) + 1):
            rows = [boxes[start : start + columns] for start in range(0, len(boxes), columns)]
            widths = [max(row[column].width for row in rows if column < len(row)) for column in range(columns)]
            heights = [max(box.height for box in row) for row in rows]
            width = sum(widths) + _GAP * (columns - 1)
            height = sum(heights) + _GAP * (len(rows) - 1)
            ratio = width / height / aspect
            # A last row that is not full looks like something missing.
            own = max(ratio, 1 / ratio) + (6 * (len(rows) * columns - len(boxes)) / len(boxes) if len(rows) > 1 else 0)
            if best is None or own < score:
                best, score = _Box(width, height, columns=columns), own
                y = 0.0
                for row, row_height in zip(rows, heights, strict=True):
                    x = 0.0
                    for box, column_width in zip(row, widths, strict=False):
                        best.inner.append((x, y, box))
                        x += column_width + _GAP
                    y += row_height + _GAP
        assert best is not None
        rows = [boxes[start : start + best.columns] for start in range(0, len(boxes), best.columns)]
        for row in rows:
            for column, box in enumerate(row):
                if box.group is not None:
                    width = max(other[column].width for other in rows if column < len(other))
                    box.stretch(width, max(other.height for other in row))
        return best

    def caption(self, group: Group) -> str:
        if group.sort == "host":
            return ""
        if group.sort == "cache":
            # A cache of one core says nothing by its number; its frame is enough.
            return f"LLC {group.number}" if group.groups or len(group.cores) > 1 else ""
        if group.sort == "node":
            node = self.nodes[group.number]
            size = "" if node.memory_bytes is None else f" · {memory(node.memory_bytes)}"
            return f"node {group.number}{size}{self.devices(group)}"
        return f"{group.sort} {group.number}" + ("" if group.sort == "die" else self.devices(group))

    def devices(self, group: Group) -> str:
        """The named devices whose local CPUs are these; each at its innermost node or package."""
        if group.sort == "package" and any(group.cpus == node.cpus for node in self.topology.nodes):
            return ""
        if group.cpus == self.topology.online and len(self.topology.nodes) > 1:
            return ""
        names = [
            name.partition(":")[2]
            for device in self.topology.devices
            if device.cpus == group.cpus
            for name in device.names
            if name.startswith("net:") or not name[-1].isdigit() or "nvme" in name
        ]
        shown = names[:4] + ([f"+{len(names) - 4}"] if len(names) > 4 else [])
        return f" · {' '.join(shown)}" if shown else ""

    # --- drawing ---

    def document(self, name: str) -> str:
        host = self.box(self.outline.host)
        head = 64
        lines = self.notes()
        bottom = _MARGIN + head + host.height
        apart_width, apart_height = self.apart(_MARGIN, bottom + 14)
        if apart_height:
            bottom += 14 + apart_height
        matrix_width, matrix_height = self.matrix(_MARGIN, bottom + 20)
        if matrix_height:
            bottom += 20 + matrix_height
        offline_width, offline_height = self.offline(_MARGIN, bottom + 16)
        if offline_height:
            bottom += 16 + offline_height
        legend_width, legend_height = self.legend(_MARGIN, bottom + 18)
        bottom += 18 + legend_height
        after = self.parts
        self.parts = []
        self.draw(host, _MARGIN, _MARGIN + head)
        body = self.parts
        texts = [name, summary(self.topology), *lines]
        width = max(
            host.width,
            apart_width,
            matrix_width,
            offline_width,
            legend_width,
            *(len(text) * 6.6 for text in texts[1:]),
            len(name) * 9.5,
        )
        self.parts = []
        self.text(_MARGIN, _MARGIN + 14, name, "h")
        self.text(_MARGIN, _MARGIN + 36, texts[1], "s")
        for number, line in enumerate(lines):
            self.text(_MARGIN, bottom + 18 + 16 * number, line, "s")
        bottom += 18 * bool(lines) + 16 * len(lines)
        width, height = width + 2 * _MARGIN, bottom + _MARGIN
        scale = max(1.0, min(2.0, _SMALLEST / width))
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:.0f}" height="{height * scale:.0f}"'
                f' viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
                f"<title>{escape(name)}: {escape(texts[1])}</title>",
                f"<style>{_STYLE}</style>",
                '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"'
                ' patternTransform="rotate(45)"><rect width="6" height="6" fill="#ffe1c2"/>'
                '<rect width="2" height="6" fill="#f5b26b"/></pattern></defs>',
                f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
                *self.parts,
                *body,
                *after,
                "</svg>\n",
            ]
        )

    def draw(self, box: _Box, x: float, y: float) -> None:
        group = box.group
        if group is not None and group.sort != "host":
            self.rectangle(x, y, box.width, box.height, group.sort, 6)
            if box.caption:
                self.text(x + _PAD, y + _PAD + 9, box.caption, "b")
        if box.core:
            self.draw_core(box, x, y)
        for left, top, inner in box.inner:
            self.draw(inner, x + left, y + top)

    def draw_core(self, box: _Box, x: float, y: float) -> None:
        self.rectangle(x, y, box.width, box.height, "core", 4)
        columns = round((box.width - 4) / (_CELL[0] + 2))
        for place, cpu in enumerate(cpuset.ids(box.core)):
            left = x + 3 + place % columns * (_CELL[0] + 2)
            top = y + 3 + place // columns * (_CELL[1] + 2)
            self.cell(left, top, str(cpu), self.look(cpu))

    def look(self, cpu: int) -> str:
        if self.barred >> cpu & 1:
            return "barred"
        if self.topology.isolated >> cpu & 1:
            return "isolated"
        kind = self.kind.get(cpu)
        return "cpu" if kind is None else "between" if kind.startswith("kind-") else kind

    def cell(self, x: float, y: float, text: str, look: str) -> None:
        self.rectangle(x, y, _CELL[0], _CELL[1], look, 3)
        self.text(x + _CELL[0] / 2, y + 14, text, "id")

    def apart(self, x: float, y: float) -> tuple[float, float]:
        """Nodes without CPUs, in rows below the host."""
        if not self.outline.apart:
            return 0, 0
        boxes = []
        for node in self.outline.apart:
            near, distance = nearest(self.topology, node)
            text = f"node {node.id} · {memory(node.memory_bytes)}"
            second = f"near node {cpuset.format_mask(cpuset.of(near))} ({distance})" if near else "no CPUs"
            boxes.append((text, second))
        width = max(len(text) for pair in boxes for text in pair) * _CHARACTER + 2 * _PAD
        columns = max(1, min(len(boxes), int(900 / (width + _GAP))))
        self.text(
            x,
            y + 10,
            "Memory without CPUs" if any(n.memory_bytes for n in self.outline.apart) else "Nodes without CPUs",
            "s",
        )
        for place, (text, second) in enumerate(boxes):
            left = x + place % columns * (width + _GAP)
            top = y + 18 + place // columns * (42 + _GAP)
            self.rectangle(left, top, width, 42, "apart", 6)
            self.text(left + _PAD, top + 17, text, "b")
            self.text(left + _PAD, top + 33, second, "dim")
        rows = -(-len(boxes) // columns)
        return columns * (width + _GAP), 18 + rows * (42 + _GAP)

    def matrix(self, x: float, y: float) -> tuple[float, float]:
        """Distances between nodes, darker for farther; numbers where they can be read."""
        nodes = self.topology.nodes
        if len(nodes) < 2:
            return 0, 0
        values = sorted({distance for node in nodes for distance in node.distances})
        self.text(x, y + 10, f"Distances between nodes ({values[0]} to {values[-1]})", "s")
        numbers = len(nodes) <= 24
        width, height = _CELL if numbers else (10, 10)
        left, top = x + 30, y + 36
        for row, node in enumerate(nodes):
            if numbers or row % 4 == 0:
                self.text(left - 6, top + row * height + height / 2 + 4, str(node.id), "dim", "end")
                self.text(left + row * width + width / 2, top - 5, str(node.id), "dim", "middle")
            for column, distance in enumerate(node.distances):
                shade = values.index(distance) / max(1, len(values) - 1)
                colour = f"rgb({round(235 - 150 * shade)},{round(243 - 115 * shade)},{round(252 - 70 * shade)})"
                here = (left + column * width, top + row * height)
                self.parts.append(
                    f'<rect x="{here[0]:g}" y="{here[1]:g}" width="{width - 1}" height="{height - 1}" fill="{colour}">'
                    f"<title>node {node.id} to node {nodes[column].id}: {distance}</title></rect>"
                )
                if numbers:
                    self.text(
                        here[0] + width / 2, here[1] + 14, str(distance), "id", fill="#fff" if shade > 0.7 else ""
                    )
        return 30 + len(nodes) * width, 36 + len(nodes) * height

    def offline(self, x: float, y: float) -> tuple[float, float]:
        members = cpuset.ids(self.topology.offline)
        if not members:
            return 0, 0
        self.text(x, y + 10, "Offline", "s")
        shown = members[:96]
        for place, cpu in enumerate(shown):
            self.cell(x + place % 24 * (_CELL[0] + 3), y + 18 + place // 24 * (_CELL[1] + 3), str(cpu), "offline")
        rows = -(-len(shown) // 24)
        height = 18 + rows * (_CELL[1] + 3)
        if len(members) > len(shown):
            self.text(x, y + height + 12, f"and {len(members) - len(shown)} more", "dim")
            height += 18
        return min(24, len(shown)) * (_CELL[0] + 3), height

    def legend(self, x: float, y: float) -> tuple[float, float]:
        """What the colours mean, for those that are in the picture."""
        sorts = {group.sort for group in self.outline.host.walk()}
        looks = {self.look(cpu) for cpu in cpuset.ids(self.topology.online)}
        names = {
            "package": "package",
            "node": "NUMA node",
            "die": "die",
            "cache": "last-level cache (LLC)",
            "core": "core",
            "cpu": "CPU (thread)",
            "performance": "performance CPU",
            "between": "CPU of a kind between",
            "efficiency": "efficiency CPU",
            "isolated": "isolated CPU",
            "barred": "not allowed to this process",
        }
        left, top, width = x, y, 0.0
        for look, word in names.items():
            if look in sorts or look in looks or look == "core":
                if left > x and left + 22 + len(word) * _CHARACTER > x + 760:
                    left, top = x, top + 20
                self.rectangle(left, top, 16, 12, look, 2)
                self.text(left + 21, top + 10, word, "s")
                left += 21 + len(word) * _CHARACTER + 18
                width = max(width, left - x)
        return width, top - y + 12

    def notes(self) -> list[str]:
        crossing = self.outline.crossing
        lines = []
        for group in crossing[:12]:
            sort = "LLC" if group.sort == "cache" else group.sort
            lines.append(f"{sort} {group.number} cuts across the boxes: CPUs {cpuset.format_mask(group.cpus)}")
        if len(crossing) > len(lines):
            lines.append(f"and {len(crossing) - len(lines)} more")
        return lines

    def rectangle(self, x: float, y: float, width: float, height: float, look: str, radius: int) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" class="{look}"/>'
        )

    def text(self, x: float, y: float, text: str, look: str, anchor: str = "", fill: str = "") -> None:
        more = (f' style="text-anchor:{anchor}"' if anchor else "") + (f' style="fill:{fill}"' if fill else "")
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{look}"{more}>{escape(text)}</text>')
