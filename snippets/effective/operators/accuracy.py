"""Accuracy of predicted labels: `==` broadcasts, so check the shapes (E4.3)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_accuracy(predicted: Tensor, labels: Tensor) -> float:
    """Share of equal elements, after broadcasting: (N, 1) against (N,) is wrong."""
    return (predicted == labels).float().mean().item()


# --8<-- [end:naive]


# --8<-- [start:checked]
def accuracy(predicted: Tensor, labels: Tensor) -> float:
    """Share of equal elements of two tensors of one shape; nan if they are empty.

    Raises ValueError if the shapes differ.
    """
    if predicted.shape != labels.shape:
        shapes = f"{tuple(predicted.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"predicted and labels differ in shape: {shapes}")
    return (predicted == labels).float().mean().item()


# --8<-- [end:checked]


if __name__ == "__main__":
    labels = torch.tensor([0, 1, 2, 1])
    print(accuracy(labels, labels), naive_accuracy(labels[:, None], labels))
