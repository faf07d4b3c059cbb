"""Loading: against the bytes that went in, with real workers and real ranks."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
import torch
import webdataset  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader, RandomSampler
from torch.utils.data.distributed import DistributedSampler

from snippets.effective.loading import (
    image_folder,
    indexed_tar,
    rank_shares,
    shared_handle,
    small_files,
    tar_layout,
    tar_offsets,
    tar_stream,
    worker_curve,
)
from snippets.effective.loading.indexed_tar import (
    Batch,
    ExactBatches,
    Filler,
    IndexedTar,
    Item,
    TarChanged,
    Unreadable,
)

HELPERS = Path(__file__).with_name("loading")
ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning"),
]


def as_bytes(data: bytes) -> bytes:
    """A `decode` that leaves the bytes alone, and can go to a spawned worker."""
    return data


def one_image(number: int, height: int = 8, width: int = 8) -> bytes:
    pixels = np.full((height, width, 3), (number % 256, 50, 200), np.uint8)
    return cv2.imencode(".png", pixels)[1].tobytes()


def names_and_bytes(count: int) -> dict[str, bytes]:
    """Names of all lengths, with bytes of all sizes, deterministic."""
    random = np.random.default_rng(count)
    sizes = [1, 511, 512, 513, 4000, 20_000]
    return {
        f"{'d' * (1 + 30 * (i % 4))}/{i:03}{'长' * (i % 2)}{'n' * (20 * (i % 4))}.jpg": (
            random.bytes(sizes[i % len(sizes)])
        )
        for i in range(count)
    }


def add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def write_tar(path: Path, files: dict[str, bytes], format: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(path, "w", format=format, encoding="utf-8") as tar:
        for name, data in files.items():
            add(tar, name, data)
    return path


def contents(data: IndexedTar) -> dict[str, bytes]:
    return {item.name: item.data for item in (data[i] for i in range(len(data)))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


# ------------------------------------------------------------------ tars of all makers


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_python_tars(folder: Path, format: int) -> None:
    files = names_and_bytes(30)
    if format == tarfile.USTAR_FORMAT:
        files = {name.replace("长", "x"): data for name, data in files.items()}
    path = write_tar(folder / "a.tar", files, format)
    data = IndexedTar(path, as_bytes)
    assert contents(data) == files
    assert [data[i].name for i in range(len(data))] == list(files)
    assert data.problems == []


def make_tree(folder: Path) -> dict[str, bytes]:
    """A folder with long names, an empty file, folders, and a hard link."""
    files = names_and_bytes(20)
    files["empty.jpg"] = b""
    files["a/" * 60 + "deep.jpg"] = b"deep" * 1000
    files["with space 和 中文.jpg"] = b"x" * 700
    for name, data in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    os.link(folder / "empty.jpg", folder / "zz-link-to-nothing.jpg")
    os.link(folder / "with space 和 中文.jpg", folder / "zz-link.jpg")
    (folder / "no files in here").mkdir()
    files["zz-link-to-nothing.jpg"] = b""
    files["zz-link.jpg"] = b"x" * 700
    return files


@pytest.mark.parametrize(
    "command",
    [
        ["tar", "--format=gnu"],
        ["tar", "--format=posix"],
        ["tar", "--format=oldgnu"],
        ["tar", "--format=ustar"],
        ["bsdtar", "--format=pax"],
        ["bsdtar", "--format=gnutar"],
        ["bsdtar", "--format=ustar"],
    ],
    ids=" ".join,
)
def test_tars_from_the_command_line(folder: Path, command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    tree = folder / "tree"
    tree.mkdir()
    files = {f"./{name}": data for name, data in make_tree(tree).items()}
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    subprocess.run([*command, "-cf", "../a.tar", "."], cwd=tree, check=True, env=environment)
    assert contents(IndexedTar(folder / "a.tar", as_bytes)) == files


def test_old_v7_tar(folder: Path) -> None:
    if shutil.which("tar") is None:
        pytest.skip("needs tar")
    (folder / "x").mkdir()
    (folder / "x" / "a.jpg").write_bytes(b"a" * 600)
    subprocess.run(["tar", "--format=v7", "-cf", "a.tar", "x"], cwd=folder, check=True)
    assert contents(IndexedTar(folder / "a.tar", as_bytes)) == {"x/a.jpg": b"a" * 600}


def test_webdataset_tar_and_parts(folder: Path) -> None:
    path = str(folder / "a.tar")
    with webdataset.TarWriter(path) as writer:
        for i in range(10):
            writer.write(
                {"__key__": f"s/{i:02}", "jpg": b"%d" % i, "cls": i, "seg.png": b"m%d" % i}
            )
    data = IndexedTar(path, lambda *parts: parts, parts=[".jpg", ".cls", ".seg.png"])
    assert [data[i].data for i in range(10)] == [
        (b"%d" % i, b"%d" % i, b"m%d" % i) for i in range(10)
    ]
    only = IndexedTar(path, as_bytes, parts=".cls")
    assert [item.data for item in (only[i] for i in range(10))] == [b"%d" % i for i in range(10)]
    assert only.left_out == {".jpg": 10, ".png": 10}


def test_parts_need_not_be_neighbours(folder: Path) -> None:
    files = {f"{i}.jpg": b"j%d" % i for i in range(5)} | {f"{i}.txt": b"t%d" % i for i in range(5)}
    path = write_tar(folder / "a.tar", files)
    data = IndexedTar(path, lambda *parts: parts, parts=[".txt", (".jpg", ".png")])
    assert [data[i].data for i in range(5)] == [(b"t%d" % i, b"j%d" % i) for i in range(5)]


def test_incomplete_and_doubled_parts_are_named(folder: Path) -> None:
    path = write_tar(folder / "a.tar", {"0.jpg": b"0", "0.txt": b"a", "1.jpg": b"1"})
    with pytest.raises(Unreadable, match=r"a\.tar: 1: without \.txt"):
        IndexedTar(path, as_bytes, parts=[".jpg", ".txt"])
    data = IndexedTar(path, lambda *parts: parts, parts=[".jpg", ".txt"], bad="skip")
    assert len(data) == 1
    assert len(data.problems) == 1
    with tarfile.open(path, "a") as tar:
        add(tar, "0.jpg", b"again")
        add(tar, "1.txt", b"b")
    with pytest.raises(Unreadable, match=r"a\.tar: 0\.jpg: twice"):
        IndexedTar(path, as_bytes, parts=[".jpg", ".txt"])


def test_suffixes_in_capitals_and_what_macos_adds(folder: Path) -> None:
    files = {"A.JPG": b"a", "b.Jpeg": b"b", "c.tar.png": b"c", "._A.JPG": b"?", "d/._b.Jpeg": b"?"}
    data = IndexedTar(write_tar(folder / "a.tar", files | {"README": b"r"}), as_bytes)
    assert list(contents(data)) == ["A.JPG", "b.Jpeg", "c.tar.png"]
    assert data.left_out == {"._*": 2, "": 1}


def test_names_that_are_not_utf8(folder: Path) -> None:
    path = folder / "a.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT, encoding="gbk") as tar:
        add(tar, "中文.jpg", b"x")
    [name] = contents(IndexedTar(path, as_bytes))
    assert name.endswith(".jpg")
    name.encode("utf-8")


def test_the_same_name_twice_makes_two_items(folder: Path) -> None:
    path = folder / "a.tar"
    with tarfile.open(path, "w") as tar:
        add(tar, "a.jpg", b"old")
        add(tar, "a.jpg", b"new")
    data = IndexedTar(path, as_bytes)
    assert [data[i].data for i in range(2)] == [b"old", b"new"]


# ------------------------------------------------------------- what can't be read


def obstacles(kind: str) -> tuple[str, Callable[[tarfile.TarFile], None]]:
    def special(type: bytes, target: str = "") -> Callable[[tarfile.TarFile], None]:
        def put(tar: tarfile.TarFile) -> None:
            member = tarfile.TarInfo("odd.jpg")
            member.type, member.linkname = type, target
            tar.addfile(member)

        return put

    return {
        "symbolic": ("a symbolic link", special(tarfile.SYMTYPE, "0.jpg")),
        "dangling": ("a hard link to a file that isn't", special(tarfile.LNKTYPE, "gone.jpg")),
        "fifo": ("neither a file nor a link", special(tarfile.FIFOTYPE)),
    }[kind]


@pytest.mark.parametrize("kind", ["symbolic", "dangling", "fifo"])
def test_members_without_bytes_are_named(folder: Path, kind: str) -> None:
    message, put = obstacles(kind)
    path = folder / "a.tar"
    with tarfile.open(path, "w") as tar:
        add(tar, "0.jpg", b"0")
        put(tar)
        add(tar, "1.jpg", b"1")
    with pytest.raises(Unreadable, match=rf"a\.tar: odd\.jpg: {message}"):
        IndexedTar(path, as_bytes)
    data = IndexedTar(path, as_bytes, bad="skip")
    assert contents(data) == {"0.jpg": b"0", "1.jpg": b"1"}
    assert len(data.problems) == 1
    assert message in data.problems[0]


def test_sparse_member_is_named(folder: Path) -> None:
    if shutil.which("tar") is None or sys.platform != "linux":
        pytest.skip("needs GNU tar")
    with open(folder / "hole.jpg", "wb") as file:
        file.truncate(1 << 22)
        file.seek(1 << 21)
        file.write(b"x")
    (folder / "z.jpg").write_bytes(b"z")
    for format in ("gnu", "posix"):
        subprocess.run(
            ["tar", f"--format={format}", "--sparse", "-cf", "a.tar", "z.jpg", "hole.jpg"],
            cwd=folder, check=True,
        )  # fmt: skip
        assert os.path.getsize(folder / "a.tar") < 1 << 20, "the tar is not sparse"
        with pytest.raises(Unreadable, match=r"a\.tar: hole\.jpg: stored sparse"):
            IndexedTar(folder / "a.tar", as_bytes)
        data = IndexedTar(folder / "a.tar", as_bytes, bad="skip")
        assert contents(data) == {"z.jpg": b"z"}


@pytest.mark.parametrize("end", [0, 10_240])
def test_tar_cut_anywhere(folder: Path, end: int) -> None:
    files = {f"{i}.jpg": bytes([i]) * (300 + 700 * i) for i in range(4)}
    whole = write_tar(folder / "whole.tar", files).read_bytes()
    size = 4 * 512 + 512 * (1 + 2 + 4 + 5)
    assert not any(whole[size:])
    path = folder / "a.tar"
    for cut in [*range(0, size + 512, 61), *range(512, size + 512, 512)]:
        path.write_bytes(whole[:cut])
        with pytest.raises(Unreadable, match=r"a\.tar") as error:
            IndexedTar(path, as_bytes, cache=False)
        started = [name for name in files if whole.find(name.encode()) + 512 <= cut]
        if started:
            assert started[-1] in str(error.value)
            try:
                data = IndexedTar(path, as_bytes, bad="skip", cache=False)
            except Unreadable:
                assert len(started) == 1
                continue
            assert len(data.problems) == 1
            assert set(started[:-1]) <= set(contents(data)) <= set(started)
            assert all(files[name] == read for name, read in contents(data).items())
    path.write_bytes(whole[: size + 512])  # one block of zeros ends a tar for all readers
    assert contents(IndexedTar(path, as_bytes)) == files


def test_broken_header_anywhere(folder: Path) -> None:
    files = {f"{i}.jpg": bytes([i + 1]) * 600 for i in range(3)}
    whole = write_tar(folder / "whole.tar", files, tarfile.USTAR_FORMAT).read_bytes()
    second = 512 + 1024
    path = folder / "a.tar"
    checksum = range(second + 148, second + 156)
    for place in sorted({*range(second, second + 512, 5)} - {*checksum}):
        broken = bytearray(whole)
        broken[place] ^= 0x15
        path.write_bytes(broken)
        with pytest.raises(Unreadable, match=r"a\.tar.*0\.jpg"):
            IndexedTar(path, as_bytes, cache=False)
    blank = whole[:second] + bytes(512) + whole[second + 512 :]
    path.write_bytes(blank)
    with pytest.raises(Unreadable, match="data behind the end"):
        IndexedTar(path, as_bytes, cache=False)
    data = IndexedTar(path, as_bytes, bad="skip", cache=False)
    assert len(data) == 1
    assert len(data.problems) == 1


def test_two_tars_in_one_file(folder: Path) -> None:
    first = write_tar(folder / "1.tar", {"a.jpg": b"a"}).read_bytes()
    second = write_tar(folder / "2.tar", {"b.jpg": b"b"}).read_bytes()
    path = folder / "a.tar"
    path.write_bytes(first + second)
    with pytest.raises(Unreadable, match=r"a\.tar: data behind the end.*a\.jpg"):
        IndexedTar(path, as_bytes)


@pytest.mark.parametrize("method", ["gzip", "bzip2", "xz", "zip"])
def test_compressed(folder: Path, method: str) -> None:
    plain = write_tar(folder / "plain.tar", {"a.jpg": b"a"}).read_bytes()
    path = folder / "a.tar"
    if method == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.jpg", b"a")
    else:
        compress: Any = {"gzip": gzip, "bzip2": bz2, "xz": lzma}[method].compress
        path.write_bytes(compress(plain))
    with pytest.raises(Unreadable, match=rf"a\.tar: compressed by {method}"):
        IndexedTar(path)
    other = write_tar(folder / "b.tar", {"b.jpg": b"b"})
    data = IndexedTar([path, other], as_bytes, bad="skip")
    assert len(data) == 1
    assert len(data.problems) == 1


def test_empty(folder: Path) -> None:
    nothing = folder / "nothing.tar"
    nothing.touch()
    memberless = write_tar(folder / "memberless.tar", {})
    imageless = write_tar(folder / "imageless.tar", {"a.txt": b"a", "b.txt": b"b"})
    for path, message in [
        (nothing, r"nothing\.tar: no tar: empty file"),
        (memberless, r"memberless\.tar: no members"),
        (imageless, r"imageless\.tar.*\.txt.*2"),
    ]:
        with pytest.raises(Unreadable, match=message):
            IndexedTar(path)
    with pytest.raises(Unreadable, match="nothing to read"):
        IndexedTar([nothing, memberless], bad="skip")
    good = write_tar(folder / "good.tar", {"a.jpg": b"a"})
    data = IndexedTar([nothing, good, memberless, imageless], as_bytes, bad="skip")
    assert contents(data) == {"a.jpg": b"a"}
    assert len(data.problems) == 2
    assert data.left_out == {".txt": 2}
    with pytest.raises(FileNotFoundError):
        IndexedTar(folder / "gone.tar")


@pytest.mark.parametrize(
    "broken",
    [b"", b"no image", one_image(3)[:40], b"\xff\xd8\xff\xe0" + bytes(50)],
    ids=["empty", "text", "cut", "zeros"],
)
def test_member_that_is_no_image(folder: Path, broken: bytes) -> None:
    files = {f"{i}.png": one_image(i) for i in range(5)} | {"5.png": broken}
    path = write_tar(folder / "a.tar", files)
    strict = IndexedTar(path)
    for workers in (0, 1):
        with pytest.raises(Unreadable, match=r"a\.tar: 5\.png: no image that OpenCV can read"):
            list(DataLoader(strict, batch_size=2, num_workers=workers))
    data = IndexedTar(path, bad="skip")
    batches = list(DataLoader(data, batch_size=2, num_workers=1))
    assert torch.cat([batch.valid for batch in batches]).tolist() == [True] * 5 + [False]
    errors = [error for batch in batches for error in batch.error if error]
    assert len(errors) == 1
    assert "5.png" in errors[0]
    assert data[5].data.shape == (8, 8, 3)
    assert data[Filler(5)].error == ""


def test_nothing_is_an_image(folder: Path) -> None:
    path = write_tar(folder / "a.tar", {f"{i}.jpg": b"?" for i in range(3)})
    data = IndexedTar(path, bad="skip")
    with pytest.raises(Unreadable, match="not one item"):
        data[0]


def fails_with_runtime_error(data: bytes) -> bytes:
    raise RuntimeError("as torchvision does")


def test_any_error_of_decode_names_the_member(folder: Path) -> None:
    path = write_tar(folder / "a.tar", {"x.jpg": b"x"})
    with pytest.raises(Unreadable, match=r"a\.tar: x\.jpg: as torchvision does"):
        IndexedTar(path, fails_with_runtime_error)[0]


def test_numbers(folder: Path) -> None:
    data = IndexedTar(
        write_tar(folder / "a.tar", {f"{i}.jpg": b"%d" % i for i in range(4)}), as_bytes
    )
    assert data[-1].data == b"3"
    assert data[-1].number == 3
    assert data[np.int64(2)].data == b"2"
    assert data[torch.tensor(2)].data == b"2"
    for wrong in (4, -5):
        with pytest.raises(IndexError):
            data[wrong]
    with pytest.raises(TypeError):
        data[1.5]  # type: ignore[index]
    assert [item.data for item in data] == [b"0", b"1", b"2", b"3"]  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="bad must be"):
        IndexedTar(data.paths, bad="ignore")  # type: ignore[arg-type]


# ------------------------------------------------------------------------- the index


def count_builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    built: list[str] = []
    build = indexed_tar.build_index

    def counting(path: str) -> indexed_tar.TarIndex:
        built.append(path)
        return build(path)

    monkeypatch.setattr(indexed_tar, "build_index", counting)
    return built


def test_index_is_kept_and_renewed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = count_builds(monkeypatch)
    path = write_tar(folder / "a.tar", names_and_bytes(12))
    before = contents(IndexedTar(path, as_bytes))
    assert contents(IndexedTar(path, as_bytes)) == before
    assert len(built) == 1
    assert sorted(os.listdir(folder)) == ["a.tar", "a.tar.index.npz"]
    with tarfile.open(path, "a") as tar:
        add(tar, "new.jpg", b"new")
    assert contents(IndexedTar(path, as_bytes)) == before | {"new.jpg": b"new"}
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    IndexedTar(path, as_bytes)
    assert len(built) == 3
    assert contents(IndexedTar(path, as_bytes, cache=False))["new.jpg"] == b"new"
    assert len(built) == 4


def test_bad_tar_stays_bad_when_its_index_is_kept(folder: Path) -> None:
    whole = write_tar(folder / "a.tar", {"0.jpg": b"0", "1.jpg": b"1" * 2000}).read_bytes()
    path = folder / "a.tar"
    path.write_bytes(whole[:2500])
    assert len(IndexedTar(path, as_bytes, bad="skip").problems) == 1
    assert (folder / "a.tar.index.npz").exists()
    with pytest.raises(Unreadable, match=r"1\.jpg"):
        IndexedTar(path, as_bytes)


@pytest.mark.parametrize("harm", ["empty", "text", "cut", "flipped", "array", "folder", "version"])
def test_harmed_cache_is_replaced(folder: Path, harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = names_and_bytes(12)
    path = write_tar(folder / "a.tar", files)
    IndexedTar(path, as_bytes)
    cache = folder / "a.tar.index.npz"
    good = cache.read_bytes()
    if harm == "empty":
        cache.write_bytes(b"")
    elif harm == "text":
        cache.write_bytes(b"not an index")
    elif harm == "cut":
        cache.write_bytes(good[: len(good) // 2])
    elif harm == "flipped":
        flipped = bytearray(good)
        flipped[len(good) // 3] ^= 0xFF
        cache.write_bytes(flipped)
    elif harm == "array":
        with open(cache, "wb") as file:
            np.save(file, np.arange(3))
    elif harm == "version":
        monkeypatch.setattr(indexed_tar, "INDEX_VERSION", 99)
    else:
        cache.unlink()
        cache.mkdir()
    built = count_builds(monkeypatch)
    if harm == "folder":
        with pytest.warns(UserWarning, match="is not kept"):
            assert contents(IndexedTar(path, as_bytes)) == files
    else:
        assert contents(IndexedTar(path, as_bytes)) == files
        assert contents(IndexedTar(path, as_bytes)) == files
    assert len(built) == 1
    assert sorted(os.listdir(folder)) == ["a.tar", "a.tar.index.npz"]


def test_folder_that_can_not_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = names_and_bytes(6)
    path = write_tar(folder / "a.tar", files)
    real_open = open

    def read_only(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if "x" in mode:
            raise PermissionError(13, "Permission denied", file)
        return real_open(file, mode, *args, **kwargs)

    monkeypatch.setattr("builtins.open", read_only)
    with pytest.warns(UserWarning, match="is not kept: .*Permission denied"):
        data = IndexedTar(path, as_bytes)
    assert contents(data) == files
    assert os.listdir(folder) == ["a.tar"]


def test_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_tar(folder / "a.tar", {"a.jpg": b"a"})

    def full(file: Any, **arrays: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(UserWarning, match="No space left"):
        IndexedTar(path, as_bytes)
    assert os.listdir(folder) == ["a.tar"]


def test_many_processes_index_at_once(folder: Path) -> None:
    files = {f"{i:04}.jpg": b"%d" % i for i in range(2000)}
    path = write_tar(folder / "a.tar", files)
    failures: list[BaseException] = []

    def read() -> None:
        try:
            assert len(IndexedTar(path, as_bytes)) == 2000
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(os.listdir(folder)) == ["a.tar", "a.tar.index.npz"]


def test_tar_that_changes_after_it_was_indexed(folder: Path) -> None:
    path = write_tar(folder / "a.tar", {"a.jpg": b"a"})
    data = IndexedTar(path, as_bytes, bad="skip")
    time.sleep(0.01)
    write_tar(path, {"b.jpg": b"b"})
    with pytest.raises(TarChanged, match=r"a\.tar has changed"):
        data[0]
    data = IndexedTar(path, as_bytes)
    os.remove(path)
    with pytest.raises(Unreadable, match=r"a\.tar: b\.jpg"):
        data[0]


@pytest.mark.parametrize("way", ["pread", "mmap"])
def test_offset_behind_the_end(folder: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "mmap":
        without_pread(monkeypatch)
    path = str(write_tar(folder / "a.tar", {"a.jpg": b"a"}))
    file = indexed_tar.OpenTar(path, tuple(indexed_tar.stamp_of(path).tolist()))
    assert file.read(512, 1) == b"a"
    with pytest.raises(EOFError, match="ends before it"):
        file.read(os.path.getsize(path) - 2, 5)


def test_tar_that_is_cut_while_it_is_open(folder: Path) -> None:
    path = write_tar(folder / "a.tar", {"a.jpg": b"a", "b.jpg": b"b" * 5000})
    data = IndexedTar(path, as_bytes)
    assert data[0].data == b"a"
    os.truncate(path, 2000)
    with pytest.raises(Unreadable, match=r"a\.tar: b\.jpg: the tar ends before it"):
        data[1]


# ------------------------------------------------------------- processes and handles


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_opencv_threads_survive_a_fork() -> None:
    """What pytorch#1355 reports. If this hangs again, the page must say so."""
    image = np.zeros((2000, 2000, 3), np.uint8)
    cv2.GaussianBlur(image, (15, 15), 3)
    child = os.fork()
    if child == 0:
        cv2.GaussianBlur(image, (15, 15), 3)
        os._exit(7)
    for _ in range(3000):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.02)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 7


def test_pickle_holds_no_handle(folder: Path) -> None:
    files = names_and_bytes(12)
    data = IndexedTar(write_tar(folder / "a.tar", files), as_bytes)
    data[0]
    again = pickle.loads(pickle.dumps(data))
    assert data._open
    assert not again._open
    assert contents(again) == files == contents(data)


def test_working_directory_may_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tar(folder / "a.tar", {"a.jpg": b"a"})
    monkeypatch.chdir(folder)
    data = IndexedTar("a.tar", as_bytes)
    monkeypatch.chdir("/")
    assert data[0].data == b"a"


def test_open_tars_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc")
    monkeypatch.setattr(indexed_tar, "MOST_OPEN", 3)
    paths = [write_tar(folder / f"{i}.tar", {f"{i}.jpg": b"%d" % i}) for i in range(20)]
    data = IndexedTar(paths, as_bytes)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        assert [data[i].data for i in range(20)] == [b"%d" % i for i in range(20)]
    assert len(os.listdir("/proc/self/fd")) <= before + 3
    del data
    assert len(os.listdir("/proc/self/fd")) == before


def without_pread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pread", raising=False)


@pytest.mark.parametrize("way", ["pread", "mmap"])
def test_threads(folder: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "mmap":
        without_pread(monkeypatch)
    elif not hasattr(os, "pread"):
        pytest.skip("needs pread")
    files = names_and_bytes(60)
    data = IndexedTar(write_tar(folder / "a.tar", files), as_bytes)
    wrong: list[str] = []

    def read(seed: int) -> None:
        for number in np.random.default_rng(seed).integers(0, 60, 300):
            item = data[number]
            if files[item.name] != item.data:
                wrong.append(item.name)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("way", ["pread", "mmap"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_handle_that_was_open_before_the_fork(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "mmap":
        without_pread(monkeypatch)
    files = {f"{i:03}.jpg": np.random.default_rng(i).bytes(5000) for i in range(200)}
    data = IndexedTar(write_tar(folder / "a.tar", files), as_bytes)
    data[0]
    loader = DataLoader(
        data, batch_size=7, num_workers=4, multiprocessing_context="fork", shuffle=True
    )
    read = {
        name: item for batch in loader for name, item in zip(batch.name, batch.data, strict=True)
    }
    assert read == files


def test_workers_under_spawn_without_pread(folder: Path) -> None:
    """As on Windows: spawned workers, each mapping the tar."""
    paths = [write_tar(folder / f"{i}.tar", names_and_bytes(10 + i)) for i in range(2)]
    done = subprocess.run(
        [sys.executable, HELPERS / "windows.py", *paths],
        capture_output=True, text=True, timeout=900, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"read": 21, "wrong": 0}


def test_any_sampler(folder: Path) -> None:
    data = IndexedTar(write_tar(folder / "a.tar", names_and_bytes(20)), as_bytes)
    loader = DataLoader(data, sampler=RandomSampler(data, num_samples=7), batch_size=3)
    assert sum(len(batch.name) for batch in loader) == 7
    loader = DataLoader(data, sampler=DistributedSampler(data, 2, 1), batch_size=3)
    assert sum(len(batch.name) for batch in loader) == 10


def test_memory_stays_flat(folder: Path) -> None:
    """100,000 members: the index is small, and reading all of them adds nothing."""
    done = subprocess.run(
        [sys.executable, HELPERS / "memory.py", folder / "many.tar", "100000"],
        capture_output=True, text=True, timeout=900, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["items"] == 100_000
    assert found["index"] < 6e6, found  # bytes kept: offset, size, kind and name
    assert found["build"] < 40e6, found  # growth of the process while indexing
    assert found["reading"] < 3e6, found  # growth of the process over 90,000 reads
    assert found["worker"] < 3e6, found  # growth of a forked worker, over the same


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


# ---------------------------------------------------------------------- the sampler


def split_by_rank(
    length: int, batch_size: int, ranks: int, **options: Any
) -> list[list[list[int]]]:
    return [
        list(ExactBatches(length, batch_size, rank=rank, ranks=ranks, **options))
        for rank in range(ranks)
    ]


def data_of(batches: list[list[int]]) -> list[int]:
    return [number for batch in batches for number in batch if not isinstance(number, Filler)]


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"shuffle": True, "block": 3}], ids=str)
def test_exactly_once_everywhere(options: dict[str, Any]) -> None:
    """All lengths to 40, ranks to 4, batch sizes to 5."""
    for length in range(41):
        for ranks in range(1, 5):
            for batch_size in range(1, 6):
                split = split_by_rank(length, batch_size, ranks, **options)
                seen = [number for batches in split for number in data_of(batches)]
                assert sorted(seen) == list(range(length))
                sampler = ExactBatches(length, batch_size, rank=0, ranks=ranks, **options)
                assert {len(batches) for batches in split} == {len(sampler)}
                for batches in split:
                    assert all(len(batch) == batch_size for batch in batches)
                    assert all(0 <= number < length for batch in batches for number in batch)
                    for batch in batches[:-1]:
                        assert not any(isinstance(number, Filler) for number in batch)
                counts = [len(data_of(batches)) for batches in split]
                assert max(counts) - min(counts) <= 1
                assert length <= len(sampler) * batch_size * ranks < length + batch_size * ranks


@settings(max_examples=200, deadline=None)
@given(
    length=st.integers(0, 300),
    first=st.tuples(st.integers(1, 4), st.integers(1, 9)),
    then=st.tuples(st.integers(1, 4), st.integers(1, 9)),
    part=st.floats(0, 1),
    seed=st.integers(0, 2**40),
    epoch=st.integers(0, 1000),
    block=st.none() | st.integers(1, 50),
)
def test_resume_anywhere(
    length: int,
    first: tuple[int, int],
    then: tuple[int, int],
    part: float,
    seed: int,
    epoch: int,
    block: int | None,
) -> None:
    """What is left is what was not used, in the same order, on any ranks and batch size."""
    options: dict[str, Any] = {"shuffle": True, "seed": seed, "block": block}
    order = ExactBatches(length, 1, **options)
    order.set_epoch(epoch)
    expected = order.order().tolist()
    used: list[int] = []
    states = []
    for rank in range(first[0]):
        sampler = ExactBatches(length, first[1], rank=rank, ranks=first[0], **options)
        sampler.set_epoch(epoch)
        done = int(part * len(sampler))
        batches = list(sampler)
        used += data_of(batches[:done])
        states.append(json.loads(json.dumps(sampler.state_dict(done))))
    assert all(state == states[0] for state in states)
    left: list[int] = []
    for rank in range(then[0]):
        sampler = ExactBatches(length, then[1], rank=rank, ranks=then[0], **options)
        sampler.load_state_dict(states[0])
        sampler.set_epoch(epoch)
        batches = list(sampler)
        assert len(batches) == len(sampler)
        left += data_of(batches)
        if then == first:
            again = ExactBatches(length, first[1], rank=rank, ranks=first[0], **options)
            again.set_epoch(epoch)
            assert [list(map(int, b)) for b in batches] == [
                list(map(int, b)) for b in list(again)[done:]
            ]
    assert sorted(used + left) == list(range(length))
    assert set(used) == set(expected[: len(used)])


def test_resume_twice_and_next_epoch() -> None:
    whole = list(ExactBatches(100, 4, shuffle=True, seed=3))
    sampler = ExactBatches(100, 4, shuffle=True, seed=3)
    state = sampler.state_dict(5)
    sampler = ExactBatches(100, 4, shuffle=True, seed=3)
    sampler.load_state_dict(state)
    assert list(sampler) == whole[5:]
    state = sampler.state_dict(7)
    sampler = ExactBatches(100, 4, shuffle=True, seed=3)
    sampler.load_state_dict(state)
    sampler.set_epoch(0)
    assert list(sampler) == whole[12:]
    sampler.set_epoch(1)
    assert len(sampler) == 25
    assert sorted(data_of(list(sampler))) == list(range(100))
    with pytest.raises(ValueError, match="26 of 25 batches"):
        sampler.state_dict(26)


def test_order_depends_on_seed_and_epoch_alone() -> None:
    def order(seed: int, epoch: int, **more: Any) -> list[int]:
        sampler = ExactBatches(50, 4, shuffle=True, seed=seed, **more)
        sampler.set_epoch(epoch)
        return list(sampler.order())

    orders = [order(seed, epoch) for seed in range(3) for epoch in range(3)]
    assert len({tuple(each) for each in orders}) == 9
    torch.manual_seed(1)
    np.random.seed(1)
    assert order(2, 1) == order(2, 1, rank=1, ranks=3)
    assert ExactBatches(50, 4).order().tolist() == list(range(50))


def test_blocks_keep_neighbours_together() -> None:
    order = ExactBatches(1000, 8, shuffle=True, block=100).order()
    assert sorted(order.tolist()) == list(range(1000))
    for start in range(0, 1000, 100):
        assert len({number // 100 for number in order[start : start + 100].tolist()}) == 1
    assert order[:100].tolist() != sorted(order[:100].tolist())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rank": 2, "ranks": 2}, "rank 2 of 2"),
        ({"rank": -1, "ranks": 2}, "rank -1 of 2"),
        ({"batch_size": 0}, "at least 1"),
        ({"block": 0, "shuffle": True}, "at least 1"),
    ],
    ids=str,
)
def test_sampler_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ExactBatches(**{"length": 10, "batch_size": 2, **arguments})


def test_state_of_another_order_is_refused() -> None:
    state = ExactBatches(100, 4, shuffle=True).state_dict(3)
    for other in (
        ExactBatches(101, 4, shuffle=True),
        ExactBatches(100, 4, shuffle=True, seed=1),
        ExactBatches(100, 4),
        ExactBatches(100, 4, shuffle=True, block=10),
    ):
        with pytest.raises(ValueError, match="the order is another"):
            other.load_state_dict(state)


def test_filler_goes_to_workers_and_is_marked(folder: Path) -> None:
    data = IndexedTar(write_tar(folder / "a.tar", names_and_bytes(10)), as_bytes)
    for collate in (None, indexed_tar.collate_items):
        for workers in (0, 2):
            loader = DataLoader(
                data,
                batch_sampler=ExactBatches(10, 4),
                num_workers=workers,
                collate_fn=collate,
            )
            batches = list(loader)
            marks = [batch.valid.tolist() for batch in batches]
            assert marks == [[True] * 4, [True] * 4, [True, True, False, False]]
            assert all(isinstance(batch, Batch if collate else Item) for batch in batches)
            assert batches[1].number.tolist() == [4, 5, 6, 7]
            assert list(batches[1].name) == [data.name(number) for number in range(4, 8)]
            assert list(batches[1].error) == [""] * 4


def test_collated_images_are_one_tensor(folder: Path) -> None:
    path = write_tar(folder / "a.tar", {f"{i}.png": one_image(i) for i in range(4)})
    loader = DataLoader(IndexedTar(path), batch_size=4, collate_fn=indexed_tar.collate_items)
    [batch] = loader
    assert batch.data.shape == (4, 8, 8, 3)
    assert batch.data.dtype == torch.uint8


def test_mean_over_ranks_in_one_process() -> None:
    losses = torch.tensor([1.0, 2.0, float("nan")], requires_grad=True)
    mean = indexed_tar.mean_over_ranks(losses, torch.tensor([True, True, False]))
    mean.backward()
    assert mean.item() == 1.5
    assert losses.grad is not None
    assert losses.grad.tolist() == [0.5, 0.5, 0]
    half = indexed_tar.mean_over_ranks(torch.tensor([4.0, 2.0]), np.array([False, True]))
    assert half.item() == 2
    nothing = indexed_tar.mean_over_ranks(torch.ones(2), torch.zeros(2, dtype=torch.bool))
    assert nothing.item() == 0
    with pytest.raises(ValueError, match=r"\[2, 1\]"):
        indexed_tar.mean_over_ranks(torch.ones(2, 1), torch.ones(2, dtype=torch.bool))


# --------------------------------------------------------- real workers, real ranks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_combination_of_tars_workers_and_ranks(folder: Path) -> None:
    """1 to 5 tars, 0 to 4 forked workers, 1 to 4 ranks joined by gloo, and resuming."""
    for number in range(5):
        write_tar(
            folder / f"{number}.tar",
            {f"{number}/{i}.jpg": b"%d" % i for i in range(3 + 2 * number)},
        )
    done = subprocess.run(
        [sys.executable, HELPERS / "ranks.py", "fork", folder],
        capture_output=True, text=True, timeout=900, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    combinations = {(line["tars"], line["workers"], line["ranks"]) for line in lines}
    assert len(combinations) == 5 * 5 * 4
    assert all(line["right"] for line in lines), [line for line in lines if not line["right"]]


def test_torchrun_with_spawned_workers(folder: Path) -> None:
    for number in range(2):
        write_tar(
            folder / f"{number}.tar", {f"{number}/{i}.jpg": b"%d" % i for i in range(6 + number)}
        )
    done = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
            HELPERS / "ranks.py", "spawn", folder,
        ],
        capture_output=True, text=True, timeout=900, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [line] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert line == {"tars": 2, "workers": 2, "ranks": 2, "right": True}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_gradients_of_ranks_are_those_of_one_process() -> None:
    done = subprocess.run(
        [sys.executable, HELPERS / "gradients.py"],
        capture_output=True, text=True, timeout=900, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    torch.testing.assert_close(torch.tensor(found["ranks"]), torch.tensor(found["one"]))


# ---------------------------------------------------------------- the other snippets


def test_image_folder(folder: Path) -> None:
    (folder / "b").mkdir()
    blue = np.zeros((6, 4, 3), np.uint8)
    blue[..., 0] = 255
    for name, size in [("2.png", (6, 4)), ("b/1.png", (4, 6)), ("a.png", (6, 4))]:
        cv2.imwrite(str(folder / name), cv2.resize(blue, size[::-1]))
    images = image_folder.ImageFolder(folder, "**/*.png")
    assert [Path(path).name for path in images.paths] == ["2.png", "a.png", "1.png"]
    assert images[0].shape == (6, 4, 3)
    assert images[0][0, 0].tolist() == [0, 0, 255]
    batch, sizes = image_folder.pad_images([images[i] for i in range(3)])
    assert batch.shape == (3, 6, 6, 3)
    assert sizes.tolist() == [[6, 4], [6, 4], [4, 6]]
    assert batch[2, :4].eq(images[2]).all()
    assert not batch[2, 4:].any()
    assert image_folder.ImageFolder(folder, "*.png", (3, 5))[0].shape == (3, 5, 3)
    (folder / "c.png").write_text("text")
    with pytest.raises(ValueError, match=r"c\.png is no image"):
        image_folder.ImageFolder(folder, "c.png")[0]
    with pytest.raises(FileNotFoundError, match=r"no \*\.gif in"):
        image_folder.ImageFolder(folder, "*.gif")


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_tar_streams(folder: Path, workers: int) -> None:
    path = folder / "a.tar"
    with tarfile.open(path, "w") as tar:
        directory = tarfile.TarInfo("d")
        directory.type = tarfile.DIRTYPE
        tar.addfile(directory)
        for i in range(7):
            add(tar, f"d/{i}.png", one_image(i))

    def seen(stream: tar_stream.NaiveTarStream) -> Counter[int]:
        loader = DataLoader(stream, batch_size=None, num_workers=workers)
        return Counter(int(image[0, 0, 2]) for image in loader)

    assert seen(tar_stream.TarStream(str(path))) == dict.fromkeys(range(7), 1)
    assert seen(tar_stream.NaiveTarStream(str(path))) == dict.fromkeys(range(7), max(workers, 1))


def test_shares_of_ranks_and_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []
    for rank in range(3):
        monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
        monkeypatch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
        assert tar_stream.my_share() == (rank, 3)
        for worker in range(2):
            info = SimpleNamespace(id=worker, num_workers=2)
            monkeypatch.setattr(tar_stream, "get_worker_info", lambda info=info: info)
            shares.append(tar_stream.my_share())
        monkeypatch.undo()
    assert sorted(shares) == [(share, 6) for share in range(6)]


def test_tar_stream_names_what_is_no_image(folder: Path) -> None:
    path = write_tar(folder / "a.tar", {"0.png": one_image(0), "1.png": b"?"})
    stream: Iterator[torch.Tensor] = iter(tar_stream.TarStream(str(path)))
    next(stream)
    with pytest.raises(ValueError, match=r"1\.png is no image"):
        next(stream)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_shared_handles(folder: Path) -> None:
    path = folder / "records"
    path.write_bytes(b"".join(i.to_bytes(4, "big") for i in range(300)))
    records = shared_handle.SeekRecords(str(path), 4)
    assert shared_handle.count_wrong(records) == 0
    assert records[1] == (1).to_bytes(4, "big")
    assert shared_handle.count_wrong(records) > 0
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(records)
    positioned = shared_handle.PreadRecords(str(path), 4)
    assert positioned[-1] == (299).to_bytes(4, "big")
    assert shared_handle.count_wrong(positioned) == 0


def test_small_files(folder: Path) -> None:
    files = {f"{i}.jpg": b"%d" % i for i in range(5)}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    storage = small_files.SlowStorage(0.002)
    paths = [str(folder / name) for name in files]
    start = time.perf_counter()
    assert list(small_files.read_files(storage, paths)) == list(files.values())
    assert time.perf_counter() - start >= 0.01
    assert storage.opened == 5
    tar = write_tar(folder / "a.tar", files)
    assert list(small_files.read_tar(storage, str(tar))) == list(files.values())
    assert storage.opened == 6


def test_tar_offsets(folder: Path) -> None:
    files = names_and_bytes(10)
    path = str(write_tar(folder / "a.tar", files))
    found = tar_offsets.find_members(path)
    assert {n: tar_offsets.read_member(path, o, s) for n, o, s in found} == files


class Threads(torch.utils.data.Dataset[int]):
    """How many threads OpenCV would use in the process that reads the item."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        return cv2.getNumThreads()


def test_workers_start_no_opencv_threads() -> None:
    loader = DataLoader(Threads(), num_workers=1, worker_init_fn=worker_curve.one_thread)
    assert {int(batch) for batch in loader} == {1}


def test_worker_curve() -> None:
    curve = worker_curve.epoch_seconds(Threads(), [0, 2], batch_size=2)
    assert list(curve) == [0, 2]
    assert min(curve.values()) > 0


def test_pictures() -> None:
    names = [name for name, _, _ in tar_layout.index(tar_layout.make_tar())]
    assert names == list(tar_layout.FILES)
    for rank in range(rank_shares.RANKS):
        exact = ExactBatches(
            rank_shares.LENGTH, rank_shares.BATCH, rank=rank, ranks=rank_shares.RANKS
        )
        drawn = rank_shares.batches(rank)
        assert [data_of([batch]) for batch in exact] == drawn
    for draw in (tar_layout.draw, rank_shares.draw):
        for language in ("en", "zh"):
            for width in (6.8, 3.6):
                assert draw(language, width).get_figwidth() == pytest.approx(width)
