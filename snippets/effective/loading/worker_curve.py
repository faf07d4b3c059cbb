"""How long an epoch takes with each number of workers (E6.2)."""

from __future__ import annotations

# --8<-- [start:imports]
import time
from collections.abc import Iterable
from typing import Any

import cv2
from torch.utils.data import DataLoader, Dataset

# --8<-- [end:imports]


# --8<-- [start:threads]
def one_thread(worker: int) -> None:
    """For `worker_init_fn`: OpenCV starts no threads in a worker."""
    cv2.setNumThreads(0)


# --8<-- [end:threads]


# --8<-- [start:curve]
def epoch_seconds(
    dataset: Dataset[Any],
    workers: Iterable[int],
    **options: Any,
) -> dict[int, float]:
    """Seconds of an epoch for each number of workers.

    DataLoader gets the options. An epoch before is not counted: it starts the
    workers, and fills the file cache if the data fit into memory.
    """
    seconds = {}
    for number in workers:
        loader: DataLoader[Any] = DataLoader(
            dataset,
            num_workers=number,
            persistent_workers=number > 0,
            worker_init_fn=one_thread,
            **options,
        )
        for count in (False, True):
            start = time.perf_counter()
            for _ in loader:
                pass
            if count:
                seconds[number] = time.perf_counter() - start
    return seconds


# --8<-- [end:curve]


if __name__ == "__main__":
    import numpy as np
    import torch
    from torch.utils.data import TensorDataset

    pixels = torch.from_numpy(np.zeros((2000, 3, 32, 32), np.uint8))
    curve = epoch_seconds(TensorDataset(pixels), [0, 1, 2], batch_size=100)
    for number, seconds in curve.items():
        print(f"{number} workers: {seconds:.3f} s")
