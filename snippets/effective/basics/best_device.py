"""The device to compute on: the accelerator that works here, or the CPU (E1.6)."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]


# --8<-- [start:device]
def best_device() -> torch.device:
    """The accelerator that torch was built for and that is there, else the CPU.

    CUDA and ROCm GPUs are both ``cuda``, Apple's are ``mps``, Intel's ``xpu``.
    (E1.6)
    """
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return accelerator or torch.device("cpu")


# --8<-- [end:device]


def main() -> None:
    """Print the device, and compute on it."""
    device = best_device()
    x = torch.arange(3.0, device=device)
    print(device, (x @ x).item())


if __name__ == "__main__":
    main()
