"""A picture of the error of plain formulas in float32 against size (E7.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Function = Callable[[Tensor], Tensor]


def exact_softplus(x: Tensor) -> Tensor:
    """Compute log(1 + exp(x)) in range for every ``x``. (E7.8)"""
    return x.clamp(min=0) + torch.log1p(torch.exp(-x.abs()))


# A label, what is computed in float32, and the same computed well in float64.
# The functions that torch has carry no parenthesis in their label.
SMALL: list[tuple[str, Function, Function]] = [
    ("log(1 + x)", lambda x: (1 + x).log(), torch.log1p),
    ("exp(x) - 1", lambda x: x.exp() - 1, torch.expm1),
    ("log1p, expm1", torch.log1p, torch.log1p),
    ("", torch.expm1, torch.expm1),
]
LARGE: list[tuple[str, Function, Function]] = [
    ("log(1 + exp(x))", lambda x: (1 + x.exp()).log(), exact_softplus),
    ("log(sigmoid(x))", lambda x: x.sigmoid().log(), lambda x: -exact_softplus(-x)),
    ("log(sigmoid(-x))", lambda x: (-x).sigmoid().log(), lambda x: -exact_softplus(x)),
    ("softplus, logsigmoid", F.softplus, exact_softplus),
    ("", F.logsigmoid, lambda x: -exact_softplus(-x)),
    ("", lambda x: F.logsigmoid(-x), lambda x: -exact_softplus(x)),
]
LABELS = {
    "en": {"error": "relative error", "small": "x near 0", "large": "x far from 0"},
    "zh": {"error": "相对误差", "small": "x 接近 0", "large": "x 远离 0"},
}


def relative_errors(function: Function, exact: Function, x: Tensor) -> Tensor:
    """Compare ``function`` in the dtype of ``x`` with ``exact`` in float64.

    ``x``: any shape, float32 or narrower; the errors have its shape, in float64: inf
    where ``function`` gives inf or nan, and nan where the exact value is no normal
    number of the dtype. (E7.8)
    """
    truth = exact(x.double())
    value = function(x).double()
    errors = (value / truth - 1).abs().masked_fill(~value.isfinite(), torch.inf)
    small = truth.abs() < torch.finfo(x.dtype).smallest_normal
    return errors.masked_fill(small, torch.nan)


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """Draw the errors in float32 for x near 0 and x far from 0, on log-log axes.

    Each point is the worst error of 16 neighbouring x; crosses mark inf. ``width`` is
    in inches; ``language`` is "en" or "zh", anything else raises KeyError. (E7.8)
    """
    from matplotlib.figure import Figure

    labels = LABELS[language]
    beside = width > 5
    figure = Figure(figsize=(width, 3.4 if beside else 6.0), layout="constrained")
    both = figure.subplots(1, 2) if beside else figure.subplots(2, 1)
    panels = [
        ("small", SMALL, (-9.0, 0.0), "upper right"),
        ("large", LARGE, (0.0, 2.1), "upper left"),
    ]
    for axes, (name, curves, (low, high), corner) in zip(both, panels, strict=True):
        groups = torch.logspace(low, high, 60 * 16).view(60, 16)
        x = groups[:, 8]
        colour = 0
        for label, function, exact in curves:
            ready = "(" not in label
            style: dict[str, Any] = {"color": "0.5" if ready else f"C{colour}"}
            errors = relative_errors(function, exact, groups).amax(1)
            lost = x[errors.isinf()]
            height = torch.full_like(lost, 10.0 ** (1 + 0.6 * colour))
            axes.plot(lost, height, "x", markersize=5, **style)
            line = "-" if ready else ("-", "--", ":")[colour]
            finite = errors.masked_fill(errors.isinf(), torch.nan)
            style |= {"linewidth": 1.0 if ready else 1.8, "zorder": 2 - ready}
            axes.plot(x, finite, line, label=label or None, **style)
            colour += not ready
        if name == "large":
            axes.plot([], [], "x", markersize=5, color="0.5", label="inf")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(1e-9, 1e6 if name == "large" else 1e3)
        axes.set_title(labels[name], fontsize=9)
        axes.set_ylabel(labels["error"], fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.25)
        axes.legend(loc=corner, frameon=False, fontsize=8, handlelength=1.6)
    return figure


def main() -> None:
    """Print the error of log(1 + x) and of log1p for a few sizes."""
    x = torch.tensor([1e-2, 1e-4, 1e-6, 1e-8])
    for label, function, exact in (SMALL[0], SMALL[2]):
        print(label, [f"{e:.0e}" for e in relative_errors(function, exact, x).tolist()])


if __name__ == "__main__":
    main()
