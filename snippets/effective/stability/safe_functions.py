"""Formulas that leave the range, and the functions that replace them (E7.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor


class Case(NamedTuple):
    """A formula, the function for it, and an input where the formula fails."""

    formula: str
    plain: Callable[..., Tensor]
    function: str
    ready: Callable[..., Tensor]
    inputs: dict[str, float | list[float]]
    dtype: torch.dtype = torch.float32


CASES = [
    Case("log(1 + x)", lambda x: (1 + x).log(), "log1p", torch.log1p, {"x": 1e-10}),
    Case("exp(x) - 1", lambda x: x.exp() - 1, "expm1", torch.expm1, {"x": 1e-10}),
    Case(
        "log(1 + exp(x))",
        lambda x: (1 + x.exp()).log(),
        "softplus",
        F.softplus,
        {"x": 100.0},
    ),
    Case(
        "exp(x) / (1 + exp(x))",
        lambda x: x.exp() / (1 + x.exp()),
        "sigmoid",
        torch.sigmoid,
        {"x": 100.0},
    ),
    Case(
        "log(sigmoid(x))",
        lambda x: x.sigmoid().log(),
        "logsigmoid",
        F.logsigmoid,
        {"x": -200.0},
    ),
    Case(
        "BCELoss(sigmoid(x), y)",
        lambda x, y: F.binary_cross_entropy(x.sigmoid(), y),
        "BCEWithLogitsLoss",
        F.binary_cross_entropy_with_logits,
        {"x": 200.0, "y": 0.0},
    ),
    Case(
        "log(softmax(x))",
        lambda x: x.softmax(-1).log(),
        "log_softmax",
        lambda x: x.log_softmax(-1),
        {"x": [1000.0, 0.0]},
    ),
    Case(
        "log(sum(exp(x)))",
        lambda x: x.exp().sum(-1).log(),
        "logsumexp",
        lambda x: x.logsumexp(-1),
        {"x": [1000.0, 0.0]},
    ),
    Case(
        "log(exp(x) + exp(y))",
        lambda x, y: (x.exp() + y.exp()).log(),
        "logaddexp",
        torch.logaddexp,
        {"x": -1000.0, "y": -1000.0},
    ),
    Case(
        "x * log(y)",
        lambda x, y: x * y.log(),
        "xlogy",
        torch.xlogy,
        {"x": 0.0, "y": 0.0},
    ),
    Case(
        "sqrt(x * x + y * y)",
        lambda x, y: (x * x + y * y).sqrt(),
        "hypot",
        torch.hypot,
        {"x": 1e20, "y": 1e20},
    ),
    Case(
        "sqrt(sum(x * x))",
        lambda x: (x * x).sum().sqrt(),
        "linalg.vector_norm",
        torch.linalg.vector_norm,
        {"x": [300.0, 400.0]},
        torch.float16,
    ),
    Case(
        "mean(x * x) - mean(x) ** 2",
        lambda x: (x * x).mean() - x.mean() ** 2,
        "var(correction=0)",
        lambda x: x.var(correction=0),
        {"x": [10000.0, 10002.0]},
    ),
]

COLUMNS = {
    "formula": {"en": "formula", "zh": "直接写公式"},
    "function": {"en": "function", "zh": "现成函数"},
    "input": {"en": "input", "zh": "输入"},
    "plain": {"en": "gives (∂ gradient)", "zh": "得到（∂ 梯度）"},
    "ready": {"en": "gives (∂ gradient)", "zh": "得到（∂ 梯度）"},
}


def evaluate(case: Case, function: Callable[..., Tensor]) -> tuple[Tensor, Tensor]:
    """Compute ``function`` at the inputs of ``case``, and its gradient.

    Returns the value and the gradient of the value's sum with respect to the first
    input, both in the dtype of the case. (E7.8)
    """
    inputs = [torch.tensor(v, dtype=case.dtype) for v in case.inputs.values()]
    inputs[0].requires_grad_()
    value = function(*inputs)
    (gradient,) = torch.autograd.grad(value.sum(), inputs[0])
    return value.detach(), gradient


def show(value: Tensor | float | list[float]) -> str:
    """Write a number or a list of numbers to five digits: ``[1000, -inf]``."""
    items = value.tolist() if isinstance(value, Tensor) else value
    if isinstance(items, list):
        return "[" + ",\u00a0".join(show(item) for item in items) + "]"
    return f"{items + 0.0:.5g}"


def rows() -> list[dict[str, object]]:
    """Return a table: formula, function, an input, what each gives there. (E7.8)

    A result is ``value (∂ gradient)``.
    """
    table: list[dict[str, object]] = []
    for case in CASES:
        kind = "" if case.dtype is torch.float32 else f"{case.dtype}"[6:] + ": "
        at = ", ".join(f"{k}\u00a0=\u00a0{show(v)}" for k, v in case.inputs.items())
        plain, ready = evaluate(case, case.plain), evaluate(case, case.ready)
        table.append(
            {
                "formula": f"`{case.formula}`",
                "function": f"`{case.function}`",
                "input": f"{kind}{at}",
                "plain": f"{show(plain[0])} (∂ {show(plain[1])})",
                "ready": f"{show(ready[0])} (∂ {show(ready[1])})",
            }
        )
    return table


def main() -> None:
    """Print the table, a line for each formula."""
    for row in rows():
        print(" | ".join(str(cell) for cell in row.values()))


if __name__ == "__main__":
    main()
