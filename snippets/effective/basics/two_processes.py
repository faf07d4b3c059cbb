"""One model in several processes, each with its share of the batch (E1.6)."""

# --8<-- [start:imports]
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

# --8<-- [end:imports]


# --8<-- [start:work]
def work(rank: int, processes: int, file: str) -> None:
    """Compute the gradients of a share of the batch, and compare with the whole.

    Runs in process number ``rank``, on a GPU of its own where there are
    enough, else on the CPU. ``file``: a path at which no file exists yet, the
    same one in every process; there they find each other. (E1.6)
    """
    device = torch.device("cpu")
    if torch.cuda.device_count() >= processes:
        device = torch.device("cuda", rank)
    dist.init_process_group(
        dist.get_default_backend_for_device(device),
        init_method=Path(file).as_uri(),
        rank=rank,
        world_size=processes,
    )
    torch.manual_seed(0)  # the same data in each process
    rows = 4 * processes
    x, y = torch.randn(rows, 3).to(device), torch.randn(rows, 1).to(device)
    model = torch.nn.Linear(3, 1).to(device)
    parallel = DistributedDataParallel(model)

    share = slice(rank, None, processes)
    F.mse_loss(parallel(x[share]), y[share]).backward()  # averages gradients

    whole = F.mse_loss(model(x), y)
    expected = torch.autograd.grad(whole, list(model.parameters()))
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)
    if rank == 0:
        print(f"processes: {processes}, gradients: those of the whole batch")
    dist.destroy_process_group()


# --8<-- [end:work]


def main(processes: int = 2) -> None:
    """Run ``work`` in that many processes."""
    from torch.multiprocessing.spawn import spawn

    with tempfile.TemporaryDirectory() as folder:
        arguments = (processes, f"{folder}/file")
        spawn(work, arguments, nprocs=processes)


if __name__ == "__main__":
    main()
