"""Recover 5x² + 3 from random samples with three weights and Adam (E1.5, E1.6)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
from torch import Tensor

# --8<-- [end:imports]

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TARGET = (5.0, 0.0, 3.0)
LABELS = {
    "en": {
        "step": "step {step}",
        "steps": "steps",
        "error": "distance from 5, 0, 3",
    },
    "zh": {
        "step": "第 {step} 步",
        "steps": "步数",
        "error": "与 5、0、3 的距离",
    },
}


# --8<-- [start:features]
def features(x: Tensor) -> Tensor:
    """Stack x², x and 1: (...) becomes (..., 3), of the dtype of ``x``. (E1.5)"""
    return torch.stack([x * x, x, torch.ones_like(x)], dim=-1)


# --8<-- [end:features]


# --8<-- [start:fit]
def fit_curve(
    steps: int = 1000,
    lr: float = 0.1,
    samples: int = 100,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Fit the weights of x², x and 1 to fresh samples of 5x² + 3 in each step.

    Returns the weights before the first step and after each one: float32, of
    shape (steps + 1, 3), on ``device``. All random numbers are drawn on the
    CPU, so every device sees the same ones. (E1.5)
    """
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(3, generator=generator).to(device).requires_grad_()
    optimizer = torch.optim.Adam([w], lr=lr)
    history = [w.detach().clone()]
    for _ in range(steps):
        x = (20 * torch.rand(samples, generator=generator) - 10).to(device)
        y = 5 * x**2 + 3
        loss = F.mse_loss(features(x) @ w, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(w.detach().clone())
    return torch.stack(history)


# --8<-- [end:fit]


_history = cache(fit_curve)  # drawn in two languages and two widths


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """Draw the curve after some steps, and the distance of each weight.

    ``width`` is in inches; ``language`` is "en" or "zh". (E1.5)
    """
    from matplotlib.figure import Figure

    wide = width > 5
    figure = Figure(figsize=(width, 2.9 if wide else 5.2), layout="constrained")
    left, right = figure.subplots(1, 2) if wide else figure.subplots(2, 1)
    _draw_curves(left, LABELS[language])
    _draw_errors(right, LABELS[language])
    for axes in (left, right):
        axes.tick_params(labelsize=8)
        axes.legend(fontsize=8, frameon=False)
    return figure


def _draw_curves(axes: Axes, labels: dict[str, str]) -> None:
    x = torch.linspace(-10, 10, 81)
    points = x[::8]
    axes.plot(points, 5 * points**2 + 3, "o", color="grey", label="5x² + 3")
    for place, step in enumerate((0, 10, 20, 1000)):
        curve = features(x) @ _history()[step]
        label = labels["step"].format(step=step)
        axes.plot(x, curve, color=f"C{place}", label=label)
    axes.set_xlabel("x", fontsize=8)
    axes.set_ylabel("y", fontsize=8)


def _draw_errors(axes: Axes, labels: dict[str, str]) -> None:
    errors = (_history() - torch.tensor(TARGET)).abs()
    for place, name in enumerate(("x²", "x", "1")):
        axes.plot(errors[:, place], color=f"C{place}", label=name, linewidth=1.2)
    axes.set_yscale("log")
    axes.set_ylim(1e-4, 10)
    axes.set_xlabel(labels["steps"], fontsize=8)
    axes.set_ylabel(labels["error"], fontsize=8)


def main() -> None:
    """Print the weights on their way to 5, 0 and 3."""
    history = fit_curve()
    for step in (0, 10, 100, 1000):
        print(step, [round(weight, 2) for weight in history[step].tolist()])


if __name__ == "__main__":
    main()
