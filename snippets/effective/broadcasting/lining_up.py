"""Picture: shapes line up from the right, and missing dims count as 1 (E3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shape = tuple[int, ...]

CASES: list[tuple[Shape, Shape]] = [
    ((3, 2), (3, 1)),
    ((4, 3), (3,)),
    ((8, 1, 6), (7, 1)),
    ((3, 2), (3, 4)),
    ((4, 3), (4,)),
    ((4, 1), (4,)),
]
LABELS = {
    "en": {
        "error": "error",
        "stretched": "1: stretched",
        "missing": "missing: counts as 1",
        "clash": "clash",
    },
    "zh": {
        "error": "报错",
        "stretched": "大小为 1：拉伸",
        "missing": "缺少的维度：按 1 处理",
        "clash": "冲突",
    },
}


def line_up(a: Shape, b: Shape) -> list[tuple[int | None, int | None]]:
    """Size in a and size in b, dim by dim, None where one has no such dim."""
    rank = max(len(a), len(b))
    pairs = []
    for dim in range(-rank, 0):
        m = a[dim] if len(a) >= -dim else None
        n = b[dim] if len(b) >= -dim else None
        pairs.append((m, n))
    return pairs


def result(a: Shape, b: Shape) -> Shape | None:
    """The shape of a + b, None where PyTorch refuses to add."""
    try:
        return tuple((torch.empty(a) + torch.empty(b)).shape)
    except RuntimeError:
        return None


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """Each case as three lines of boxes: a, b, and their sum's shape."""
    from matplotlib.figure import Figure

    narrow = width < 5
    across = 2 if narrow else 3
    down = len(CASES) // across
    wide, high, legend = width / across, 1.3, 0.62 if narrow else 0.3
    height = down * high + legend
    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    for number, (a, b) in enumerate(CASES):
        row, column = divmod(number, across)
        if narrow:
            column, row = divmod(number, down)
        right = column * wide + (1.68 if narrow else 1.8)
        _case(axes, a, b, right, row * high + 0.08, LABELS[language])
    _legend(axes, down * high + 0.1, narrow, LABELS[language])
    return figure


def _case(
    axes: Axes,
    a: Shape,
    b: Shape,
    right: float,
    top: float,
    labels: dict[str, str],
) -> None:
    columns = line_up(a, b)
    shape = result(a, b)
    for line, name in enumerate(("a", "b", "a + b")):
        axes.text(
            right - 1.14,
            top + 0.33 * line + 0.15 + (0.06 if line == 2 else 0),
            name,
            ha="right",
            va="center",
            size=9,
            family="monospace",
        )
    for place, (m, n) in enumerate(columns):
        clash = m != n and not {m, n} & {1, None}
        left = right - 0.35 * (len(columns) - place)
        size = None if shape is None else shape[place]
        for line, own in enumerate((m, n)):
            grows = own != size and size is not None
            kind = "clash" if clash else "stretched" if grows else "plain"
            _box(axes, left, top + 0.33 * line, own, kind)
        if size is not None:
            _box(axes, left, top + 0.72, size, "plain")
    rule = [right - 0.35 * len(columns), right - 0.04]
    axes.plot(rule, [top + 0.675] * 2, color="grey", lw=1)
    if shape is None:
        corner = (right - 0.04, top + 0.87)
        axes.text(*corner, labels["error"], color="C3", size=9, ha="right", va="center")


def _box(axes: Axes, left: float, top: float, size: int | None, kind: str) -> None:
    wide, high = 0.31, 0.28
    _outline(axes, (left, top), wide, high, "missing" if size is None else kind)
    axes.text(
        left + wide / 2,
        top + high / 2 + 0.01,
        str(size or 1),
        ha="center",
        va="center",
        size=9,
        color="grey" if size is None else "black",
    )


def _outline(
    axes: Axes,
    corner: tuple[float, float],
    wide: float,
    high: float,
    kind: str,
) -> None:
    from matplotlib.patches import Rectangle

    if kind == "missing":
        box = Rectangle(corner, wide, high, fill=False, edgecolor="grey", ls=":")
        axes.add_patch(box)
        return
    colour = {"plain": "C0", "stretched": "C1", "clash": "C3"}[kind]
    axes.add_patch(Rectangle(corner, wide, high, facecolor=colour, alpha=0.2))
    axes.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=colour))


def _legend(axes: Axes, top: float, narrow: bool, labels: dict[str, str]) -> None:
    places = {
        "stretched": (0.12, top),
        "missing": (0.12, top + 0.3) if narrow else (2.0, top),
        "clash": (2.2 if narrow else 4.5, top),
    }
    for kind, (left, y) in places.items():
        _outline(axes, (left, y), 0.2, 0.16, kind)
        axes.text(left + 0.27, y + 0.09, labels[kind], size=8.5, va="center")


if __name__ == "__main__":
    for a, b in CASES:
        print(a, "+", b, "→", result(a, b))
