"""Naive, stable and torch's own softmax, log-softmax, cross entropy and logsumexp."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from scripts.measuring import Bench
from snippets.effective.stability.cross_entropy import index_cross_entropy
from snippets.effective.stability.empty_rows import masked_logsumexp, masked_softmax
from snippets.effective.stability.log_softmax import naive_log_softmax, stable_log_softmax
from snippets.effective.stability.softmax import naive_softmax, stable_softmax

Function = Callable[[Tensor], Tensor]

WIDTHS = [10, 1000]
ROWS = [10, 100, 1000, 10000]
DIRECTIONS = ["forward", "backward"]


def run(function: Function, x: Tensor, direction: str) -> Tensor:
    """The result, or with direction "backward" the gradient (both passes)."""
    if direction == "forward":
        return function(x)
    x = x.detach().requires_grad_()
    result = function(x)
    weight = torch.linspace(0, 1, result.shape[-1], dtype=x.dtype, device=x.device)
    return torch.autograd.grad(result, x, weight.expand_as(result))[0]


def compare(bench: Bench, contenders: dict[str, Function], truth: Function) -> None:
    """Measure the contenders over all sizes, checked against ``truth`` in float64."""
    for case in bench.sweep(width=WIDTHS, direction=DIRECTIONS, rows=ROWS):
        x = torch.randn(case["rows"], case["width"], device=bench.device)
        case.compare(
            {name: partial(run, f, x, case["direction"]) for name, f in contenders.items()},
            reference=partial(run, truth, x.double(), case["direction"]),
            rtol=1e-4,
            atol=1e-6,
        )


@pytest.mark.benchmark
def test_softmax(bench: Bench) -> None:
    compare(
        bench,
        {"naive": naive_softmax, "stable": stable_softmax, "torch": partial(torch.softmax, dim=-1)},
        partial(torch.softmax, dim=-1),
    )


@pytest.mark.benchmark
def test_log_softmax(bench: Bench) -> None:
    compare(
        bench,
        {
            "naive": naive_log_softmax,
            "stable": stable_log_softmax,
            "torch": partial(torch.log_softmax, dim=-1),
        },
        partial(torch.log_softmax, dim=-1),
    )


def naive_index_cross_entropy(logits: Tensor, index: Tensor) -> Tensor:
    """Cross entropy from log(softmax), for class indices."""
    log_p = naive_log_softmax(logits)
    return -log_p.gather(-1, index.unsqueeze(-1)).squeeze(-1)


@pytest.mark.benchmark
def test_cross_entropy(bench: Bench) -> None:
    index = torch.arange(max(ROWS), device=bench.device) % min(WIDTHS)

    def fit(function: Callable[[Tensor, Tensor], Tensor]) -> Function:
        return lambda x: function(x, index[: len(x)])

    torch_cross_entropy = fit(partial(F.cross_entropy, reduction="none"))
    compare(
        bench,
        {
            "naive": fit(naive_index_cross_entropy),
            "stable": fit(index_cross_entropy),
            "torch": torch_cross_entropy,
        },
        torch_cross_entropy,
    )


@pytest.mark.benchmark
def test_empty_rows(bench: Bench) -> None:
    compare(
        bench,
        {"masked": masked_softmax, "torch": partial(torch.softmax, dim=-1)},
        partial(torch.softmax, dim=-1),
    )


@pytest.mark.benchmark
def test_logsumexp(bench: Bench) -> None:
    compare(
        bench,
        {"masked": masked_logsumexp, "torch": partial(torch.logsumexp, dim=-1)},
        partial(torch.logsumexp, dim=-1),
    )
