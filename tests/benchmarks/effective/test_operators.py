"""How fast the operators' snippets are (E4.2, E4.4)."""

from __future__ import annotations

from collections.abc import Callable

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


@pytest.mark.benchmark
def test_row_sum(bench: Bench) -> None:
    for case in bench.sweep(
        direction=["forward", "backward"],
        width=[10, 1000],
        rows=[50, 150, 500, 1500, 5000, 15000, 50000],
    ):
        torch.manual_seed(0)
        with_backward = case["direction"] == "backward"
        x = torch.randn(case["rows"], case["width"], device=bench.device)
        x.requires_grad_(with_backward)
        weight = torch.randn(case["width"], device=bench.device)
        run = backward if with_backward else forward
        floor = read_and_write_once if with_backward else read_once
        expected = weight.expand_as(x) if with_backward else x.double().sum(dim=0).float()

        # a float32 sum of n numbers of size 1 may be off by a few parts in 1e-7 of n
        def check(
            name: str, result: Tensor, expected: Tensor = expected, rows: int = case["rows"]
        ) -> None:
            if name != "floor":
                torch.testing.assert_close(result, expected, rtol=1e-5, atol=5e-7 * rows)

        case.compare(
            {
                "index": lambda run=run, x=x, w=weight: run(row_sum.sum_by_index, x, w),
                "unbind": lambda run=run, x=x, w=weight: run(row_sum.sum_by_unbind, x, w),
                "sum": lambda run=run, x=x, w=weight: run(row_sum.sum_rows, x, w),
                "matmul": lambda run=run, x=x, w=weight: run(sum_by_matmul, x, w),
                "floor": lambda floor=floor, x=x, w=weight: floor(x, w),
            },
            check=check,
        )


@pytest.mark.benchmark
def test_in_place(bench: Bench) -> None:
    for case in bench.sweep(elements=[10**3, 10**4, 10**5, 10**6, 10**7]):
        # zeros, so that x keeps its values however often they are added
        x = torch.randn(case["elements"], device=bench.device)
        zeros = torch.zeros_like(x)
        case.compare(
            {
                "new": lambda x=x, y=zeros: in_place.add(x, y),
                "in place": lambda x=x, y=zeros: in_place.add_in_place(x, y),
            },
            reference=lambda x=x: x,
        )
