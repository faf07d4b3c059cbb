"""Picture: which rank and which worker reads which item (E6.5, E6.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH, BATCH, RANKS, WORKERS = 29, 4, 2, 2
LABELS = {
    "en": {
        "rank": "rank {number}",
        "worker": "worker {number}",
        "filler": "filler, valid = False",
        "batch": "batch {number}",
    },
    "zh": {
        "rank": "rank {number}",
        "worker": "工作进程 {number}",
        "filler": "补位，valid = False",
        "batch": "批次 {number}",
    },
}


def batches(rank: int) -> list[list[int]]:
    """The items of each batch of a rank, in order, without filler."""
    step = BATCH * RANKS
    chunks = [np.arange(LENGTH)[start : start + step] for start in range(0, LENGTH, step)]
    return [np.array_split(chunk, RANKS)[rank].tolist() for chunk in chunks]


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """A row of batches for each rank; the colour tells the worker."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch, Rectangle

    labels = LABELS[language]
    narrow = width < 5
    left, top, high = (0.06, 0.3, 0.3) if narrow else (0.75, 0.3, 0.32)
    gap = 0.07 if narrow else 0.12
    steps = len(batches(0))
    cell = (width - left - 0.06 - gap * (steps - 1)) / (steps * BATCH)
    pitch = high + (0.34 if narrow else 0.14)
    height = top + pitch * RANKS + (0.05 if narrow else 0) + 0.35
    # one unit is one inch, y grows downwards
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    small = 6.5 if narrow else 8.5
    for rank in range(RANKS):
        y = top + pitch * rank + (0.24 if narrow else 0)
        text = labels["rank"].format(number=rank)
        if narrow:
            axes.text(left, y - 0.12, text, va="center", size=8.5)
        else:
            axes.text(0.06, y + high / 2, text, va="center", size=8.5)
        for step, items in enumerate(batches(rank)):
            x = left + step * (BATCH * cell + gap)
            if rank == 0:
                axes.text(
                    x + BATCH * cell / 2,
                    0.14,
                    labels["batch"].format(number=step),
                    ha="center",
                    va="center",
                    size=7 if narrow else 8.5,
                    color="grey",
                )
            for place in range(BATCH):
                real = place < len(items)
                corner = (x + place * cell, y)
                style = {"facecolor": f"C{step % WORKERS}", "alpha": 0.3}
                if real:
                    axes.add_patch(Rectangle(corner, cell, high, **style))  # type: ignore[arg-type]
                axes.add_patch(Rectangle(corner, cell, high, fill=False, edgecolor="grey", lw=0.6))
                axes.text(
                    corner[0] + cell / 2,
                    y + high / 2 + 0.01,
                    str(items[place]) if real else "×",
                    ha="center",
                    va="center",
                    size=small,
                    color="black" if real else "grey",
                )
    handles = [
        Patch(facecolor=f"C{worker}", alpha=0.3, label=labels["worker"].format(number=worker))
        for worker in range(WORKERS)
    ]
    handles.append(Patch(fill=False, edgecolor="grey", label=f"× {labels['filler']}"))
    axes.legend(
        handles=handles,
        loc="lower center",
        ncols=3,
        frameon=False,
        fontsize=7 if narrow else 8.5,
        handlelength=1,
        columnspacing=1,
        borderaxespad=0.1,
    )
    return figure


if __name__ == "__main__":
    for rank in range(RANKS):
        print("rank", rank, batches(rank))
