"""Memory that a tar of many members costs. Arguments: where to write it, how many."""

from __future__ import annotations

import gc
import json
import sys
import tarfile

from torch.utils.data import DataLoader

from snippets.effective.loading.indexed_tar import IndexedTar, build_index


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def size_in_memory(data: bytes) -> int:
    """A `decode` that now and then tells how large the process is that runs it."""
    return resident() if int(data) % 1000 == 999 else 0


def write(path: str, count: int) -> None:
    with open(path, "wb") as file:
        for number in range(count):
            member = tarfile.TarInfo(f"{number // 1000:03}/{number:06}.jpg")
            member.size = 40
            file.write(member.tobuf(tarfile.USTAR_FORMAT))
            file.write(f"{number:<40}".encode().ljust(512, b"\0"))
        file.write(bytes(1024))


def main() -> None:
    path, count = sys.argv[1], int(sys.argv[2])
    write(path, count)
    before = resident()
    index = build_index(path)
    build = resident() - before
    kept = sum(array.nbytes for array in index)
    del index
    data = IndexedTar(path, size_in_memory)
    gc.collect()
    for number in range(count // 10):
        data[number]
    before = resident()
    for number in range(count // 10, count):
        data[number]
    reading = resident() - before
    loader = DataLoader(data, batch_size=1000, num_workers=1, multiprocessing_context="fork")
    sizes = [int(batch.data[-1]) for batch in loader]
    worker = sizes[-1] - sizes[len(sizes) // 10]
    print(
        json.dumps(
            {
                "items": len(data),
                "index": kept,
                "build": build,
                "reading": reading,
                "worker": worker,
            }
        )
    )


if __name__ == "__main__":
    main()
