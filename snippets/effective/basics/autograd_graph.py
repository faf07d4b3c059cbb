"""Picture: the graph of g(u(x)), with what flows through it both ways (E1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

# --8<-- [start:imports]
import torch
from torch.autograd.graph import Node

# --8<-- [end:imports]

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

LABELS = {
    "en": {"forward": "forward: values", "backward": "backward: gradients"},
    "zh": {"forward": "前向：数值", "backward": "反向：梯度"},
}


# --8<-- [start:walk]
def walk(node: Node) -> list[Node]:
    """The nodes of a graph from ``node`` to the leaves, each once. (E1.4)"""
    seen = [node]
    for each in seen:
        for child, _ in each.next_functions:
            if child is not None and child not in seen:
                seen.append(child)
    return seen


# --8<-- [end:walk]


def flow(x: Tensor) -> dict[str, tuple[float, float]]:
    """Value and gradient of x, u = x * x and g = -u, by name; x holds one number."""
    gradients = {}
    u = x * x
    g = -u
    for name, tensor in {"x": x, "u": u, "g": g}.items():
        tensor.register_hook(lambda d, name=name: gradients.update({name: d.item()}))
    torch.autograd.grad(g, x)
    values = {"x": x.item(), "u": u.item(), "g": g.item()}
    return {name: (value, gradients[name]) for name, value in values.items()}


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """Tensors above, the nodes of the graph under them, at x = 1."""
    from matplotlib.figure import Figure

    labels = LABELS[language]
    x = torch.tensor(1.0, requires_grad=True)
    known = flow(x)
    nodes = [node.name().rsplit("::")[-1] for node in walk((-(x * x)).grad_fn)][::-1]
    height = 1.95
    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    box = 1.02 if width < 5 else 1.4
    gap = (width - 0.12 - 3 * box) / 2
    lefts = [0.06 + place * (box + gap) for place in range(3)]
    formulas = {"x": "x", "u": "u = x * x", "g": "g = -u"}
    axes.text(0.06, 0.13, labels["forward"], size=8.5, va="center", color="C0")
    axes.text(0.06, 1.83, labels["backward"], size=8.5, va="center", color="C1")
    for left, (name, (value, _)), node in zip(lefts, known.items(), nodes, strict=True):
        text = f"{formulas[name]}\n{value:g}"
        _box(axes, (left, 0.27), (box, 0.48), text, "C0")
        _box(axes, (left, 1.3), (box, 0.34), node, "C1")
    for place in range(2):
        start, end = lefts[place] + box, lefts[place + 1]
        _arrow(axes, (start, 0.51), (end, 0.51), "C0")
    _arrow(axes, (lefts[2] + box / 2, 0.75), (lefts[2] + box / 2, 1.3), "C1")
    _arrow(axes, (lefts[2], 1.47), (lefts[1] + box, 1.47), "C1")
    for y in (1.41, 1.53):
        _arrow(axes, (lefts[1], y), (lefts[0] + box, y), "C1")
    _arrow(axes, (lefts[0] + box / 2, 1.3), (lefts[0] + box / 2, 0.75), "C1")
    side = {"size": 9, "color": "C1"}
    axes.text(lefts[2] + box / 2 + 0.07, 1.02, f"{known['g'][1]:g}", va="center", **side)
    middle = lefts[1] + box + gap / 2
    axes.text(middle, 1.37, f"{known['u'][1]:g}", ha="center", va="bottom", **side)
    middle = lefts[0] + box + gap / 2
    each = known["u"][1] * known["x"][0]
    axes.text(middle, 1.33, f"{each:g}", ha="center", va="bottom", **side)
    axes.text(middle, 1.62, f"{each:g}", ha="center", va="top", **side)
    total = f"{each:g} + {each:g} = {known['x'][1]:g}"
    axes.text(lefts[0] + box / 2 + 0.07, 1.02, total, va="center", **side)
    return figure


def _box(
    axes: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    text: str,
    colour: str,
) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(corner, *size, facecolor=colour, alpha=0.15))
    axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=colour))
    centre = (corner[0] + size[0] / 2, corner[1] + size[1] / 2)
    axes.text(*centre, text, ha="center", va="center", size=8.5)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style)


if __name__ == "__main__":
    one = torch.tensor(1.0, requires_grad=True)
    for name, (value, gradient) in flow(one).items():
        print(f"{name} = {value:g}, dg/d{name} = {gradient:g}")
