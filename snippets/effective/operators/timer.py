"""Time a call so that the figure can be trusted, and how not to (E4.2)."""

# --8<-- [start:imports]
import time
from collections.abc import Callable

import torch
from torch.utils.benchmark import Measurement, Timer

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_time(call: Callable[[], object]) -> float:
    """Seconds of the first call by the wall clock, start-up costs included."""
    start = time.time()
    call()
    return time.time() - start


# --8<-- [end:naive]


# --8<-- [start:time]
def time_call(
    call: Callable[[], object],
    seconds: float = 0.2,
    threads: int = 1,
) -> Measurement:
    """Run `call` again and again for at least `seconds` after a warm-up.

    The result has `median` and `iqr`, seconds per call. Waits for the GPU.
    Raises ValueError if `seconds` or `threads` is not positive.
    """
    if seconds <= 0 or threads < 1:
        raise ValueError("seconds and threads must be positive")
    timer = Timer("call()", globals={"call": call}, num_threads=threads)
    return timer.blocked_autorange(min_run_time=seconds)


# --8<-- [end:time]


if __name__ == "__main__":
    x = torch.randn(500, 10)
    print(f"once, cold: {naive_time(lambda: x.sum(dim=0)) * 1e6:.1f} us")
    print(time_call(lambda: x.sum(dim=0)))
