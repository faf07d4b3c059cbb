"""Fit a line by gradient descent, and how many steps that takes (E2.2)."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

# --8<-- [start:imports]
import torch
from torch import Tensor, nn

# --8<-- [end:imports]

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {
    "en": {
        "unit": "x in [0, 1]",
        "wide": "x in [0, 10]",
        "momentum": "x in [0, 1], momentum 0.9",
        "standardised": "x standardised",
        "steps": "steps",
        "error": "distance from the solution",
    },
    "zh": {
        "unit": "x 在 [0, 1] 内",
        "wide": "x 在 [0, 10] 内",
        "momentum": "x 在 [0, 1] 内，动量 0.9",
        "standardised": "x 标准化",
        "steps": "步数",
        "error": "与精确解的距离",
    },
}


# --8<-- [start:fit]
def fit(
    model: nn.Module,
    x: Tensor,
    y: Tensor,
    lr: float = 0.01,
    max_steps: int = 10000,
    tolerance: float = 1e-4,
) -> int:
    """Train ``model`` on all of ``x`` and ``y`` in each step; return the steps.

    Stops when 100 steps took less than the share ``tolerance`` off the loss.
    Raises ValueError if the loss grows. (E2.2)
    """
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses: list[float] = []
    for step in range(max_steps):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            losses.append(loss.item())
            if not losses[-1] <= losses[0]:
                raise ValueError(f"the loss grows: lr={lr} is too large")
            if step and losses[-2] - losses[-1] < tolerance * losses[-1]:
                return step + 1
    return max_steps


# --8<-- [end:fit]


# --8<-- [start:exact]
def least_squares(x: Tensor, y: Tensor) -> Tensor:
    """The a and b of the line a * x + b with the least squared error.

    ``x`` and ``y``: (n,), floating point; the result is (2,). (E2.2)
    """
    columns = torch.stack([x, torch.ones_like(x)], dim=1)
    solution: Tensor = torch.linalg.lstsq(columns, y[:, None]).solution
    return solution[:, 0]


# --8<-- [end:exact]


# --8<-- [start:steps]
def steps_needed(x: Tensor, lr: float, shrink: float = 100) -> float:
    """Steps of SGD on the mean squared error until the error is 1 / shrink.

    Each eigenvector of the matrix of second derivatives has an error of its
    own, and a step multiplies it by 1 - lr * eigenvalue. The slowest counts;
    inf if one of them does not shrink. ``x``: (n,), floating point. (E2.2)
    """
    columns = torch.stack([x, torch.ones_like(x)], dim=1).double()
    eigenvalues = torch.linalg.eigvalsh(2 / len(x) * columns.T @ columns)
    slowest = (1 - lr * eigenvalues).abs().max().item()
    return math.log(shrink) / -math.log(slowest) if slowest < 1 else math.inf


# --8<-- [end:steps]


@cache
def distances(kind: str, steps: int) -> Tensor:
    """How far a and b are from the solution, before each of ``steps`` steps.

    ``kind`` is one of the curves of the picture, a key of LABELS. The result
    is (steps,), float64. (E2.2)
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(100, generator=generator, dtype=torch.float64)
    noise = torch.randn(100, generator=generator, dtype=torch.float64)
    y = 5 * x + 3 + 0.3 * noise
    if kind == "wide":
        x = 10 * x
    elif kind == "standardised":
        x = (x - x.mean()) / x.std()
    solution = least_squares(x, y)
    weights = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    momentum = 0.9 if kind == "momentum" else 0.0
    optimizer = torch.optim.SGD([weights], lr=0.01, momentum=momentum)
    found = []
    for _ in range(steps):
        found.append((weights.detach() - solution).norm())
        loss = nn.functional.mse_loss(weights[0] * x + weights[1], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.stack(found)


def draw(language: str = "en", width: float = 6.8, steps: int = 6000) -> Figure:
    """Draw the distance from the solution against the steps.

    ``width`` is in inches; ``language`` is "en" or "zh". (E2.2)
    """
    from matplotlib.figure import Figure

    labels = LABELS[language]
    figure = Figure(figsize=(width, 3.0 if width > 5 else 3.4), layout="constrained")
    axes = figure.subplots()
    for place, kind in enumerate(("unit", "wide", "momentum", "standardised")):
        curve = distances(kind, steps)
        axes.plot(curve, label=labels[kind], color=f"C{place}", linewidth=1.5)
    axes.set_yscale("log")
    axes.set_ylim(1e-4, 20)
    axes.set_xlabel(labels["steps"], fontsize=8)
    axes.set_ylabel(labels["error"], fontsize=8)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=8, frameon=False, loc="upper right")
    return figure


def main() -> None:
    """Fit a line to noisy samples, and print it beside the exact solution."""
    torch.manual_seed(0)
    x = torch.rand(100, 1)
    y = 5 * x + 3 + 0.3 * torch.randn(100, 1)
    model = nn.Linear(1, 1)
    print(fit(model, x, y), "steps")
    print([round(p.item(), 2) for p in model.parameters()])
    print([round(p, 2) for p in least_squares(x[:, 0], y[:, 0]).tolist()])


if __name__ == "__main__":
    main()
