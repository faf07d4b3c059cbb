"""The gradient of DistributedDataParallel over three ranks, and of one process."""

from __future__ import annotations

import json
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor, nn
from torch.multiprocessing.spawn import start_processes
from torch.nn.parallel import DistributedDataParallel

from snippets.effective.loading.indexed_tar import ExactBatches, Filler, mean_over_ranks

LENGTH, BATCH, RANKS = 7, 4, 3  # a single step, in which every rank has filler


def problem() -> tuple[nn.Linear, Tensor, Tensor]:
    torch.manual_seed(0)
    return nn.Linear(5, 1), torch.randn(LENGTH, 5), torch.randn(LENGTH)


def rank_of(rank: int, meeting: str, results: mp.SimpleQueue[list[list[float]]]) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=RANKS)
    layer, x, y = problem()
    model = DistributedDataParallel(layer)
    for numbers in ExactBatches(LENGTH, BATCH):
        valid = torch.tensor([not isinstance(number, Filler) for number in numbers])
        losses = (model(x[numbers]).squeeze(1) - y[numbers]).square()
        loss = mean_over_ranks(losses, valid)
        loss.backward()
    if rank == 0:
        assert layer.weight.grad is not None
        results.put(layer.weight.grad.tolist())
    dist.destroy_process_group()


def main() -> None:
    results: mp.SimpleQueue[list[list[float]]] = mp.get_context("fork").SimpleQueue()
    with tempfile.TemporaryDirectory() as meeting:
        start_processes(
            rank_of, args=(f"file://{meeting}/ranks", results), nprocs=RANKS, start_method="fork"
        )
    layer, x, y = problem()
    (layer(x).squeeze(1) - y).square().mean().backward()
    assert layer.weight.grad is not None
    print(json.dumps({"ranks": results.get(), "one": layer.weight.grad.tolist()}))


if __name__ == "__main__":
    main()
