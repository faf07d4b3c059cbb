"""Which operation of a backward pass allocates how much (E4.2)."""

# --8<-- [start:imports]
import re

import torch
from torch import Tensor
from torch.profiler import profile

# --8<-- [end:imports]


# --8<-- [start:bytes]
def backward_bytes(loss: Tensor) -> dict[str, int]:
    """Bytes that each kind of autograd node allocates in loss.backward().

    `loss` has one element and a graph; raises RuntimeError if not.
    """
    with profile(profile_memory=True) as profiler:
        loss.backward()
    used = {}
    for event in profiler.key_averages():
        if re.fullmatch(r"\w+Backward\d", event.key):
            size = event.cpu_memory_usage + event.device_memory_usage
            used[event.key] = size
    return {node: size for node, size in used.items() if size > 0}


# --8<-- [end:bytes]


if __name__ == "__main__":
    for rows in (100, 200, 400):
        x = torch.ones(rows, 10, requires_grad=True)
        loss = torch.stack([x[i].sum() for i in range(rows)]).sum()
        print(rows, backward_bytes(loss)["SelectBackward0"])
