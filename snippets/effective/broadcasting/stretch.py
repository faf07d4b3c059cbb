"""Picture: what is added to what, with and without an accident (E3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "en": {
        "shapes": "{a} + {b} gives {c}",
        "sum": "sum {total}",
        "ghost": "read again, never stored",
    },
    "zh": {
        "shapes": "{a} + {b} 得到 {c}",
        "sum": "总和 {total}",
        "ghost": "重复读取，并未存储",
    },
}


# --8<-- [start:examples]
def examples() -> list[tuple[Tensor, Tensor]]:
    """What was meant, and what was written."""
    a, b = torch.tensor([[1], [2]]), torch.tensor([1, 2])
    return [(a.squeeze(1), b), (a, b)]


# --8<-- [end:examples]


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """Both operands as grids of the result's shape; repeated cells dotted."""
    from matplotlib.figure import Figure

    labels = LABELS[language]
    narrow = width < 5
    cell = 0.4
    pitch = 3 * cell if narrow else 1.3
    left = 0.1 if narrow else 0.15
    starts, height = [], 0.1
    for a, b in examples():
        starts.append(height)
        height += 0.56 + cell * (a + b).ndim
    height += 0.22
    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    for y, (a, b) in zip(starts, examples(), strict=True):
        c = a + b
        text = labels["shapes"].format(a=tuple(a.shape), b=tuple(b.shape), c=tuple(c.shape))
        axes.text(left, y + 0.08, text, size=9, va="center")
        body = y + 0.26
        middle = body + cell * c.ndim / 2
        for place, (grid, sign) in enumerate(((a, "+"), (b, "="), (c, ""))):
            x = left + place * pitch
            _grid(axes, grid, c, x, body, cell, "C2" if place == 2 else "C0")
            between = x + cell * 2 + (pitch - cell * 2) / 2
            axes.text(between, middle, sign, size=11, ha="center", va="center")
        total = labels["sum"].format(total=int(c.sum()))
        end = left + 2 * pitch + cell * 2
        if narrow:
            axes.text(end, y + 0.08, total, size=9, ha="right", va="center", weight="bold")
        else:
            axes.text(end + 0.3, middle, total, size=10, va="center", weight="bold")
    _ghost_key(axes, left, height - 0.26, labels["ghost"])
    return figure


def _grid(
    axes: Axes,
    own: Tensor,
    full: Tensor,
    left: float,
    top: float,
    cell: float,
    colour: str,
) -> None:
    from matplotlib.patches import Rectangle

    shown = own.expand(full.shape)
    stored = torch.zeros(full.shape, dtype=torch.bool)
    grown = [1] * (full.ndim - own.ndim) + list(own.shape)
    stored[tuple(slice(0, size) for size in grown)] = True
    wide = full.shape[-1]
    for i, (value, real) in enumerate(
        zip(shown.flatten().tolist(), stored.flatten().tolist(), strict=True)
    ):
        corner = (left + i % wide * cell, top + i // wide * cell)
        if real:
            axes.add_patch(Rectangle(corner, cell, cell, facecolor=colour, alpha=0.2))
        edge = colour if real else "grey"
        style = "-" if real else ":"
        axes.add_patch(Rectangle(corner, cell, cell, fill=False, edgecolor=edge, ls=style))
        axes.text(
            corner[0] + cell / 2,
            corner[1] + cell / 2 + 0.01,
            str(value),
            ha="center",
            va="center",
            size=10,
            color="black" if real else "grey",
        )


def _ghost_key(axes: Axes, left: float, top: float, text: str) -> None:
    from matplotlib.patches import Rectangle

    box = Rectangle((left, top), 0.2, 0.16, fill=False, edgecolor="grey", ls=":")
    axes.add_patch(box)
    axes.text(left + 0.28, top + 0.09, text, size=8.5, va="center")


if __name__ == "__main__":
    for a, b in examples():
        print(tuple(a.shape), tuple(b.shape), (a + b).tolist(), int((a + b).sum()))
