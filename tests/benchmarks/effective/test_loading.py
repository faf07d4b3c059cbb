"""How fast images come from folders and tars (E6.1-E6.7).

The images are JPEGs of a gradient with noise, made with a fixed seed. Each contender
returns a sum over one byte of every image, so that none can leave one out.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import itertools
import tarfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

from scripts.measuring import Bench

pytest.importorskip("cv2")
import cv2

from snippets.effective.loading import small_files, tar_stream
from snippets.effective.loading.image_folder import ImageFolder
from snippets.effective.loading.indexed_tar import IndexedTar, collate_items, decode_image

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

HAS_WEBDATASET = importlib.util.find_spec("webdataset") is not None
WITHOUT = {} if HAS_WEBDATASET else {"webdataset": "webdataset is not installed"}


@functools.cache
def jpeg(number: int, side: int) -> bytes:
    """A JPEG of side x side: a gradient, moved a little in each image, with noise."""
    random = np.random.default_rng(number)
    ramp = np.linspace(0, 255, side)
    image = np.stack(
        [
            np.add.outer(ramp, ramp) / 2,
            np.add.outer(ramp, ramp[::-1]) / 2,
            np.full((side, side), number % 256),
        ],
        axis=-1,
    )
    noise = cv2.GaussianBlur(random.normal(0, 20, image.shape), (0, 0), 1)
    pixels = (image + noise).clip(0, 255).astype(np.uint8)
    return cv2.imencode(".jpg", pixels)[1].tobytes()


def jpegs(count: int, side: int) -> dict[str, bytes]:
    return {f"{number:05}.jpg": jpeg(number, side) for number in range(count)}


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def write_tars(folder: Path, files: dict[str, bytes], count: int = 1) -> list[str]:
    """The files in `count` tars, as equal in number as can be."""
    folder.mkdir()
    names = [list(part) for part in np.array_split(np.array(list(files)), count)]
    paths = [str(folder / f"{number}.tar") for number in range(count)]
    for path, part in zip(paths, names, strict=True):
        with tarfile.open(path, "w") as tar:
            for name in part:
                member = tarfile.TarInfo(str(name))
                member.size = len(files[name])
                tar.addfile(member, io.BytesIO(files[name]))
    return paths


def only_cpu(bench: Bench) -> None:
    if bench.device != "cpu":
        pytest.skip("images are loaded on the CPU")


def total(images: Iterable[Tensor]) -> int:
    """The sum of one byte of each image, shape (height, width, 3).

    Sixteen at a time are in memory, as for a batch: an image that is freed at once
    lends its place in the cache to the next, which no data loader can do.
    """
    rest, result = iter(images), 0
    while batch := list(itertools.islice(rest, 16)):
        result += sum(int(image[10, 20, 1]) for image in batch)
    return result


def expected(files: dict[str, bytes]) -> int:
    return total(decode_image(data) for data in files.values())


# ---------------------------------------------------------------------- one process


def from_memory(files: dict[str, bytes]) -> int:
    return total(decode_image(data) for data in files.values())


def from_index(images: IndexedTar, order: list[int]) -> int:
    return total(images[number].data for number in order)


def from_tarfile(path: str) -> int:
    return total(tar_stream.NaiveTarStream(path))


def from_folder(images: ImageFolder) -> int:
    return total(images[number] for number in range(len(images)))


def web_dataset(paths: list[str]) -> Any:
    import webdataset  # type: ignore[import-untyped]

    return webdataset.WebDataset(paths, shardshuffle=False)


def from_web_dataset(paths: list[str]) -> int:
    return total(decode_image(sample["jpg"]) for sample in web_dataset(paths))


@pytest.mark.benchmark
def test_archive(bench: Bench, tmp_path: Path) -> None:
    only_cpu(bench)
    for case in bench.sweep(side=[64, 128, 256, 512]):
        files = jpegs(128, case["side"])
        paths = write_tars(tmp_path / f"tars-{case['side']}", files)
        write_files(tmp_path / f"folder-{case['side']}", files)
        indexed = IndexedTar(paths)
        order = list(range(len(files)))
        shuffled = np.random.default_rng(0).permutation(order).tolist()
        contenders: dict[str, Callable[[], int]] = {
            "floor": partial(from_memory, files),
            "indexed": partial(from_index, indexed, order),
            "shuffled": partial(from_index, indexed, shuffled),
            "tarfile": partial(from_tarfile, paths[0]),
            "folder": partial(from_folder, ImageFolder(tmp_path / f"folder-{case['side']}")),
        }
        if HAS_WEBDATASET:
            contenders["webdataset"] = partial(from_web_dataset, paths)
        case.compare(contenders, reference=partial(expected, files), missing=WITHOUT)


# -------------------------------------------------------------------------- workers


class InMemory(Dataset[Tensor]):
    """The floor: files in memory, decoded."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = list(files.values())

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> Tensor:
        return decode_image(self.files[number])


class TarStreams(IterableDataset[Tensor]):
    """One tar after the other, each worker its share."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths

    def __iter__(self) -> Iterator[Tensor]:
        return itertools.chain.from_iterable(map(tar_stream.TarStream, self.paths))


class WebImages(IterableDataset[Tensor]):
    """WebDataset's samples, decoded in the same way."""

    def __init__(self, paths: list[str]) -> None:
        self.samples = web_dataset(paths)

    def __iter__(self) -> Iterator[Tensor]:
        return (decode_image(sample["jpg"]) for sample in self.samples)


class Epochs:
    """A DataLoader whose workers stay; calling it runs an epoch."""

    def __init__(
        self,
        dataset: Dataset[Any],
        workers: int,
        batch_size: int,
        collate: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        self.loader: DataLoader[Any] = DataLoader(
            dataset,
            batch_size=batch_size,
            num_workers=workers,
            persistent_workers=workers > 0,
            multiprocessing_context="fork" if workers else None,
            collate_fn=collate,
        )

    def __call__(self) -> int:
        batches = (getattr(batch, "data", batch) for batch in self.loader)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This DataLoader will create")
            return sum(int(batch[:, 10, 20, 1].sum()) for batch in batches)


@pytest.mark.benchmark
def test_archive_workers(bench: Bench, tmp_path: Path) -> None:
    only_cpu(bench)
    files = jpegs(256, 256)
    paths = write_tars(tmp_path / "tars", files, 4)
    for case in bench.sweep(workers=[1, 2, 4]):
        datasets: dict[str, Dataset[Any]] = {
            "floor": InMemory(files),
            "indexed": IndexedTar(paths),
            "default": IndexedTar(paths),
            "tarfile": TarStreams(paths),
        }
        if HAS_WEBDATASET:
            datasets["webdataset"] = WebImages(paths)
        contenders = {name: Epochs(each, case["workers"], 16) for name, each in datasets.items()}
        contenders["indexed"] = Epochs(IndexedTar(paths), case["workers"], 16, collate_items)
        case.compare(contenders, reference=partial(expected, files), missing=WITHOUT)


class SlowFolder(ImageFolder):
    """An image folder on storage that needs `latency` seconds to open a file."""

    def __init__(self, root: Path, latency: float) -> None:
        super().__init__(root)
        self.latency = latency

    def __getitem__(self, index: int) -> Tensor:
        time.sleep(self.latency)
        return super().__getitem__(index)


@pytest.mark.benchmark
def test_workers(bench: Bench, tmp_path: Path) -> None:
    only_cpu(bench)
    files = jpegs(64, 256)
    write_files(tmp_path / "folder", files)
    paths = write_tars(tmp_path / "tars", files)
    for case in bench.sweep(latency_ms=[0, 5], workers=[0, 1, 2, 4, 8]):
        folder = SlowFolder(tmp_path / "folder", case["latency_ms"] / 1000)
        case.compare(
            {
                "folder": Epochs(folder, case["workers"], 8),
                "indexed": Epochs(IndexedTar(paths), case["workers"], 8, collate_items),
            },
            reference=partial(expected, files),
        )


# ------------------------------------------------------------------ latency, layout


def slow_files(latency: float, paths: list[str]) -> int:
    storage = small_files.SlowStorage(latency)
    return total(map(decode_image, small_files.read_files(storage, paths)))


def slow_tar(latency: float, path: str) -> int:
    storage = small_files.SlowStorage(latency)
    return total(map(decode_image, small_files.read_tar(storage, path)))


@pytest.mark.benchmark
def test_small_files(bench: Bench, tmp_path: Path) -> None:
    only_cpu(bench)
    files = jpegs(64, 256)
    write_files(tmp_path / "folder", files)
    names = [str(tmp_path / "folder" / name) for name in files]
    [path] = write_tars(tmp_path / "tars", files)
    for case in bench.sweep(latency_ms=[0, 0.1, 1, 5]):
        latency = case["latency_ms"] / 1000
        case.compare(
            {
                "files": partial(slow_files, latency, names),
                "tar": partial(slow_tar, latency, path),
            },
            reference=partial(expected, files),
        )


def batch_of_transposed(images: list[Tensor]) -> Tensor:
    """Each image transposed to (3, height, width), then stacked."""
    return torch.stack([image.permute(2, 0, 1) for image in images])


def transposed_batch(images: list[Tensor]) -> Tensor:
    """Images stacked as they are; the batch is a view of shape (n, 3, height, width)."""
    return torch.stack(images).permute(0, 3, 1, 2)


@pytest.mark.benchmark
def test_layout(bench: Bench) -> None:
    only_cpu(bench)
    for case in bench.sweep(side=[64, 256]):
        images = [decode_image(data) for data in jpegs(32, case["side"]).values()]
        case.compare(
            {
                "images": partial(batch_of_transposed, images),
                "batch": partial(transposed_batch, images),
            },
            reference=partial(batch_of_transposed, images),
        )
