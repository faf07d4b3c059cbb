"""Picture: flat indexing, and where an index out of range lands (E5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INDEX = [[2, 0], [1, 1]]
ROWS = 3  # in each of x[0] and x[1]
WRONG = (0, 3)  # a batch element, and an index that is too large for it

LABELS = {
    "en": {"wrong": "index 3 of x[0]: a row of x[1], and no error"},
    "zh": {"wrong": "x[0] 的索引 3：取到 x[1] 的行，且不报错"},
}


def flat(b: int, index: int) -> int:
    """The row of x.flatten(0, 1) that x[b, index] is."""
    return index + b * ROWS


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """The indices above, the rows of x below, an arrow from each index to its row."""
    from matplotlib.figure import Figure

    high, top, bottom = 0.3, 0.3, 1.42
    height = bottom + high + 0.68
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)

    count = len(INDEX) * ROWS
    cell = min(0.95, (width - 0.12) / count)
    left = (width - count * cell) / 2

    def centre(row: int) -> float:
        return left + (row + 0.5) * cell

    axes.text(left, top - 0.07, "index[b] + b * N", size=9, family="monospace")
    axes.text(left, bottom + high + 0.32, "x.flatten(0, 1)", size=9, family="monospace")
    for row in range(count):
        b, n = divmod(row, ROWS)
        _box(axes, centre(row), bottom, cell, high, f"x[{b}, {n}]", f"C{b}")
        axes.text(centre(row), bottom + high + 0.14, str(row), ha="center", size=8, color="grey")
    for b, picks in enumerate(INDEX):
        for k, index in enumerate(picks):
            at = centre(b * ROWS) + k * cell
            text = f"{index} + {b * ROWS}"
            _box(axes, at, top, cell, high, text, f"C{b}")
            _arrow(axes, (at, top + high), (centre(flat(b, index)), bottom), f"C{b}")
    b, index = WRONG
    at = centre(b * ROWS) + len(INDEX[b]) * cell
    _box(axes, at, top, cell, high, f"{index} + {b * ROWS}", "C3", dashed=True)
    _arrow(axes, (at, top + high), (centre(flat(b, index)), bottom), "C3", dashed=True)
    axes.text(
        width / 2,
        bottom + high + 0.56,
        LABELS[language]["wrong"],
        ha="center",
        size=9,
        color="C3",
    )
    return figure


def _box(
    axes: Axes,
    middle: float,
    top: float,
    wide: float,
    high: float,
    text: str,
    colour: str,
    dashed: bool = False,
) -> None:
    from matplotlib.patches import Rectangle

    corner = (middle - wide / 2, top)
    style = "--" if dashed else "-"
    if not dashed:
        axes.add_patch(Rectangle(corner, wide, high, facecolor=colour, alpha=0.25))
    axes.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=colour, linestyle=style))
    axes.text(
        middle, top + high / 2 + 0.01, text, ha="center", va="center", size=8.5, color="black"
    )


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    dashed: bool = False,
) -> None:
    axes.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "->",
            "color": colour,
            "linestyle": "--" if dashed else "-",
            "shrinkA": 2,
            "shrinkB": 2,
        },
    )


if __name__ == "__main__":
    for b, picks in enumerate(INDEX):
        for index in picks:
            print(f"x[{b}, {index}] is row {flat(b, index)} of x.flatten(0, 1)")
