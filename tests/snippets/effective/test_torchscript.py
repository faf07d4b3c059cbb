"""Batch gather in all its forms against a plain loop; compiling and exporting (E5.1–E5.3)."""

from __future__ import annotations

import itertools
import shutil
import sys
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch._dynamo.exc import FailOnRecompileLimitHit, UserError
from torch.autograd import gradcheck, gradgradcheck

from scripts import records
from snippets.effective.torchscript import (
    branches,
    export,
    flat_picture,
    forms,
    graphs,
    loop,
    small_operations,
)
from snippets.effective.torchscript.batch_gather import batch_gather

ALL = {"batch_gather": batch_gather, "loop": loop.gather_by_loop, **forms.FORMS}
DTYPES = sorted(
    {d for d in vars(torch).values() if isinstance(d, torch.dtype) and "q" not in str(d)[6:]},
    key=str,
)

each_form = pytest.mark.parametrize("name", ALL)
few = settings(max_examples=100, deadline=None)


def by_hand(x: Tensor, index: Tensor) -> Tensor:
    """The definition, one element of the index at a time."""
    out = x.new_empty(index.shape + x.shape[2:])
    for place in itertools.product(*(range(size) for size in index.shape)):
        out[place] = x[place[0], int(index[place])]
    return out


def numbered(*shape: int) -> Tensor:
    """A tensor in which no two elements are equal."""
    return torch.arange(float(torch.Size(shape).numel())).view(shape)


@st.composite
def cases(draw: st.DrawFn, dims: tuple[int, int] = (1, 3)) -> tuple[Tensor, Tensor]:
    """x of any layout and trailing shape, and an index that fits it."""
    batch, rows = draw(st.integers(0, 4)), draw(st.integers(1, 5))
    trailing = draw(st.lists(st.integers(0, 3), max_size=2))
    more = draw(st.lists(st.integers(0, 4), min_size=dims[0] - 1, max_size=dims[1] - 1))
    x = numbered(batch, rows, *trailing)
    layout = draw(st.sampled_from(["plain", "swapped", "stepped", "expanded", "sliced", "last"]))
    if layout == "swapped":
        x = x.transpose(0, 1).contiguous().transpose(0, 1)
    elif layout == "stepped":
        x = numbered(batch * 2, rows * 3, *trailing)[::2, ::3]
    elif layout == "expanded":
        x = numbered(1, rows, *trailing).expand(batch, rows, *trailing)
    elif layout == "sliced":
        x = numbered(batch, rows + 2, *trailing)[:, 1:-1]
    elif layout == "last" and trailing:
        x = numbered(batch, rows, *trailing, 2)[..., 1]
    seed = draw(st.integers(0, 2**16))
    generator = torch.Generator().manual_seed(seed)
    index = torch.randint(rows, (batch, *more), generator=generator)
    if draw(st.booleans()) and index.ndim > 1:
        index = index.transpose(0, -1).contiguous().transpose(0, -1)
    return x, index


# ------------------------------------------------------------- what every form gives


@each_form
@few
@given(case=cases(dims=(1, 2)))
def test_forms_agree_with_the_definition(name: str, case: tuple[Tensor, Tensor]) -> None:
    x, index = case
    if name != "batch_gather" and x.numel() == 0:
        return  # reshaping nothing is ambiguous; batch_gather alone promises it
    assert torch.equal(ALL[name](x, index), by_hand(x, index))


@few
@given(cases())
def test_batch_gather_takes_index_of_any_rank(case: tuple[Tensor, Tensor]) -> None:
    x, index = case
    expected = by_hand(x, index)
    for checked in (True, False):
        for picks in (index, index.int()):
            found = batch_gather(x, picks, check=checked)
            assert found.shape == index.shape + x.shape[2:]
            assert torch.equal(found, expected)
    assert not expected.numel() or not _shares(batch_gather(x, index), x)


def _shares(a: Tensor, b: Tensor) -> bool:
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


@pytest.mark.filterwarnings("ignore:.*support is experimental:UserWarning")
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: str(d)[6:])
@pytest.mark.parametrize("trailing", [(), (1,), (4,), (2, 2)], ids=str)
def test_batch_gather_takes_every_dtype(dtype: torch.dtype, trailing: tuple[int, ...]) -> None:
    shape = (2, 3, *trailing)
    size = torch.empty(0, dtype=dtype).element_size()
    count = torch.Size(shape).numel()
    limit = 2 if dtype == torch.bool else 127
    octets = torch.arange(count * size).remainder(limit).to(torch.uint8)
    x = octets.view(dtype).view(shape)
    for index in (torch.tensor([2, 0]), torch.tensor([[2, 0], [1, 1]])):
        found = batch_gather(x, index)
        assert found.dtype == dtype
        expected = by_hand(octets.view(*shape, size), index)
        assert torch.equal(found.contiguous().view(-1).view(torch.uint8), expected.flatten())


def test_large_rows_do_not_overflow_an_int32_index() -> None:
    x = torch.arange(2, dtype=torch.uint8).view(2, 1).expand(2, 2**31 - 1)
    index = torch.tensor([2**31 - 2] * 2, dtype=torch.int32)
    assert batch_gather(x, index).tolist() == [0, 1]


# ------------------------------------------------------------- errors


@pytest.mark.parametrize("trailing", [(), (1,), (4,)], ids=str)
@pytest.mark.parametrize("bad", [3, -1, 2**40, -(2**63)])
def test_index_out_of_range(bad: int, trailing: tuple[int, ...]) -> None:
    x = numbered(2, 3, *trailing)
    for index in (torch.tensor([0, bad]), torch.tensor([[0, 1], [bad, 2]])):
        with pytest.raises(IndexError, match=rf"index holds {bad}; x has rows 0 to 2"):
            batch_gather(x, index)


def test_no_row_to_pick() -> None:
    with pytest.raises(IndexError, match="x has no rows"):
        batch_gather(torch.empty(2, 0, 4), torch.tensor([0, 0]))
    nothing = torch.empty(2, 0, dtype=torch.int64)
    assert batch_gather(torch.empty(2, 0, 4), nothing).shape == (2, 0, 4)
    assert batch_gather(torch.empty(1, 0, 4).expand(2, 0, 4), nothing).shape == (2, 0, 4)
    assert batch_gather(torch.empty(0, 3, 4), torch.empty(0, dtype=torch.int64)).shape == (0, 4)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int16, torch.float32])
def test_index_of_wrong_dtype(dtype: torch.dtype) -> None:
    with pytest.raises(TypeError, match=f"index must be int64 or int32, not {dtype}"):
        batch_gather(numbered(2, 3, 4), torch.tensor([0, 1]).to(dtype))


@pytest.mark.parametrize(
    ("x", "index"),
    [((2,), (2,)), ((), (1,)), ((2, 3), ()), ((2, 3, 4), (3,)), ((2, 3, 4), (1, 2))],
    ids=str,
)
def test_shapes_that_do_not_fit(x: tuple[int, ...], index: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"x must be \(B, N, …\) and index \(B, …\), not "):
        batch_gather(torch.zeros(x), torch.zeros(index, dtype=torch.int64))


def test_devices_that_differ() -> None:
    with pytest.raises(ValueError, match="x is on cpu, index on meta"):
        batch_gather(numbered(2, 3), torch.zeros(2, dtype=torch.int64, device="meta"))


def test_an_unchecked_index_reads_elsewhere() -> None:
    x = numbered(3, 4, 2)
    index = torch.tensor([0, 4, -1])
    assert torch.equal(batch_gather(x, index, check=False)[1], x[2, 0])
    assert torch.equal(batch_gather(x, index, check=False)[2], x[1, 3])


def test_the_table_of_forms() -> None:
    table = {str(row["form"]).strip("`"): row for row in forms.rows()}
    assert list(table) == list(forms.FORMS)
    errors = {
        form: {key: cell is forms.TEXTS["error"] for key, cell in row.items() if key != "form"}
        for form, row in table.items()
    }
    assert errors["x[batch, index]"] == {
        "beyond": True, "negative": False, "int32": False, "float8": False
    }  # fmt: skip
    assert errors["gather"] == {"beyond": True, "negative": True, "int32": False, "float8": True}
    assert table["flat[index]"]["beyond"] is forms.TEXTS["other"]
    assert table["embedding"]["negative"] is forms.TEXTS["other"]
    assert table["take_along_dim"]["beyond"] is forms.TEXTS["first"]


# ------------------------------------------------------------- gradients


@pytest.mark.filterwarnings("ignore:`torch.jit.script`:FutureWarning")  # forward mode uses it
@pytest.mark.parametrize("trailing", [(), (1,), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("index", [[2, 0], [[2, 2, 0], [1, 1, 1]], [[], []]], ids=str)
def test_gradients(trailing: tuple[int, ...], swapped: bool, index: list[int]) -> None:
    torch.manual_seed(0)
    shape = (3, 2, *trailing) if swapped else (2, 3, *trailing)
    leaf = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    x = leaf.transpose(0, 1) if swapped else leaf
    picks = torch.tensor(index, dtype=torch.int64)
    weight = torch.randn(*picks.shape, *trailing, dtype=torch.float64)
    (expected,) = torch.autograd.grad(loop.gather_by_loop(x, picks), leaf, weight)
    for form in ALL.values():
        (found,) = torch.autograd.grad(form(x, picks), leaf, weight)
        torch.testing.assert_close(found, expected)
    if picks.numel():

        def function(leaf: Tensor) -> Tensor:
            return batch_gather(leaf.transpose(0, 1) if swapped else leaf, picks)

        assert gradcheck(function, leaf, check_forward_ad=True)
        assert gradgradcheck(function, leaf)


def test_repeated_indices_add_up() -> None:
    x = torch.zeros(1, 3, 2, requires_grad=True)
    batch_gather(x, torch.tensor([[1, 1, 2]])).sum().backward()
    assert x.grad is not None
    assert x.grad[0, :, 0].tolist() == [0, 2, 1]


# ------------------------------------------------------------- TorchScript


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="torch.jit does not support Python 3.14")
def test_script_warns_and_agrees() -> None:
    with pytest.warns(FutureWarning, match=r"`torch.jit.script` is deprecated"):
        scripted = torch.jit.script(loop.gather_by_loop)
    x = numbered(3, 4, 2)
    for index in (torch.tensor([3, 0, 1]), torch.tensor([[3, 0], [1, 1], [2, 3]])):
        assert torch.equal(scripted(x, index), loop.gather_by_loop(x, index))
    assert scripted(x[:0], torch.zeros(0, 5, dtype=torch.int64)).shape == (0, 5, 2)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="torch.jit does not support Python 3.14")
def test_saving_and_loading_scripts_warns(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        scripted = torch.jit.script(loop.gather_by_loop)
    path = str(tmp_path / "loop.pt")
    with pytest.warns(FutureWarning, match=r"`torch.jit.save` is deprecated"):
        torch.jit.save(scripted, path)
    with pytest.warns(FutureWarning, match=r"`torch.jit.load` is deprecated"):
        torch.jit.load(path)
    with pytest.warns(FutureWarning, match=r"`torch.jit.trace` is deprecated"):
        torch.jit.trace(torch.sin, torch.ones(1))


# ------------------------------------------------------------- torch.compile


@pytest.fixture
def _fresh() -> None:
    torch.compiler.reset()


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("trailing", [(1,), (4,)], ids=str)
def test_unchecked_gather_compiles_whole(trailing: tuple[int, ...]) -> None:
    counter = graphs.GraphCounter()
    compiled = torch.compile(batch_gather, fullgraph=True, backend=counter)
    for batch in (2, 3, 4):
        x = numbered(batch, 5, *trailing)
        index = torch.arange(batch * 2).view(batch, 2) % 5
        assert torch.equal(compiled(x, index, check=False), batch_gather(x, index))
    assert counter.graphs == 2


@pytest.mark.usefixtures("_fresh")
def test_checked_gather_does_not_compile_whole() -> None:
    compiled = torch.compile(batch_gather, fullgraph=True, backend="eager")
    with pytest.raises(UserError, match="data-dependent"):
        compiled(numbered(2, 3, 4), torch.tensor([0, 1]))


@pytest.mark.usefixtures("_fresh")
@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler")
def test_compiled_to_machine_code() -> None:
    compiled = torch.compile(forms.gather_by_advanced_index, fullgraph=True)
    x, index = numbered(3, 4, 2), torch.tensor([[3, -1], [1, 1], [2, 3]])
    assert torch.equal(compiled(x, index), by_hand(x, index))
    with pytest.raises(RuntimeError, match="index out of bounds"):
        compiled(x, index + 1)


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("x", [[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]], ids=str)
def test_clip(x: list[float]) -> None:
    vector = torch.tensor(x)
    torch.testing.assert_close(branches.clip(vector, 1.0), branches.naive_clip(vector, 1.0))
    compiled = torch.compile(branches.clip, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(vector, 1.0), branches.naive_clip(vector, 1.0))


@pytest.mark.usefixtures("_fresh")
def test_a_branch_on_data_breaks_the_graph() -> None:
    counter = graphs.GraphCounter()
    torch.compile(branches.naive_clip, backend=counter)(torch.tensor([3.0, 4.0]), 1.0)
    assert counter.graphs == 2
    with pytest.raises(torch._dynamo.exc.Unsupported, match="Data-dependent branching"):
        torch.compile(branches.naive_clip, fullgraph=True)(torch.ones(2), 1.0)


@pytest.mark.usefixtures("_fresh")
def test_recompiles_end_at_the_limit() -> None:
    counter = graphs.GraphCounter()
    compiled = torch.compile(graphs.double, backend=counter, dynamic=False)
    for size in range(2, 14):
        compiled(torch.ones(size))
    assert counter.graphs == torch._dynamo.config.recompile_limit == 8
    torch.compiler.reset()
    compiled = torch.compile(graphs.double, backend=counter, dynamic=False, fullgraph=True)
    for size in range(2, 10):
        compiled(torch.ones(size))
    with pytest.raises(FailOnRecompileLimitHit):
        compiled(torch.ones(10))


# ------------------------------------------------------------- torch.export


@pytest.mark.parametrize("k", [1, 3])
def test_exported_model_runs_alone(k: int, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = export.TopRows(width=4, k=k)
    export.save(export.export(model, torch.randn(2, 5, 4)), tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    for batch, rows in ((1, k), (3, 5), (2, 9)):
        x = torch.randn(batch, rows, 4)
        assert torch.equal(loaded(x), model(x))
    for shape in ((2, 2, 4), (2, 5, 3)):
        if k == 3:
            with pytest.raises(AssertionError, match="Guard failed"):
                loaded(torch.randn(shape))


@pytest.mark.parametrize("shape", [(1, 5, 4), (2, 1, 4)], ids=str)
def test_an_example_of_size_one_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(UserError, match="Constraints violated"):
        export.export(export.TopRows(width=4, k=1), torch.randn(shape))


def test_len_makes_a_constant_of_the_batch_size() -> None:
    class Naive(export.TopRows):
        def forward(self, x: Tensor) -> Tensor:
            index = self.score(x).squeeze(2).topk(self.k, dim=1).indices
            return x[torch.arange(len(x)).unsqueeze(1), index]

    with pytest.raises(UserError, match="specialized it to be a constant"):
        export.export(Naive(width=4, k=2), torch.randn(2, 5, 4))


def test_batch_gather_exports_with_dynamic_sizes() -> None:
    class Gather(torch.nn.Module):
        def forward(self, x: Tensor, index: Tensor) -> Tensor:
            return batch_gather(x, index, check=False)

    batch, rows, picks = torch.export.dims("batch", "rows", "picks")
    program = torch.export.export(
        Gather(),
        (numbered(3, 5, 4), torch.zeros(3, 2, dtype=torch.int64)),
        dynamic_shapes={"x": {0: batch, 1: rows}, "index": {0: batch, 1: picks}},
    )
    x, index = numbered(7, 9, 4), torch.arange(28).view(7, 4) % 9
    assert torch.equal(program.module()(x, index), by_hand(x, index))


# ------------------------------------------------------------- small operations


@few
@given(st.lists(st.integers(0, 5), max_size=6))
def test_scaled_one_by_one_and_packed(lengths: list[int]) -> None:
    vectors = [numbered(length) + i for i, length in enumerate(lengths)]
    for scale in (small_operations.scale_each, small_operations.scale_packed):
        found = scale(vectors, 3.0)
        assert len(found) == len(vectors)
        for before, after in zip(vectors, found, strict=True):
            assert torch.equal(after, before * 3)


def test_only_vectors_are_packed() -> None:
    with pytest.raises(ValueError, match="flatten"):
        small_operations.scale_packed([torch.ones(2), torch.ones(2, 2)], 2.0)


# ------------------------------------------------------------- what the pages say


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [3.6, 6.8])
def test_the_picture_is_drawn(language: str, width: float) -> None:
    figure = flat_picture.draw(language, width)
    assert figure.get_figwidth() == width


@pytest.mark.parametrize("name", ["batch_gather", "batch_gather_backward"])
def test_batch_gather_is_fastest_where_it_is_measured(name: str) -> None:
    """On a CPU no form beats it by over a tenth, scatter aside, but at two shapes."""
    measured = [
        each
        for each in records.load_all()
        if each.name == f"effective/torchscript/{name}" and each.device == "cpu"
    ]
    if not measured:
        pytest.skip("no record holds it yet")
    for record in measured:
        slower = {}
        for case in record.cases:
            ratios = [case.ratio("batch_gather", each) for each in case.samples]
            behind = max(ratio.first_quartile for ratio in ratios if ratio)
            if behind > 1.1:
                slower[str(case.where["shape"])] = behind
        assert len(slower) <= 2, f"{record.machine}: batch_gather is behind at {slower}"
