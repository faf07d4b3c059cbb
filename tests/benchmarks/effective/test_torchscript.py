"""How fast batch gather is in its many forms, and what small operations cost (E5.1–E5.3)."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from scripts.measuring import Bench
from snippets.effective.torchscript import forms, gelu, loop, small_operations
from snippets.effective.torchscript.batch_gather import batch_gather

Function = Callable[[Tensor, Tensor], Tensor]
Shape = tuple[int, int, int, int]

# B, N, K, D: x is (B, N, D) and index (B, K), or (B,) where K is 1.
FORWARD = [
    (8, 16, 4, 8),
    (16384, 1000, 1, 1),
    (32, 512, 512, 1),
    (256, 4096, 1, 256),
    (4, 8192, 8192, 4),
    (64, 1024, 256, 64),
    (16, 512, 2048, 16),
    (32, 2048, 128, 512),
]
BACKWARD = [
    (8, 16, 4, 8),
    (16384, 1000, 1, 1),
    (32, 512, 512, 1),
    (256, 256, 1, 256),
    (4, 8192, 8192, 4),
    (64, 1024, 256, 64),
    (16, 512, 2048, 16),
    (32, 512, 128, 512),
]
QUADRATIC = 400_000_000  # elements that the loop's backward pass may write: len(x) times x
UNROLLED = 16  # steps of a loop that are compiled in bearable time


def shapes_of(bench: Bench, shapes: list[Shape]) -> dict[str, Shape]:
    """The shapes by their names on an axis; two small ones where nothing is measured."""
    chosen = shapes if bench.record else [shapes[0], shapes[2]]
    return {"\n".join(map(str, shape)): shape for shape in chosen}


def scripted(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function under TorchScript, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return torch.jit.script(function)  # type: ignore[no-any-return]


def compiled(bench: Bench, function: Callable[..., Tensor]) -> dict[str, Callable[..., Tensor]]:
    """The compiled function by its name; nothing on a machine without a C++ compiler.

    Where nothing is measured it is only traced, not compiled.
    """
    if bench.record is None:
        return {"compiled": torch.compile(function, fullgraph=True, backend="eager")}
    if bench.device == "cpu" and not (shutil.which("g++") or shutil.which("clang++")):
        return {}
    return {"compiled": torch.compile(function, fullgraph=True, dynamic=False)}


def forward(function: Function, x: Tensor, index: Tensor, weight: Tensor) -> Tensor:
    """The gather alone."""
    return function(x, index)


def backward(function: Function, x: Tensor, index: Tensor, weight: Tensor) -> Tensor:
    """The gather, and the gradient that `weight`, the gradient of its result, gives x."""
    return torch.autograd.grad(function(x, index), x, weight)[0]


def inputs(device: str, batch: int, rows: int, picks: int, width: int) -> list[Tensor]:
    """x, index, and a gradient for the result."""
    torch.manual_seed(0)
    x = torch.rand(batch, rows, width, device=device)
    index = torch.randint(rows, (batch, picks) if picks > 1 else (batch,), device=device)
    return [x, index, torch.rand(*index.shape, width, device=device)]


def vectorised() -> dict[str, Function]:
    """Everything that needs no loop and no compiler."""
    return {
        "batch_gather": partial(batch_gather, check=False),
        "checked": batch_gather,
        **forms.FORMS,
    }


def check_gather(expected: Tensor, name: str, result: Tensor) -> None:
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4, msg=lambda m: f"{name}: {m}")


@pytest.mark.benchmark
def test_batch_gather(bench: Bench) -> None:
    shapes = shapes_of(bench, FORWARD)
    for case in bench.sweep(shape=list(shapes)):
        x, index, weight = inputs(bench.device, *shapes[case["shape"]])
        torch.compiler.reset()
        functions = {
            **vectorised(),
            **compiled(bench, forms.gather_by_advanced_index),
            "loop": loop.gather_by_loop,
            "script": scripted(loop.gather_by_loop),
        }
        case.compare(
            {name: partial(forward, each, x, index, weight) for name, each in functions.items()},
            check=partial(check_gather, forms.gather_by_advanced_index(x, index)),
        )


@pytest.mark.benchmark
def test_batch_gather_backward(bench: Bench) -> None:
    shapes = shapes_of(bench, BACKWARD)
    for case in bench.sweep(shape=list(shapes)):
        x, index, weight = inputs(bench.device, *shapes[case["shape"]])
        x.requires_grad_()
        torch.compiler.reset()
        functions = {**vectorised(), **compiled(bench, forms.gather_by_advanced_index)}
        if len(x) * x.numel() < QUADRATIC:
            functions["loop"] = loop.gather_by_loop
            functions["script"] = scripted(loop.gather_by_loop)
        expected = backward(forms.gather_by_advanced_index, x.double(), index, weight.double())
        case.compare(
            {name: partial(backward, each, x, index, weight) for name, each in functions.items()},
            check=partial(check_gather, expected.float()),
        )


@pytest.mark.benchmark
def test_loop(bench: Bench) -> None:
    for case in bench.sweep(direction=["forward", "backward"], batch=[4, 16, 64, 256, 1024]):
        x, index, weight = inputs(bench.device, case["batch"], 64, 4, 16)
        run = forward
        if case["direction"] == "backward":
            x.requires_grad_()
            run = backward
        torch.compiler.reset()
        functions: dict[str, Function] = {
            "loop": loop.gather_by_loop,
            "script": scripted(loop.gather_by_loop),
            "flat[index]": forms.gather_by_flat_index,
            "batch_gather": partial(batch_gather, check=False),
            "checked": batch_gather,
        }
        if case["batch"] <= UNROLLED:
            functions.update(compiled(bench, loop.gather_by_loop))
        case.compare(
            {name: partial(run, each, x, index, weight) for name, each in functions.items()},
            reference=partial(run, forms.gather_by_advanced_index, x, index, weight),
        )


@pytest.mark.benchmark
def test_transposed(bench: Bench) -> None:
    for case in bench.sweep(picks=[1, 16, 256, 4096]):
        x, index, _ = inputs(bench.device, 64, 1024, case["picks"], 64)
        x = x.transpose(0, 1).contiguous().transpose(0, 1)

        def copy_first(x: Tensor = x, index: Tensor = index) -> Tensor:
            return batch_gather(x.contiguous(), index, check=False)

        case.compare(
            {
                "copy": copy_first,
                "batch_gather": partial(batch_gather, x, index, check=False),
            },
            reference=partial(forms.gather_by_advanced_index, x, index),
        )


@pytest.mark.benchmark
def test_gelu(bench: Bench) -> None:
    for case in bench.sweep(elements=[10**3, 10**4, 10**5, 10**6, 10**7]):
        torch.manual_seed(0)
        x = torch.randn(case["elements"], device=bench.device)
        torch.compiler.reset()
        functions: dict[str, Callable[[Tensor], Tensor]] = {
            "eager": gelu.gelu,
            "script": scripted(gelu.gelu),
            **compiled(bench, gelu.gelu),
            "torch": partial(torch.nn.functional.gelu, approximate="tanh"),
            "floor": torch.clone,
        }
        case.compare(
            {name: partial(function, x) for name, function in functions.items()},
            check=partial(check_gelu, gelu.gelu(x.double()).float()),
        )


def check_gelu(expected: Tensor, name: str, result: Tensor) -> None:
    if name != "floor":
        torch.testing.assert_close(
            result, expected, rtol=1e-4, atol=1e-5, msg=lambda m: f"{name}: {m}"
        )


@pytest.mark.benchmark
def test_small_operations(bench: Bench) -> None:
    for case in bench.sweep(pieces=[1, 4, 16, 64, 256, 1024, 4096, 16384]):
        torch.manual_seed(0)
        x = torch.rand(16384, device=bench.device)
        pieces = x.view(case["pieces"], -1).unbind()
        case.compare(
            {
                "one by one": partial(small_operations.scale_each, pieces, 2.0),
                "packed": partial(small_operations.scale_packed, pieces, 2.0),
                "floor": partial(torch.mul, x, 2.0),
            },
            check=partial(check_scaled, x * 2),
        )


def check_scaled(expected: Tensor, name: str, result: Tensor | list[Tensor]) -> None:
    joined = result if isinstance(result, Tensor) else torch.cat(result)
    torch.testing.assert_close(joined, expected, msg=lambda m: f"{name}: {m}")
