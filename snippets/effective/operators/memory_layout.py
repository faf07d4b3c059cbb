"""Picture: a slice is a start and strides over the same memory (E4.1)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELS = {
    "en": {
        "view": "offset {offset}, stride {stride}",
        "copy": "new memory, stride {stride}",
    },
    "zh": {
        "view": "偏移 {offset}，步幅 {stride}",
        "copy": "新内存，步幅 {stride}",
    },
}


# --8<-- [start:views]
def examples(x: Tensor) -> dict[str, Tensor]:
    """What the picture shows of a matrix x of shape (3, 4)."""
    return {
        "x": x,
        "x[1]": x[1],
        "x[:, 1]": x[:, 1],
        "x[:2, ::3]": x[:2, ::3],
        "x[[0, 2]]": x[[0, 2]],
    }


# --8<-- [end:views]


def addresses(view: Tensor) -> list[int]:
    """Places in memory, in elements, in the order in which `view` reads them."""
    places = [int(view.storage_offset())]
    for size, stride in zip(view.shape, view.stride(), strict=True):
        places = [place + i * stride for place in places for i in range(size)]
    return places


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """The strip of memory, and which cells each example reads in which order."""
    from matplotlib.figure import Figure

    x = torch.arange(12).reshape(3, 4)
    shown = examples(x)
    narrow = width < 5
    # one unit is one inch, y grows downwards
    pitch = 0.72 if narrow else 0.56
    left = 0.06 if narrow else 1.1
    cell = (width - 0.12) / 12 if narrow else 0.31
    right = width - 0.06 if narrow else left + 12 * cell + 0.18
    height = pitch * len(shown) + 0.08
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    for place, (text, view) in enumerate(shown.items()):
        shared = view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        label = LABELS[language]["view" if shared else "copy"].format(
            offset=view.storage_offset(),
            stride=tuple(view.stride()),
        )
        top = place * pitch + pitch - 0.28
        middle = place * pitch + 0.22 if narrow else top + 0.14
        side = "right" if narrow else "left"
        axes.text(0.06, middle, text, va="center", size=9, family="monospace")
        axes.text(right, middle, label, va="center", ha=side, size=8.5)
        _strip(axes, view, left, top, cell, "C0" if shared else "C1")
    return figure


def _strip(
    axes: Axes,
    view: Tensor,
    left: float,
    top: float,
    cell: float,
    colour: str,
) -> None:
    from matplotlib.patches import Arc, Rectangle

    high = 0.26
    places = addresses(view)
    memory = view.new_empty(0).set_(view.untyped_storage())
    for i, value in enumerate(memory.tolist()):
        read = i in places
        corner = (left + i * cell, top)
        if read:
            fill = Rectangle(corner, cell, high, facecolor=colour, alpha=0.25)
            axes.add_patch(fill)
        axes.add_patch(Rectangle(corner, cell, high, fill=False, edgecolor="grey"))
        axes.text(
            left + (i + 0.5) * cell,
            top + high / 2 + 0.01,
            str(value),
            ha="center",
            va="center",
            size=9,
            color="black" if read else "grey",
        )
    for here, there in itertools.pairwise(places):
        centre = (left + (here + there + 1) / 2 * cell, top)
        reach = abs(there - here) * cell
        axes.add_patch(Arc(centre, reach, 0.16, theta1=180, color=colour, lw=1.2))


if __name__ == "__main__":
    for text, view in examples(torch.arange(12).reshape(3, 4)).items():
        print(f"{text:<11}{addresses(view)!s:<42}{tuple(view.stride())}")
