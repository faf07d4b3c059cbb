"""A folder of images as a data set, read with OpenCV (E6.1)."""

from __future__ import annotations

# --8<-- [start:imports]
import os
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

# --8<-- [end:imports]


# --8<-- [start:folder]
class ImageFolder(Dataset[Tensor]):
    """The images that a glob pattern finds below a folder.

    An item is uint8, shape (height, width, 3), RGB. `size`, (height, width),
    resizes all. Raises FileNotFoundError if the pattern finds nothing, and
    ValueError, naming the file, if one is no image.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        pattern: str = "**/*.jpg",
        size: tuple[int, int] | None = None,
    ) -> None:
        # Sorted, because file systems list files in an order of their own.
        self.paths = sorted(str(path) for path in Path(root).glob(pattern))
        if not self.paths:
            raise FileNotFoundError(f"no {pattern} in {root}")
        self.size = size

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Tensor:
        path = self.paths[index]
        image = cv2.imread(path, cv2.IMREAD_COLOR_RGB)
        if image is None:
            raise ValueError(f"{path} is no image that OpenCV can read")
        if self.size is not None:
            height, width = self.size
            image = cv2.resize(
                image,
                (width, height),
                interpolation=cv2.INTER_AREA,
            )
        return torch.from_numpy(image)


# --8<-- [end:folder]


# --8<-- [start:pad]
def pad_images(images: list[Tensor]) -> tuple[Tensor, Tensor]:
    """A batch of images of several sizes, for `collate_fn`.

    Each stands in the upper left of its place in a batch of shape
    (n, largest height, largest width, 3), with zeros around. The second result
    holds the sizes, shape (n, 2).
    """
    sizes = torch.tensor([image.shape[:2] for image in images])
    height, width = sizes.amax(dim=0).tolist()
    batch = images[0].new_zeros(len(images), height, width, 3)
    for place, image in zip(batch, images, strict=True):
        place[: image.shape[0], : image.shape[1]] = image
    return batch, sizes


# --8<-- [end:pad]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, width in [("a", 8), ("b", 12)]:
            red = np.full((8, width, 3), (0, 0, 255), np.uint8)
            cv2.imwrite(os.path.join(folder, f"{name}.png"), red)
        images = ImageFolder(folder, "*.png")
        print(len(images), images[0][0, 0].tolist())
        batch, sizes = pad_images([images[0], images[1]])
        print(tuple(batch.shape), sizes.tolist())
