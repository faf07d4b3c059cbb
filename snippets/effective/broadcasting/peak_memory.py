"""How many bytes a call holds at its peak, on a CPU too (E3.3)."""

# --8<-- [start:imports]
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

# --8<-- [end:imports]


# --8<-- [start:cpu]
def cpu_peak_bytes(call: Callable[[], object]) -> int:
    """Most bytes that call() holds at once, beyond what was held before.

    Counts what PyTorch hands out for tensors on the CPU, the result
    included; not what NumPy and other libraries allocate by themselves.
    """
    cpu = [ProfilerActivity.CPU]
    with profile(activities=cpu, profile_memory=True) as profiler:
        call()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    memory = [event for event in events if event["name"] == "[memory]"]
    memory.sort(key=lambda event: event["ts"])
    sizes: dict[int, int] = {}
    held = peak = 0
    for change in (event["args"] for event in memory):
        address, size = change["Addr"], change["Bytes"]
        if change["Device Type"] != 0:
            continue
        if size > 0:
            sizes[address] = size
            held += size
            peak = max(peak, held)
        else:
            held -= sizes.pop(address, 0)
    return peak


# --8<-- [end:cpu]


# --8<-- [start:peak]
def peak_bytes(
    call: Callable[[], object],
    device: str | torch.device = "cpu",
) -> int:
    """Most bytes that call() holds at once on `device`, CPU or CUDA.

    Raises ValueError for other devices.
    """
    device = torch.device(device)
    if device.type == "cpu":
        return cpu_peak_bytes(call)
    if device.type != "cuda":
        raise ValueError(f"can't count the memory of {device}")
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    call()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) - before


# --8<-- [end:peak]


if __name__ == "__main__":
    x = torch.ones(1000, 1000)
    print(peak_bytes(lambda: x + x), "bytes for x + x")
    print(peak_bytes(lambda: (x + x) * x), "bytes for (x + x) * x")
