"""A file opened before the fork has one position for all workers (E6.4)."""

from __future__ import annotations

# --8<-- [start:imports]
import io
import os
import pickle
import time
from typing import Any

from torch.utils.data import DataLoader, Dataset

# --8<-- [end:imports]


# --8<-- [start:seek]
class SeekRecords(Dataset[bytes]):
    """The records of `size` bytes in a file, which the first read opens."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.size = size
        self.file: Any = None

    def __len__(self) -> int:
        return os.path.getsize(self.path) // self.size

    def __getitem__(self, index: int) -> bytes:
        if self.file is None:
            self.file = io.FileIO(self.path)
        return self.read(range(len(self))[index] * self.size)

    def read(self, offset: int) -> bytes:
        """The record at an offset in bytes."""
        self.file.seek(offset)
        time.sleep(1e-4)  # here another process may get its turn
        return bytes(self.file.read(self.size))


# --8<-- [end:seek]


# --8<-- [start:pread]
class PreadRecords(SeekRecords):
    """The same with os.pread, which has no use for a position."""

    def read(self, offset: int) -> bytes:
        """The record at an offset in bytes."""
        return os.pread(self.file.fileno(), self.size, offset)


# --8<-- [end:pread]


# --8<-- [start:count]
def count_wrong(records: SeekRecords) -> int:
    """How many records come wrong from two forked workers."""
    loader = DataLoader(
        records,
        batch_size=None,
        num_workers=2,
        multiprocessing_context="fork",
    )
    with open(records.path, "rb") as file:
        return sum(read != file.read(records.size) for read in loader)


# --8<-- [end:count]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records")
        with open(path, "wb") as file:
            file.writelines(number.to_bytes(4, "big") for number in range(200))
        for kind in (SeekRecords, PreadRecords):
            records = kind(path, 4)
            own = count_wrong(records) > 0
            records[0]
            print(kind.__name__, own, count_wrong(records) > 0)
            try:
                pickle.dumps(records)
            except TypeError as error:
                print(error)
