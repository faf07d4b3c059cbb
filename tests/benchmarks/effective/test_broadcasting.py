"""Time and peak memory of broadcasting against copies (E3.2, E3.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scripts.measuring import Bench
from snippets.effective.broadcasting import add, concatenate, distances
from snippets.effective.broadcasting.merge import Merge

FEATURES = 64  # of x, of y and of the result
TILE = 64  # rows of x to a row of y
FLOAT_BYTES = 4

Form = Callable[..., Tensor]


@pytest.mark.benchmark
def test_add(bench: Bench) -> None:
    for case in bench.sweep(width=[100, 300, 1000, 3000]):
        torch.manual_seed(0)
        a = torch.randn(case["width"], case["width"], device=bench.device)
        b = torch.randn(case["width"], 1, device=bench.device)
        case.compare(
            {
                "repeat": partial(add.add_repeated, a, b),
                "broadcast": partial(add.add, a, b),
                "floor": a.clone,
            },
            check=partial(check_sum, a.double() + b.double()),
            memory=True,
        )


def check_sum(expected: Tensor, name: str, result: Tensor) -> None:
    """Every contender but the floor gives `expected`."""
    if name != "floor":
        torch.testing.assert_close(result.double(), expected, rtol=1e-6, atol=1e-6)


class First(nn.Module):
    """The floor: the product that every form needs, W_x x."""

    def __init__(self, merge: Merge) -> None:
        super().__init__()
        self.linear = merge.linear

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.linear(x, self.linear.weight[:, :FEATURES])


def forward(form: Form, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """The result alone."""
    with torch.no_grad():
        return form(x, y)


def backward(form: Form, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """The result, and every gradient of its product with `weight`; returns that of x."""
    result = form(x, y)
    inputs = [x, y, *linear_of(form).parameters()]
    gradients = torch.autograd.grad(result, inputs, weight, allow_unused=True)
    return gradients[0]


def linear_of(form: Form) -> nn.Linear:
    """The layer whose parameters a form uses."""
    linear = form.args[0] if isinstance(form, partial) else form.linear  # type: ignore[attr-defined]
    assert isinstance(linear, nn.Linear)
    return linear


def inputs(rows: int, tile: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """x, y with one row to `tile` rows of x, and a gradient of the result."""
    torch.manual_seed(0)
    batch = max(1, round(rows / tile))
    x = torch.randn(batch, tile, FEATURES, device=device, requires_grad=True)
    y = torch.randn(batch, 1, FEATURES, device=device, requires_grad=True)
    return x, y, torch.randn(batch, tile, FEATURES, device=device)


def forms(merge: Merge) -> dict[str, Form]:
    """The contenders, with the same parameters."""
    return {
        "tile": partial(concatenate.tile_and_concatenate, merge.linear),
        "expand": partial(concatenate.expand_and_concatenate, merge.linear),
        "merge": merge,
        "floor": First(merge),
    }


def check_merge(expected: Tensor, direction: str, name: str, result: Tensor) -> None:
    """All agree; the floor gives no y, so only its gradient of x can."""
    if name != "floor" or direction == "backward":
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.benchmark
def test_merge(bench: Bench) -> None:
    for case in bench.sweep(direction=["forward", "backward"], megabytes=[1, 3, 10, 30, 100, 200]):
        tiled_and_concatenated = FEATURES + 2 * FEATURES
        rows = round(case["megabytes"] * 1e6 / (tiled_and_concatenated * FLOAT_BYTES))
        x, y, weight = inputs(rows, TILE, bench.device)
        merge = Merge([FEATURES, FEATURES], FEATURES).to(bench.device)
        run = forward if case["direction"] == "forward" else backward
        expected = run(forms(merge)["expand"], x, y, weight)
        case.compare(
            {name: partial(run, form, x, y, weight) for name, form in forms(merge).items()},
            check=partial(check_merge, expected, case["direction"]),
            memory=True,
        )


@pytest.mark.benchmark
def test_merge_equal(bench: Bench) -> None:
    for case in bench.sweep(rows=[1000, 10000, 100000]):
        x, y, weight = inputs(case["rows"], 1, bench.device)
        merge = Merge([FEATURES, FEATURES], FEATURES).to(bench.device)
        expected = forward(forms(merge)["expand"], x, y, weight)
        case.compare(
            {name: partial(forward, form, x, y, weight) for name, form in forms(merge).items()},
            check=partial(check_merge, expected, "forward"),
            memory=True,
        )


@pytest.mark.benchmark
def test_distances(bench: Bench) -> None:
    for case in bench.sweep(points=[100, 300, 1000]):
        torch.manual_seed(0)
        x = torch.randn(case["points"], 32, device=bench.device)
        y = torch.randn(case["points"], 32, device=bench.device)
        case.compare(
            {
                "outer": partial(distances.outer_distances, x, y),
                "exact": partial(distances.distances, x, y),
                "cdist": partial(torch.cdist, x, y),
            },
            reference=partial(distances.outer_distances, x.double(), y.double()),
            rtol=1e-4,
            atol=1e-4,
            memory=True,
        )
