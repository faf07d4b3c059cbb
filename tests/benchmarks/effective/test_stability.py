"""Naive, stable and torch's own softmax, log-softmax and cross entropy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from scripts.measuring import Bench
from snippets.effective.stability.cross_entropy import index_cross_entropy
from snippets.effective.stability.empty_rows import masked_softmax
from snippets.effective.stability.log_softmax import naive_log_softmax, stable_log_softmax
from snippets.effective.stability.softmax import naive_softmax, stable_softmax

Function = Callable[[Tensor], Tensor]

WIDTHS = [10, 1000]
ROWS = [10, 100, 1000, 10000]
DIRECTIONS = ["forward", "backward"]


def gradient(function: Function, x: Tensor, weight: Tensor) -> Tensor:
    """Both passes: the gradient of sum(weight * function(x))."""
    return torch.autograd.grad(function(x), x, weight)[0]


def floor_of_both(floor: Function, x: Tensor) -> Tensor:
    """The floor of both passes: that of the forward pass, and the gradient written once."""
    floor(x.detach())
    return x.detach().clone()


def check(expected: Tensor, name: str, result: Tensor) -> None:
    """Every contender but the floor gives ``expected``."""
    if name != "floor":
        torch.testing.assert_close(result.double(), expected, rtol=1e-4, atol=1e-6)


def compare(
    bench: Bench, contenders: dict[str, Function], truth: Function, floor: Function
) -> None:
    """Measure the contenders over all sizes, checked against ``truth`` in float64."""
    for case in bench.sweep(direction=DIRECTIONS, width=WIDTHS, rows=ROWS):
        torch.manual_seed(0)
        x = torch.randn(case["rows"], case["width"], device=bench.device)
        if case["direction"] == "forward":
            calls = {name: partial(f, x) for name, f in contenders.items()}
            calls["floor"] = partial(floor, x)
            expected = truth(x.double())
        else:
            x.requires_grad_()
            weight = torch.rand_like(truth(x))
            calls = {name: partial(gradient, f, x, weight) for name, f in contenders.items()}
            calls["floor"] = partial(floor_of_both, floor, x)
            expected = gradient(truth, x.double(), weight.double())
        case.compare(calls, check=partial(check, expected))


@pytest.mark.benchmark
def test_softmax(bench: Bench) -> None:
    compare(
        bench,
        {"naive": naive_softmax, "stable": stable_softmax, "torch": partial(torch.softmax, dim=-1)},
        truth=partial(torch.softmax, dim=-1),
        floor=torch.clone,
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
        truth=partial(torch.log_softmax, dim=-1),
        floor=torch.clone,
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
        truth=torch_cross_entropy,
        floor=partial(torch.sum, dim=-1),
    )


@pytest.mark.benchmark
def test_empty_rows(bench: Bench) -> None:
    compare(
        bench,
        {"masked": masked_softmax, "torch": partial(torch.softmax, dim=-1)},
        truth=partial(torch.softmax, dim=-1),
        floor=torch.clone,
    )
