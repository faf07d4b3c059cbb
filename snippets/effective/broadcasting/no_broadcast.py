"""A block in which elementwise operations may not broadcast (E3.4)."""

# --8<-- [start:imports]
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

# --8<-- [end:imports]


# --8<-- [start:mode]
NAMES = """
    add sub subtract mul multiply div divide true_divide floordiv floor_divide
    remainder fmod pow float_power lerp addcmul addcdiv atan2 hypot
    eq ne lt le gt ge greater less greater_equal less_equal isclose allclose
    and or xor lshift rshift iand ior ixor ilshift irshift
    logical_and logical_or logical_xor
    bitwise_and bitwise_or bitwise_xor where masked_fill
    maximum minimum max min fmax fmin clamp clamp_min clamp_max
    mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss
    gaussian_nll_loss hinge_embedding_loss
"""
ELEMENTWISE = frozenset(NAMES.split())


class NoBroadcast(TorchFunctionMode):
    """Raise ValueError where an operation of ELEMENTWISE would broadcast.

    Numbers and tensors without dims pass. With `allow_ones=True` a size of 1
    that was written out passes too: only missing dims raise. Not checked:
    other functions, `x[i] = y`, and what PyTorch does inside a call.
    """

    def __init__(self, allow_ones: bool = False) -> None:
        super().__init__()
        self.allow_ones = allow_ones

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Check the shapes, then do what was called."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").strip("_")
        if name in ELEMENTWISE:
            named = [x for key, x in kwargs.items() if key != "out"]
            operands = [x for x in (*args, *named) if isinstance(x, Tensor)]
            shapes = [tuple(x.shape) for x in operands if x.ndim]
            seen = {len(shape) if self.allow_ones else shape for shape in shapes}
            if len(seen) > 1:
                meet = " and ".join(map(str, shapes))
                raise ValueError(f"{name} would broadcast {meet}")
        return func(*args, **kwargs)


# --8<-- [end:mode]


if __name__ == "__main__":
    x = torch.arange(6.0).reshape(2, 3)
    with NoBroadcast(allow_ones=True):
        print(x - x.mean(dim=0, keepdim=True))
        try:
            x - x.mean(dim=0)
        except ValueError as error:
            print("ValueError:", error)
