"""A tar of images as a stream, and who reads what of it (E6.4-E6.6)."""

from __future__ import annotations

# --8<-- [start:imports]
import tarfile
from collections.abc import Iterator

import cv2
import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

# --8<-- [end:imports]


# --8<-- [start:decode]
def decode_image(data: bytes, name: str) -> Tensor:
    """An image as uint8, shape (height, width, 3), RGB.

    Raises ValueError, naming it, if it is none.
    """
    pixels = np.frombuffer(data, np.uint8)
    image = cv2.imdecode(pixels, cv2.IMREAD_COLOR_RGB) if data else None
    if image is None:
        raise ValueError(f"{name} is no image that OpenCV can read")
    return torch.from_numpy(image)


# --8<-- [end:decode]


# --8<-- [start:naive]
class NaiveTarStream(IterableDataset[Tensor]):
    """The images in a tar, in order: all of them in every worker and rank."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Tensor]:
        with tarfile.open(self.path, "r:") as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is not None:  # None for a folder
                    yield decode_image(file.read(), member.name)
                tar.members = []  # type: ignore[attr-defined]


# --8<-- [end:naive]


# --8<-- [start:share]
def my_share() -> tuple[int, int]:
    """Which share of the items this process reads, and of how many shares."""
    share, shares = 0, 1
    if dist.is_available() and dist.is_initialized():
        share, shares = dist.get_rank(), dist.get_world_size()
    worker = get_worker_info()
    if worker is not None:
        share = share * worker.num_workers + worker.id
        shares *= worker.num_workers
    return share, shares


# --8<-- [end:share]


# --8<-- [start:stream]
class TarStream(NaiveTarStream):
    """The same, each image once: a process skips what is not its share."""

    def __iter__(self) -> Iterator[Tensor]:
        share, shares = my_share()
        place = 0
        with tarfile.open(self.path, "r:") as tar:
            for member in tar:
                if member.isfile():
                    if place % shares == share:
                        file = tar.extractfile(member)
                        assert file is not None
                        yield decode_image(file.read(), member.name)
                    place += 1
                tar.members = []  # type: ignore[attr-defined]


# --8<-- [end:stream]


if __name__ == "__main__":
    import io
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "squares.tar")
        with tarfile.open(path, "w") as tar:
            for number in range(6):
                square = np.full((8, 8, 3), 20 * number, np.uint8)
                data = cv2.imencode(".png", square)[1].tobytes()
                member = tarfile.TarInfo(f"{number:03}.png")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        for kind in (NaiveTarStream, TarStream):
            loader = DataLoader(kind(path), batch_size=None, num_workers=2)
            print(kind.__name__, sorted(int(image[0, 0, 0]) for image in loader))
