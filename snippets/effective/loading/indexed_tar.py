"""Images in tars, by number and exactly once over workers and ranks (E6.6)."""

from __future__ import annotations

# --8<-- [start:imports]
import contextlib
import mmap
import os
import tarfile
import uuid
import warnings
import weakref
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, Literal, NamedTuple, SupportsIndex

import cv2
import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler, default_collate

# --8<-- [end:imports]


# --8<-- [start:index]
class Unreadable(ValueError):
    """A tar, or a member of one, that can't be read. The message names it."""


class TarChanged(Exception):
    """A tar is no longer the one that was indexed."""


class TarIndex(NamedTuple):
    """Where the n members of a tar are, folders left out."""

    stamp: NDArray[np.int64]  # index version, size and mtime of the tar
    offset: NDArray[np.int64]  # (n,) the byte where the data start
    size: NDArray[np.int64]  # (n,) how many bytes they are
    kind: NDArray[np.int64]  # (n,) 0 for a file, else one of OBSTACLES
    names: NDArray[np.uint8]  # all names in UTF-8, one after the other
    name_end: NDArray[np.int64]  # (n,) where in `names` each one ends
    problem: NDArray[np.str_]  # why the tar can't be read to its end, if so

    def name(self, row: int) -> str:
        """The name of a member."""
        start = self.name_end[row - 1] if row else 0
        name = self.names[start : self.name_end[row]].tobytes()
        return name.decode("utf-8", "backslashreplace")


OBSTACLES = (
    "",
    "stored sparse: make the tar without --sparse",
    "a symbolic link: make the tar with --dereference",
    "a hard link to a file that isn't in the tar",
    "neither a file nor a link",
)
SPARSE, SYMBOLIC, DANGLING, SPECIAL = range(1, 5)
COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\x1f\x9d": "compress",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
}
INDEX_VERSION = 1


def stamp_of(file: int | str) -> NDArray[np.int64]:
    """What differs when a tar has changed."""
    status = os.stat(file)
    return np.array([INDEX_VERSION, status.st_size, status.st_mtime_ns])


def members_of(file: BinaryIO) -> Iterator[tarfile.TarInfo]:
    """The members of a tar in order.

    Raises Unreadable at a broken header, a missing end and data behind the
    end, where tarfile stops without a word.
    """
    last = ""
    try:
        with tarfile.open(
            fileobj=file,
            mode="r:",
            encoding="utf-8",
            errors="surrogateescape",
        ) as tar:
            while (member := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]
                last = member.name
                yield member
            file.seek(tar.offset)
        block = file.read(512)
        if len(block) < 512:
            raise Unreadable("cut off, or its writer was not closed")
        if any(block):
            raise Unreadable("broken: no header where one should be")
        while rest := file.read(1 << 20):
            if rest.strip(b"\0"):
                raise Unreadable("data behind the end: two tars in one file?")
    except (tarfile.TarError, ValueError) as error:
        if last:
            raise Unreadable(f"{error}, in or after {last}") from error
        file.seek(0)
        start = file.read(8)
        for magic, method in COMPRESSED.items():
            if start.startswith(magic):
                text = f"compressed by {method}: unpack it to a plain tar"
                raise Unreadable(text) from error
        raise Unreadable(f"no tar: {error}") from error


def build_index(path: str) -> TarIndex:
    """The index of a tar. Only its headers are read."""
    offset, size, kind, name_end = (array("q") for _ in range(4))
    names = bytearray()
    links: dict[int, str] = {}
    problem = ""
    with open(path, "rb") as file:
        stamp = stamp_of(file.fileno())
        try:
            for member in members_of(file):
                if member.isdir():
                    continue
                sparse = member.issparse()
                end = member.offset_data + member.size
                if member.isreg() and not sparse and end > stamp[1]:
                    continue  # cut off: members_of is about to raise
                if member.islnk():
                    links[len(kind)] = member.linkname
                    kind.append(DANGLING)
                elif member.issym():
                    kind.append(SYMBOLIC)
                elif sparse:
                    kind.append(SPARSE)
                else:
                    kind.append(0 if member.isreg() else SPECIAL)
                offset.append(member.offset_data)
                size.append(member.size)
                names += member.name.encode("utf-8", "surrogateescape")
                name_end.append(len(names))
        except Unreadable as error:
            problem = str(error)
        if not np.array_equal(stamp, stamp_of(file.fileno())):
            raise TarChanged(f"{path} changed while it was indexed")
    index = TarIndex(
        stamp,
        np.array(offset),
        np.array(size),
        np.array(kind),
        np.frombuffer(bytes(names), np.uint8),
        np.array(name_end),
        np.array(problem),
    )
    if links:  # a hard link is a second name for a file that came before
        rows = {index.name(row): row for row in reversed(range(len(kind)))}
        for row, target in links.items():
            source = rows.get(target, row)
            for column in (index.offset, index.size, index.kind):
                column[row] = column[source]
    return index


def write_index(index: TarIndex, path: str) -> None:
    """Write another file, then rename it: nobody ever reads half an index."""
    part = f"{path}.{uuid.uuid4().hex}"
    try:
        with open(part, "xb") as file:
            np.savez(file, **index._asdict())
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            os.remove(part)


def read_index(path: str, cache: bool = True) -> TarIndex:
    """The index of a tar: from the file beside it if that is up to date."""
    beside = f"{path}.index.npz"
    if cache:  # whatever is wrong with the cache, a new index mends it
        with contextlib.suppress(Exception), np.load(beside) as saved:
            index = TarIndex(**{key: saved[key] for key in TarIndex._fields})
            if np.array_equal(index.stamp, stamp_of(path)):
                return index
    index = build_index(path)
    if cache:
        try:
            write_index(index, beside)
        except OSError as error:
            text = f"the index of {path} is not kept: {error}"
            warnings.warn(text, stacklevel=2)
    return index


# --8<-- [end:index]


# --8<-- [start:read]
MOST_OPEN = 64  # tars that a process keeps open


class OpenTar:
    """A tar from which every thread and every forked process may read."""

    def __init__(self, path: str, stamp: tuple[int, ...]) -> None:
        self.fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self.fd)
        if tuple(stamp_of(self.fd).tolist()) != stamp:
            raise TarChanged(f"{path} has changed since it was indexed")
        self.map: mmap.mmap | None = None
        if not hasattr(os, "pread"):  # on Windows
            self.map = mmap.mmap(self.fd, 0, access=mmap.ACCESS_READ)

    def read(self, offset: int, size: int) -> bytes:
        """The bytes from `offset` on. EOFError if the file ends before."""
        if self.map is not None:
            data = self.map[offset : offset + size]
        else:
            data = os.pread(self.fd, size, offset)
        while len(data) < size:  # pread may stop early
            done, more = len(data), b""
            if self.map is None:
                more = os.pread(self.fd, size - done, offset + done)
            if not more:
                raise EOFError("the tar ends before it")
            data += more
        return data


# --8<-- [end:read]


# --8<-- [start:item]
class Filler(int):
    """The number of an item that only fills up a batch."""


class Item(NamedTuple):
    """What IndexedTar yields."""

    data: Any  # what `decode` made of the file
    name: str  # of the member
    number: int  # of the item
    valid: bool  # False if it only fills up the batch, or can't be read
    error: str  # why it can't be read


class Batch(NamedTuple):
    """A batch of n items as `collate_items` makes it."""

    data: Any  # tensors
    name: list[str]
    number: NDArray[np.int64]  # (n,)
    valid: NDArray[np.bool_]  # (n,)
    error: list[str]


def collate_items(items: list[Item]) -> Batch:
    """A batch with `data` as the only tensor, for `collate_fn`.

    The default makes tensors of `number` and `valid` too, and each tensor
    needs shared memory of its own to get out of a worker.
    """
    data, names, numbers, valid, errors = map(list, zip(*items, strict=True))
    stacked = default_collate(data)
    return Batch(stacked, names, np.array(numbers), np.array(valid), errors)


IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")


def decode_image(data: bytes) -> Tensor:
    """An image as uint8, shape (height, width, 3), RGB.

    Raises ValueError if `data` is no image.
    """
    pixels = np.frombuffer(data, np.uint8)
    image = cv2.imdecode(pixels, cv2.IMREAD_COLOR_RGB) if data else None
    if image is None:
        raise ValueError("no image that OpenCV can read")
    return torch.from_numpy(image)


# --8<-- [end:item]


# --8<-- [start:dataset]
class IndexedTar(Dataset[Item]):
    """The files in uncompressed tars, by number.

    `parts` chooses files by suffix; a tuple means any of its suffixes. Several
    parts make one item of the files that differ in the suffix only, as in
    `parts=[".jpg", ".cls"]`, and `decode` gets the bytes of each of them.
    `left_out` counts, by suffix, the files that no part asks for.

    `bad="raise"`: what can't be read raises Unreadable, as soon as it shows.
    `bad="skip"`: what shows at once goes into `problems`. What shows when it
    is read is an item with `valid=False`, an error, and the next good data.

    A tar that changes after it was indexed raises TarChanged.
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        decode: Callable[..., Any] = decode_image,
        parts: Sequence[str | tuple[str, ...]] = (IMAGES,),
        bad: Literal["raise", "skip"] = "raise",
        cache: bool = True,
    ) -> None:
        if bad not in ("raise", "skip"):
            raise ValueError(f'bad must be "raise" or "skip", not {bad!r}')
        if isinstance(paths, str | os.PathLike):
            paths = [paths]
        if isinstance(parts, str):
            parts = [parts]
        self.paths = [os.fspath(path) for path in paths]
        self._absolute = [os.path.abspath(path) for path in self.paths]
        self.decode = decode
        self.bad = bad
        self.problems: list[str] = []
        self.left_out: Counter[str] = Counter()
        self._stamps: list[tuple[int, ...]] = []
        # One element an item, or a part of it. Such arrays are compact, stay
        # shared with forked workers, and are faster to ask than NumPy's.
        self._tar = array("q")
        self._offset = array("q")
        self._size = array("q")
        self._names = bytearray()
        self._name_end = array("q", [0])
        self._parts = len(parts)
        for path in self.paths:
            self._add(read_index(path, cache), path, list(parts))
        if not len(self):
            why = self.problems or f"left out: {dict(self.left_out)}"
            raise Unreadable(f"nothing to read in {self.paths}, {why}")
        self._open: dict[int, OpenTar] = {}

    def __len__(self) -> int:
        return len(self._tar)

    def __getitem__(self, number: SupportsIndex) -> Item:
        place = range(len(self._tar))[number]  # from the end, if negative
        error = ""
        try:
            data = self._load(place)
        except Unreadable as reason:
            if self.bad == "raise":
                raise
            data, error = self._next_good(place), str(reason)
        if isinstance(number, Filler):
            return Item(data, self.name(place), place, False, "")
        return Item(data, self.name(place), place, not error, error)

    def name(self, number: int) -> str:
        """The name of an item's first file."""
        start, end = self._name_end[number], self._name_end[number + 1]
        return self._names[start:end].decode()

    def _load(self, number: int) -> Any:
        tar = self._tar[number]
        first = number * self._parts
        try:
            file = self._open.get(tar) or self._open_tar(tar)
            files = [
                file.read(self._offset[part], self._size[part])
                for part in range(first, first + self._parts)
            ]
            return self.decode(*files)
        except TarChanged:
            raise
        except Exception as error:
            member = f"{self.paths[tar]}: {self.name(number)}"
            raise Unreadable(f"{member}: {error}") from error

    def _open_tar(self, tar: int) -> OpenTar:
        for oldest in list(self._open)[: len(self._open) - MOST_OPEN + 1]:
            self._open.pop(oldest, None)  # closes it, once no thread reads it
        file = OpenTar(self._absolute[tar], self._stamps[tar])
        self._open[tar] = file
        return file

    def _next_good(self, number: int) -> Any:
        for step in range(1, len(self)):
            with contextlib.suppress(Unreadable):
                return self._load((number + step) % len(self))
        raise Unreadable(f"not one item of {self.paths} can be read")

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_open": {}}

    def _add(
        self,
        index: TarIndex,
        path: str,
        parts: list[str | tuple[str, ...]],
    ) -> None:
        """Take the items of another tar in."""
        if index.problem.item():
            self._complain(f"{path}: {index.problem.item()}")
        elif not len(index.kind):
            self._complain(f"{path}: no members")
        suffixes = [
            (suffix.lower(), part)
            for part, wanted in enumerate(parts)
            for suffix in ([wanted] if isinstance(wanted, str) else wanted)
        ]
        suffixes.sort(key=lambda each: -len(each[0]))  # .seg.png before .png
        rows = array("q")
        groups: dict[str, list[int]] = {}
        for row, kind in enumerate(index.kind.tolist()):
            name = index.name(row)
            double = os.path.basename(name).startswith("._")  # from macOS
            fits = (s for s in suffixes if name.lower().endswith(s[0]))
            suffix, part = next(fits, ("", -1))
            if double or part < 0:
                suffix = "._*" if double else os.path.splitext(name)[1]
                self.left_out[suffix] += 1
            elif kind:
                self._complain(f"{path}: {name}: {OBSTACLES[kind]}")
            elif len(parts) == 1:
                rows.append(row)
            else:
                stem = name[: -len(suffix)]
                group = groups.setdefault(stem, [-1] * len(parts))
                if group[part] >= 0:
                    self._complain(f"{path}: {name}: twice in the tar")
                else:
                    group[part] = row
        for stem, group in groups.items():
            if min(group) < 0:
                lacks = parts[group.index(-1)]
                self._complain(f"{path}: {stem}: without {lacks}")
            else:
                rows.extend(group)
        self._offset.extend(index.offset[rows].tolist())
        self._size.extend(index.size[rows].tolist())
        for row in rows[:: len(parts)]:
            self._tar.append(len(self._stamps))
            self._names += index.name(row).encode()
            self._name_end.append(len(self._names))
        self._stamps.append(tuple(index.stamp.tolist()))

    def _complain(self, problem: str) -> None:
        if self.bad == "raise":
            raise Unreadable(problem)
        self.problems.append(problem)


# --8<-- [end:dataset]


# --8<-- [start:sampler]
class ExactBatches(Sampler[list[int]]):
    """Batches of numbers: 0 to length - 1, each exactly once over all ranks.

    Every rank gets the same number of batches, all of `batch_size` numbers.
    What is missing in the last one is filled up by numbers of type Filler.
    The order depends on seed and epoch alone. `block` shuffles blocks of that
    many neighbours, and inside them, so that reads stay close together.
    """

    def __init__(
        self,
        length: int,
        batch_size: int,
        *,
        rank: int | None = None,
        ranks: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
        block: int | None = None,
    ) -> None:
        running = dist.is_available() and dist.is_initialized()
        if ranks is None:
            ranks = dist.get_world_size() if running else 1
        if rank is None:
            rank = dist.get_rank() if running else 0
        if not 0 <= rank < ranks:
            raise ValueError(f"rank {rank} of {ranks}")
        if length < 0 or batch_size < 1 or (block is not None and block < 1):
            raise ValueError("batch_size and block must be at least 1")
        self.length, self.batch_size = length, batch_size
        self.rank, self.ranks = rank, ranks
        self.shuffle, self.seed, self.block = shuffle, seed, block
        self.epoch = 0
        self._start = 0

    def set_epoch(self, epoch: int) -> None:
        """Go to the beginning of an epoch, unless it is the present one."""
        if epoch != self.epoch:
            self.epoch, self._start = epoch, 0

    def order(self) -> NDArray[np.int64]:
        """The order of all items in this epoch, shape (length,)."""
        if not self.shuffle:
            return np.arange(self.length)
        random = np.random.default_rng([self.seed, self.epoch])
        if self.block is None:
            return random.permutation(self.length)
        numbers = np.arange(self.length)
        starts = random.permutation(numbers[:: self.block]).tolist()
        blocks = (numbers[start : start + self.block] for start in starts)
        return np.concatenate([numbers[:0], *map(random.permutation, blocks)])

    def __len__(self) -> int:
        left = self.length - self._start
        return -(-left // (self.ranks * self.batch_size))

    def __iter__(self) -> Iterator[list[int]]:
        order = self.order()
        step = self.ranks * self.batch_size
        for start in range(self._start, self.length, step):
            shares = np.array_split(order[start : start + step], self.ranks)
            batch = shares[self.rank].tolist()
            missing = np.resize(order, self.batch_size - len(batch))
            yield batch + [Filler(number) for number in missing.tolist()]

    def state_dict(self, batches: int) -> dict[str, Any]:
        """The place after that many batches of this iteration were used.

        Count them where they are used: workers fetch more of them ahead.
        """
        if not 0 <= batches <= len(self):
            raise ValueError(f"{batches} of {len(self)} batches")
        used = self._start + batches * self.ranks * self.batch_size
        return {
            "order": [self.length, self.shuffle, self.seed, self.block],
            "epoch": self.epoch,
            "used": min(used, self.length),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from that place, with any number of workers and ranks."""
        order = [self.length, self.shuffle, self.seed, self.block]
        if state["order"] != order:
            raise ValueError(
                "length, shuffle, seed and block were "
                f"{state['order']} and are {order}: the order is another"
            )
        self.epoch, self._start = state["epoch"], state["used"]


# --8<-- [end:sampler]


# --8<-- [start:mean]
def mean_over_ranks(
    losses: Tensor,
    valid: Tensor | NDArray[np.bool_],
) -> Tensor:
    """What to call backward on. Losses and valid have one element an item.

    DistributedDataParallel averages the gradients of the ranks. With this loss
    they are those of the mean over the valid items of all ranks.
    """
    valid = torch.as_tensor(valid, device=losses.device)
    if losses.shape != valid.shape:
        raise ValueError(f"losses {losses.shape}, valid {valid.shape}")
    count, ranks = valid.sum(), 1
    if dist.is_available() and dist.is_initialized():
        dist.all_reduce(count)
        ranks = dist.get_world_size()
    return losses.where(valid, 0).sum() * ranks / count.clamp(min=1)


# --8<-- [end:mean]


if __name__ == "__main__":
    import io
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "squares.tar")
        with tarfile.open(path, "w") as tar:
            for number in range(10):
                square = np.full((8, 8, 3), 20 * number, np.uint8)
                data = cv2.imencode(".png", square)[1].tobytes()
                member = tarfile.TarInfo(f"{number:03}.png")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        squares = IndexedTar(path)
        print(len(squares), squares[7].name, tuple(squares[7].data.shape))
        batches = ExactBatches(len(squares), 4, shuffle=True)
        for batch in DataLoader(squares, batch_sampler=batches):
            print(batch.number.tolist(), batch.valid.tolist())
