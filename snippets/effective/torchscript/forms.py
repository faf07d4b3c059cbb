"""Batch gather without a loop, in five ways, and where they differ (E5.3)."""

# --8<-- [start:imports]
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:flat-index]
def flat_index(x: Tensor, index: Tensor) -> Tensor:
    """Where the rows are in x.flatten(0, 1): index[b] + b * N.

    x (B, N, …), index (B, …); shape of index. An index outside 0…N-1 lands in the
    rows of another batch element, without an error.
    """
    start = torch.arange(x.shape[0], device=x.device) * x.shape[1]
    return index + start.view(-1, *[1] * (index.ndim - 1))


# --8<-- [end:flat-index]


# --8<-- [start:flat]
def gather_by_flat_index(x: Tensor, index: Tensor) -> Tensor:
    """The notes' form on any device."""
    return x.flatten(0, 1)[flat_index(x, index)]


# --8<-- [end:flat]


# --8<-- [start:advanced]
def gather_by_advanced_index(x: Tensor, index: Tensor) -> Tensor:
    """One index a dimension; the two are broadcast against each other."""
    batch = torch.arange(x.shape[0], device=x.device)
    return x[batch.view(-1, *[1] * (index.ndim - 1)), index]


# --8<-- [end:advanced]


# --8<-- [start:gather]
def gather_by_gather(x: Tensor, index: Tensor) -> Tensor:
    """torch.gather wants an index for every element, so the index is expanded."""
    rows = x.flatten(2) if x.ndim > 2 else x.unsqueeze(2)
    each = index.flatten(1) if index.ndim > 1 else index.unsqueeze(1)
    each = each.unsqueeze(2).expand(-1, -1, rows.shape[2])
    return rows.gather(1, each).view(index.shape + x.shape[2:])


# --8<-- [end:gather]


# --8<-- [start:take]
def gather_by_take_along_dim(x: Tensor, index: Tensor) -> Tensor:
    """torch.take_along_dim broadcasts the index itself."""
    rows = x.flatten(2) if x.ndim > 2 else x.unsqueeze(2)
    each = index.flatten(1) if index.ndim > 1 else index.unsqueeze(1)
    taken = torch.take_along_dim(rows, each.unsqueeze(2), dim=1)
    return taken.view(index.shape + x.shape[2:])


# --8<-- [end:take]


# --8<-- [start:embedding]
def gather_by_embedding(x: Tensor, index: Tensor) -> Tensor:
    """All rows of all batch elements as one table to look up in."""
    rows = x.flatten(0, 1)
    table = rows.flatten(1) if rows.ndim > 1 else rows.unsqueeze(1)
    found = F.embedding(flat_index(x, index), table)
    return found.view(index.shape + x.shape[2:])


# --8<-- [end:embedding]

FORMS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "x[batch, index]": gather_by_advanced_index,
    "gather": gather_by_gather,
    "take_along_dim": gather_by_take_along_dim,
    "flat[index]": gather_by_flat_index,
    "embedding": gather_by_embedding,
}

COLUMNS = {
    "form": {"en": "form", "zh": "写法"},
    "beyond": {"en": "index N", "zh": "索引 N"},
    "negative": {"en": "index -1", "zh": "索引 -1"},
    "int32": {"en": "int32 index", "zh": "int32 索引"},
    "float8": {"en": "float8 rows", "zh": "float8 行"},
}

TEXTS = {
    "error": {"en": "raises", "zh": "报错"},
    "right": {"en": "right", "zh": "正确"},
    "last": {"en": "the last row", "zh": "取最后一行"},
    "first": {"en": "row 0, silently", "zh": "取第 0 行，不报错"},
    "other": {
        "en": "another element's row, silently",
        "zh": "取到别的样本的行，不报错",
    },
}


# --8<-- [start:outcome]
def outcome(form: str, index: Tensor, dtype: torch.dtype = torch.float32) -> str:
    """What form makes of index, shape (3,), on a CPU.

    One of `error`, or of batch element 1: `right` row, `first` or `last` row of this
    element, or a row of an`other` element.
    """
    x = torch.arange(12.0).view(3, 4, 1).to(dtype)
    try:
        row = FORMS[form](x, index)[1].item()
    except (RuntimeError, IndexError):
        return "error"
    position = int(index[1])
    if 0 <= position < 4 and row == x[1, position].item():
        return "right"
    if row == x[1, 0].item():
        return "first"
    return "last" if row == x[1, -1].item() else "other"


# --8<-- [end:outcome]


def rows() -> list[dict[str, object]]:
    """A row a form: what it does with indices and dtypes off the beaten track."""
    return [
        {
            "form": f"`{form}`",
            "beyond": TEXTS[outcome(form, torch.tensor([0, 4, 0]))],
            "negative": TEXTS[outcome(form, torch.tensor([0, -1, 0]))],
            "int32": TEXTS[outcome(form, torch.tensor([0, 2, 0]).int())],
            "float8": TEXTS[outcome(form, torch.tensor([0, 2, 0]), torch.float8_e4m3fn)],
        }
        for form in FORMS
    ]


if __name__ == "__main__":
    x = torch.arange(12).view(2, 3, 2)
    index = torch.tensor([[2, 0], [1, 1]])
    for name, form in FORMS.items():
        print(f"{name:<16}", form(x, index).tolist())
