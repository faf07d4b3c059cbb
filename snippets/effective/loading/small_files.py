"""Small files against one tar where opening a file is slow (E6.3)."""

from __future__ import annotations

# --8<-- [start:imports]
import tarfile
import time
from collections.abc import Iterator
from typing import BinaryIO

# --8<-- [end:imports]


# --8<-- [start:storage]
class SlowStorage:
    """Opens files as a far file system does, after `latency` seconds.

    Only opening waits. On a network, reading bytes that have not come yet waits
    too. `opened` counts the files.
    """

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.opened = 0

    def open(self, path: str) -> BinaryIO:
        """The file, for reading."""
        self.opened += 1
        time.sleep(self.latency)
        return open(path, "rb")


# --8<-- [end:storage]


# --8<-- [start:read]
def read_files(storage: SlowStorage, paths: list[str]) -> Iterator[bytes]:
    """The contents of the files."""
    for path in paths:
        with storage.open(path) as file:
            yield file.read()


def read_tar(storage: SlowStorage, path: str) -> Iterator[bytes]:
    """The contents of the files in a tar, in order."""
    with (
        storage.open(path) as file,
        tarfile.open(fileobj=file, mode="r:") as tar,
    ):
        for member in tar:
            data = tar.extractfile(member)
            if data is not None:  # None for a folder
                yield data.read()
            tar.members = []  # type: ignore[attr-defined]


# --8<-- [end:read]


if __name__ == "__main__":
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{number}.txt") for number in range(20)]
        for path in paths:
            with open(path, "w") as text:
                text.write(path)
        together = os.path.join(folder, "together.tar")
        with tarfile.open(together, "w") as tar:
            for path in paths:
                tar.add(path)
        storage = SlowStorage(0.01)
        one_by_one = list(read_files(storage, paths))
        print(storage.opened, "files opened")
        print(list(read_tar(storage, together)) == one_by_one)
        print(storage.opened - len(paths), "file opened")
