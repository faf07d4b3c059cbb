"""Picture: how a tar lies on disk, and what its index holds (E6.6)."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILES = {"a.jpg": 700, "b.jpg": 400, "c.jpg": 1100}  # name: bytes
BLOCK = 512
LABELS: dict[str, dict[str, str]] = {
    "en": {
        "header": "header",
        "data": "data",
        "end": "end mark",
        "columns": "name offset size",
        "blocks": "blocks of 512 bytes",
    },
    "zh": {
        "header": "文件头",
        "data": "数据",
        "end": "结束标记",
        "columns": "文件名 偏移 大小",
        "blocks": "每格 512 字节",
    },
}


def make_tar() -> bytes:
    """A tar of FILES, without the zeros that fill up its last record."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, size in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = size
            tar.addfile(member, io.BytesIO(b"\xff" * size))
        end = tar.offset + 2 * BLOCK
    return buffer.getvalue()[:end]


def index(data: bytes) -> list[tuple[str, int, int]]:
    """Name, offset and size of each member of a tar."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(m.name, m.offset_data, m.size) for m in tar]


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """The blocks of the tar in a row, and below them the rows of its index."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    labels = LABELS[language]
    data = make_tar()
    rows = index(data)
    narrow = width < 5
    # one unit is one inch, y grows downwards
    cell = (width - 0.12) * BLOCK / len(data)
    top, high, line = 0.42, 0.42, 0.24
    height = top + high + 0.45 + line * (len(rows) + 1)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)

    def place(byte: int) -> float:
        return 0.06 + byte / BLOCK * cell

    def box(start: int, end: int, colour: str, alpha: float) -> None:
        corner = (place(start), top)
        size = place(end) - place(start)
        axes.add_patch(Rectangle(corner, size, high, facecolor=colour, alpha=alpha))

    def write(x: float, y: float, text: str, **style: object) -> None:
        fixed = {"va": "center", "size": 8.5, **style}
        axes.text(x, y, text, **fixed)  # type: ignore[arg-type]

    table = (0.06, 1.0, 1.75) if narrow else (1.9, 2.9, 3.7)
    first = top + high + 0.5
    for x, text in zip(table, labels["columns"].split(), strict=True):
        write(x, first, text, color="grey")
    for number, (name, offset, size) in enumerate(rows):
        colour = f"C{number}"
        box(offset - BLOCK, offset, "grey", 0.3)
        box(offset, offset + size, colour, 0.35)
        middle = (place(offset) + place(offset + size)) / 2
        write(middle, top + high / 2, name, ha="center", family="monospace")
        y = first + line * (number + 1)
        for x, value in zip(table, (name, offset, size), strict=True):
            write(x, y, str(value), color=colour, family="monospace")
        axes.plot([place(offset)] * 2, [top + high, top + high + 0.1], color=colour)
        write(place(offset), top + high + 0.2, str(offset), color=colour, ha="center")
    end = rows[-1][1] + -(-rows[-1][2] // BLOCK) * BLOCK
    for start in range(0, len(data), BLOCK):
        corner = (place(start), top)
        axes.add_patch(Rectangle(corner, cell, high, fill=False, edgecolor="grey", lw=0.6))
    write(0.06, 0.2, labels["header"] if not narrow else labels["blocks"], color="grey")
    if not narrow:
        write(place(len(data)) - 0.02, 0.2, labels["blocks"], color="grey", ha="right")
    write(place(end) + cell, top + high / 2, "0 0", color="grey", ha="center")
    write(place(end) + cell, top + high + 0.2, labels["end"], color="grey", ha="center")
    return figure


if __name__ == "__main__":
    for name, offset, size in index(make_tar()):
        print(f"{name} {offset:>6} {size:>6}")
