"""Reads tars on real ranks with real workers, and reports whether each item came once.

`ranks.py fork FOLDER`: every combination of 1 to 5 tars, 0 to 4 forked workers and 1
to 4 forked ranks. `ranks.py spawn FOLDER`, under torchrun: all tars of the folder, two
spawned workers.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.multiprocessing.spawn import start_processes
from torch.utils.data import DataLoader

from snippets.effective.loading import tar_stream
from snippets.effective.loading.indexed_tar import ExactBatches, IndexedTar, Item

BATCH = 3
RESUMED = {(2, 2), (3, 1), (4, 0), (5, 3)}  # tars and workers


def as_bytes(data: bytes) -> bytes:
    return data


def loaded(data: IndexedTar, batches: ExactBatches, workers: int, method: str) -> DataLoader[Item]:
    context = method if workers else None
    return DataLoader(
        data, batch_sampler=batches, num_workers=workers, multiprocessing_context=context
    )


def read(loader: DataLoader[Item], most: int | None = None) -> list[dict[str, Any]]:
    """What each batch held, up to `most` batches: then the workers are left behind."""
    seen: list[dict[str, Any]] = []
    if most == 0:
        return seen
    for batch in loader:
        seen.append({"names": batch.name, "valid": batch.valid.tolist()})
        if len(seen) == most:
            break
    return seen


def gathered(value: Any) -> list[Any]:
    everywhere: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everywhere, value)
    return everywhere


def names(batches: list[dict[str, Any]]) -> list[str]:
    return [
        name
        for batch in batches
        for name, valid in zip(batch["names"], batch["valid"], strict=True)
        if valid
    ]


def check(paths: list[Path], workers: int, method: str) -> bool:
    data = IndexedTar(paths, as_bytes)
    expected = sorted(data.name(i) for i in range(len(data)))
    batches = ExactBatches(len(data), BATCH, shuffle=True, seed=len(paths))
    batches.set_epoch(workers)
    whole = read(loaded(data, batches, workers, method))
    everywhere = gathered(whole)
    right = sorted(name for rank in everywhere for name in names(rank)) == expected
    right &= {len(rank) for rank in everywhere} == {len(batches)}
    right &= all(len(batch["names"]) == BATCH for rank in everywhere for batch in rank)
    if method == "spawn" or (len(paths), workers) not in RESUMED:
        return right
    # Stop in the middle, go on with another number of workers.
    done = (len(batches) + 1) // 2
    start = read(loaded(data, batches, workers, method), done)
    state = batches.state_dict(done)
    resumed = ExactBatches(len(data), BATCH, shuffle=True, seed=len(paths))
    resumed.load_state_dict(state)
    rest = read(loaded(data, resumed, (workers + 1) % 4, method))
    return right and start + rest == whole


def name_only(data: bytes, name: str) -> str:
    return name


def check_streams(path: Path, workers: int) -> bool:
    """TarStream gives each item once, NaiveTarStream once per worker and rank."""
    copies = dist.get_world_size() * max(workers, 1)
    right = True
    for kind, times in ((tar_stream.TarStream, 1), (tar_stream.NaiveTarStream, copies)):
        loader: DataLoader[Any] = DataLoader(
            kind(str(path)),
            batch_size=None,
            num_workers=workers,
            multiprocessing_context="fork" if workers else None,
        )
        seen = Counter(name for rank in gathered(list(loader)) for name in rank)
        with tarfile.open(path) as tar:
            right &= seen == dict.fromkeys(tar.getnames(), times)
    return right


def rank_of_fork(rank: int, ranks: int, folder: Path, meeting: str) -> None:
    warnings.filterwarnings("ignore", "This DataLoader will create")
    torch.set_num_threads(1)
    tar_stream.decode_image = name_only  # type: ignore[assignment]
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=ranks)
    for tars in range(1, 6):
        for workers in range(5):
            paths = [folder / f"{number}.tar" for number in range(tars)]
            right = check(paths, workers, "fork")
            if tars == 4 and workers in (0, 2):
                right &= check_streams(paths[-1], workers)
            right = all(gathered(right))
            if rank == 0:
                line = {"tars": tars, "workers": workers, "ranks": ranks, "right": right}
                print(json.dumps(line), flush=True)
    dist.destroy_process_group()


def main() -> None:
    method, folder = sys.argv[1], Path(sys.argv[2])
    if method == "spawn":
        dist.init_process_group("gloo")
        paths = sorted(folder.glob("*.tar"))
        right = all(gathered(check(paths, 2, "spawn")))
        if dist.get_rank() == 0:
            line = {"tars": len(paths), "workers": 2, "ranks": 2, "right": right}
            print(json.dumps(line), flush=True)
        dist.destroy_process_group()
        return
    for ranks in range(1, 5):
        with tempfile.TemporaryDirectory() as meeting:
            start_processes(
                rank_of_fork,
                args=(ranks, folder, f"file://{meeting}/ranks"),
                nprocs=ranks,
                start_method="fork",
            )


if __name__ == "__main__":
    main()
