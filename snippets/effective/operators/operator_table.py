"""Every operator, the function it calls, and what it does by dtype (E4.3)."""

# --8<-- [start:imports]
import operator
from collections.abc import Callable

import torch
from torch import Tensor

# --8<-- [end:imports]

COLUMNS = {
    "operator": {"en": "Operator", "zh": "运算符"},
    "function": {"en": "Function", "zh": "函数"},
    "bool": {"en": "bool", "zh": "bool"},
    "int64": {"en": "int64", "zh": "int64"},
    "float32": {"en": "float32", "zh": "float32"},
}

# --8<-- [start:pairs]
Function = Callable[..., Tensor]

PAIRS: list[tuple[str, Function, Function]] = [
    ("-x", operator.neg, torch.neg),
    ("abs(x)", operator.abs, torch.abs),
    ("x + y", operator.add, torch.add),
    ("x - y", operator.sub, torch.sub),
    ("x * y", operator.mul, torch.mul),
    ("x / y", operator.truediv, torch.div),
    ("x // y", operator.floordiv, torch.floor_divide),
    ("x % y", operator.mod, torch.remainder),
    ("x ** y", operator.pow, torch.pow),
    ("x @ y", operator.matmul, torch.matmul),
    ("x == y", operator.eq, torch.eq),
    ("x != y", operator.ne, torch.ne),
    ("x < y", operator.lt, torch.lt),
    ("x <= y", operator.le, torch.le),
    ("x > y", operator.gt, torch.gt),
    ("x >= y", operator.ge, torch.ge),
    ("x & y", operator.and_, torch.bitwise_and),
    ("x | y", operator.or_, torch.bitwise_or),
    ("x ^ y", operator.xor, torch.bitwise_xor),
    ("~x", operator.invert, torch.bitwise_not),
    ("x << y", operator.lshift, torch.bitwise_left_shift),
    ("x >> y", operator.rshift, torch.bitwise_right_shift),
]
# --8<-- [end:pairs]


# --8<-- [start:check]
def outcome(function: Function, *args: Tensor) -> Tensor | Exception:
    """What function(*args) returns, or the error that it raises."""
    try:
        return function(*args)
    except (RuntimeError, TypeError) as error:
        return error


def check(by_operator: Function, by_function: Function, *args: Tensor) -> str:
    """The dtype of the result, or the operator's error.

    Raises AssertionError if operator and function disagree.
    """
    mine, other = outcome(by_operator, *args), outcome(by_function, *args)
    if isinstance(mine, Exception):
        assert isinstance(other, Exception), (mine, other)
        return f"✗ {type(mine).__name__}"
    assert isinstance(other, Tensor), (mine, other)
    assert mine.dtype == other.dtype, (mine, other)
    assert torch.equal(mine, other), (mine, other)
    return f"`{str(mine.dtype).removeprefix('torch.')}`"


# --8<-- [end:check]


def rows() -> list[dict[str, object]]:
    """A row a pair: what it gives for bool, int64 and float32 tensors."""
    x, y = torch.tensor([-7, 7, 5]), torch.tensor([2, 3, 0]) + 1
    table: list[dict[str, object]] = []
    for text, by_operator, by_function in PAIRS:
        row: dict[str, object] = {
            "operator": f"`{text}`",
            "function": f"`torch.{by_function.__name__}`",
        }
        for dtype in (torch.bool, torch.int64, torch.float32):
            args = (x.to(dtype), y.to(dtype))[: 2 if "y" in text else 1]
            name = str(dtype).removeprefix("torch.")
            row[name] = check(by_operator, by_function, *args)
        table.append(row)
    return table


if __name__ == "__main__":
    for row in rows():
        print(*(f"{str(cell).strip('`'):<26}" for cell in row.values()))
