"""How fast the operators' snippets are (E4.2, E4.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from scripts.measuring import Bench
from snippets.effective.operators import in_place, row_sum


def forward(sum_rows: Callable[[Tensor], Tensor], x: Tensor, weight: Tensor) -> Tensor:
    """The sum alone."""
    return sum_rows(x)


def backward(sum_rows: Callable[[Tensor], Tensor], x: Tensor, weight: Tensor) -> Tensor:
    """The sum, and the gradient that `weight`, the gradient of the sum, gives to x."""
    x.grad = None
    sum_rows(x).backward(weight)
    assert x.grad is not None
    return x.grad


def sum_by_matmul(x: Tensor) -> Tensor:
    """A row of ones times x."""
    return x.new_ones(len(x)) @ x


def read_once(x: Tensor, weight: Tensor) -> Tensor:
    """The floor of the forward pass: every element is read once, one number is written."""
    return x.sum()


def read_and_write_once(x: Tensor, weight: Tensor) -> Tensor:
    """The floor with the backward pass: x is read once, its gradient is written once."""
    x.detach().sum()
    return weight.expand_as(x).contiguous()


def check_row_sum(expected: Tensor, name: str, result: Tensor) -> None:
    """Every contender but the floor gives `expected`."""
    if name != "floor":
        torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-2)


@pytest.mark.benchmark
def test_row_sum(bench: Bench) -> None:
    for case in bench.sweep(
        direction=["forward", "backward"],
        width=[10, 1000],
        rows=[50, 150, 500, 1500, 5000, 15000, 50000],
    ):
        torch.manual_seed(0)
        x = torch.randn(case["rows"], case["width"], device=bench.device)
        weight = torch.randn(case["width"], device=bench.device)
        if case["direction"] == "forward":
            run, floor, expected = forward, read_once, x.double().sum(dim=0).float()
        else:
            x.requires_grad_()
            run, floor, expected = backward, read_and_write_once, weight.expand_as(x)
        case.compare(
            {
                "index": partial(run, row_sum.sum_by_index, x, weight),
                "unbind": partial(run, row_sum.sum_by_unbind, x, weight),
                "split": partial(run, row_sum.sum_by_split, x, weight),
                "sum": partial(run, row_sum.sum_rows, x, weight),
                "matmul": partial(run, sum_by_matmul, x, weight),
                "floor": partial(floor, x, weight),
            },
            check=partial(check_row_sum, expected),
        )


@pytest.mark.benchmark
def test_in_place(bench: Bench) -> None:
    for case in bench.sweep(elements=[10**3, 10**4, 10**5, 10**6, 10**7]):
        torch.manual_seed(0)
        x = torch.randn(case["elements"], device=bench.device)
        zeros = torch.zeros_like(x)  # x keeps its values however often they are added
        case.compare(
            {
                "new": partial(in_place.add, x, zeros),
                "in place": partial(in_place.add_in_place, x, zeros),
            },
            reference=x.clone,
        )
