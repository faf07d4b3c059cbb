"""Table: what a module knows of the things that it holds (E2.4)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

COLUMNS = {
    "held": {"en": "`self.held = …`", "zh": "`self.held = …`"},
    "trained": {"en": "trained", "zh": "训练"},
    "moved": {"en": "moved", "zh": "移动"},
    "saved": {"en": "saved", "zh": "保存"},
}


def ones() -> torch.Tensor:
    """What each of them holds in the end, so that it can be told."""
    return torch.ones(2)


def layer() -> nn.Module:
    """A module with one parameter."""
    return nn.PReLU()


WAYS: dict[str, Callable[[], object]] = {
    "nn.Parameter(t)": lambda: nn.Parameter(ones()),
    "nn.Parameter(t) * 0.1": lambda: nn.Parameter(ones()) * 0.1,
    "[nn.Parameter(t)]": lambda: [nn.Parameter(ones())],
    "nn.ParameterList([t])": lambda: nn.ParameterList([ones()]),
    "nn.ParameterDict({'k': t})": lambda: nn.ParameterDict({"k": ones()}),
    "t": ones,
    "nn.Buffer(t)": lambda: nn.Buffer(ones()),
    "nn.Buffer(t, persistent=False)": lambda: nn.Buffer(ones(), persistent=False),
    "layer": layer,
    "[layer]": lambda: [layer()],
    "{'k': layer}": lambda: {"k": layer()},
    "nn.ModuleList([layer])": lambda: nn.ModuleList([layer()]),
    "nn.ModuleDict({'k': layer})": lambda: nn.ModuleDict({"k": layer()}),
}


def tensor_of(held: object) -> torch.Tensor:
    """The one tensor in what a module holds."""
    if isinstance(held, torch.Tensor):
        return held
    if isinstance(held, nn.ModuleDict | nn.ParameterDict | dict):
        return tensor_of(held["k"])
    if isinstance(held, nn.ModuleList | nn.ParameterList | list):
        return tensor_of(held[0])
    assert isinstance(held, nn.Module)
    return next(held.parameters())


def rows() -> list[dict[str, object]]:
    """Hold it each way in a module, and ask the module. (E2.4)"""
    found: list[dict[str, object]] = []
    for text, make in WAYS.items():
        module = nn.Module()
        module.held = make()  # type: ignore[assignment]
        trained = len(list(module.parameters())) == 1
        saved = len(module.state_dict()) == 1
        module.to(torch.float64)
        moved = tensor_of(module.held).dtype == torch.float64
        row = {"trained": trained, "moved": moved, "saved": saved}
        found.append({"held": f"`{text}`", **row})
    return found


if __name__ == "__main__":
    for row in rows():
        print(*row.values(), sep="\t")
