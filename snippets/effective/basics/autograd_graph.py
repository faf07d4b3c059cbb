"""Picture: the graph of g(u(x)), with what flows through it both ways (E1.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

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
    """Draw tensors above and the nodes of the graph under them, at x = 1.

    ``width`` is in inches; ``language`` is "en" or "zh". (E1.4)
    """
    from matplotlib.figure import Figure

    labels = LABELS[language]
    x = torch.tensor(1.0, requires_grad=True)
    known = flow(x)
    end = (-(x * x)).grad_fn
    assert end is not None
    accumulate, multiply, negate = reversed(walk(end))
    figure = Figure(figsize=(width, 1.95))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(1.95, 0)
    axes.text(0.06, 0.13, labels["forward"], size=8.5, va="center", color="C0")
    axes.text(0.06, 1.83, labels["backward"], size=8.5, va="center", color="C1")

    box = 1.02 if width < 5 else 1.4
    gap = (width - 0.12 - 3 * box) / 2
    first, second, third = (0.06 + place * (box + gap) for place in range(3))
    for left, text, name, node in (
        (first, "x", "x", accumulate),
        (second, "u = x * x", "u", multiply),
        (third, "g = -u", "g", negate),
    ):
        _box(axes, (left, 0.27), (box, 0.48), f"{text}\n{known[name][0]:g}", "C0")
        label = node.name().rpartition(":")[2]
        _box(axes, (left, 1.3), (box, 0.34), label, "C1")
    for left in (first, second):
        _arrow(axes, (left + box, 0.51), (left + box + gap, 0.51), "C0")

    middle = box / 2
    _arrow(axes, (third + middle, 0.75), (third + middle, 1.3), "C1")
    _label(axes, (third + middle + 0.07, 1.02), f"{known['g'][1]:g}", "left", "center")
    _arrow(axes, (third, 1.47), (second + box, 1.47), "C1")
    _label(axes, (third - gap / 2, 1.37), f"{known['u'][1]:g}", "center", "bottom")
    edges = len(multiply.next_functions)
    each = f"{known['x'][1] / edges:g}"
    for edge in range(edges):
        y = 1.41 + 0.12 * edge
        _arrow(axes, (second, y), (first + box, y), "C1")
    _label(axes, (second - gap / 2, 1.33), each, "center", "bottom")
    _label(axes, (second - gap / 2, 1.62), each, "center", "top")
    _arrow(axes, (first + middle, 1.3), (first + middle, 0.75), "C1")
    total = " + ".join([each] * edges) + f" = {known['x'][1]:g}"
    _label(axes, (first + middle + 0.07, 1.02), total, "left", "center")
    return figure


def _label(
    axes: Axes,
    place: tuple[float, float],
    text: str,
    across: Literal["left", "center"],
    down: Literal["top", "center", "bottom"],
) -> None:
    axes.text(*place, text, ha=across, va=down, size=9, color="C1")


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


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style)


if __name__ == "__main__":
    one = torch.tensor(1.0, requires_grad=True)
    for name, (value, gradient) in flow(one).items():
        print(f"{name} = {value:g}, dg/d{name} = {gradient:g}")
