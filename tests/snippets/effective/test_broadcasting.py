"""The snippets of effective/broadcasting, and what its pages say and no block shows."""

from __future__ import annotations

import copy
import operator
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.backends.backend_agg import FigureCanvasAgg
from torch import Tensor, nn

from snippets.effective.broadcasting import (
    add,
    concatenate,
    distances,
    drop_dim,
    lining_up,
    merge,
    no_broadcast,
    peak_memory,
    row_shares,
    rule,
    same_shape,
    stretch,
    two_linears,
)

Shape = tuple[int, ...]

many = settings(max_examples=80, deadline=None)
few = settings(max_examples=50, deadline=None)


def filled(shape: Shape, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


# ---------------------------------------------------------------- rule

any_shape = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@many
@given(st.lists(any_shape, min_size=1, max_size=3))
def test_rule_is_torchs_rule(shapes: list[Shape]) -> None:
    try:
        expected = sum(torch.empty(shape) for shape in shapes).shape  # type: ignore[union-attr]
    except RuntimeError:
        with pytest.raises(ValueError, match=r"meet at dim -\d"):
            rule.broadcast_shape(*shapes)
    else:
        assert rule.broadcast_shape(*shapes) == tuple(expected)


@few
@given(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0, max_dims=5))
def test_rule_agrees_with_numpys_shapes(shapes: hnp.BroadcastableShapes) -> None:
    assert rule.broadcast_shape(*shapes.input_shapes) == shapes.result_shape
    assert rule.broadcast_shape(*shapes.input_shapes) == tuple(
        torch.broadcast_shapes(*shapes.input_shapes)
    )


def test_rule_names_the_sizes_that_clash() -> None:
    with pytest.raises(ValueError, match="2 and 4 meet at dim -1"):
        rule.broadcast_shape((3, 2), (3, 4))
    with pytest.raises(ValueError, match="0 and 2 meet at dim -2"):
        rule.broadcast_shape((0, 3), (2, 3))
    assert rule.broadcast_shape() == ()


# ---------------------------------------------------------------- add


@many
@given(
    hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=2, max_dims=2, min_side=0),
    st.sampled_from([torch.int64, torch.float16, torch.float32, torch.bool]),
)
def test_repeating_changes_nothing(shapes: hnp.BroadcastableShapes, dtype: torch.dtype) -> None:
    a, b = (filled(shape, 0).to(dtype) for shape in shapes.input_shapes)
    if a.ndim == b.ndim:
        torch.testing.assert_close(add.add_repeated(a, b), add.add(a, b), rtol=0, atol=0)


def test_repeating_says_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="shorter"):
        add.add_repeated(torch.zeros(3, 2), torch.zeros(2))
    for call in (add.add, add.add_repeated):
        with pytest.raises(RuntimeError, match="must match"):
            call(torch.zeros(3, 2), torch.zeros(3, 4))


def test_broadcasting_stores_no_copy() -> None:
    a, b = torch.ones(512, 512), torch.ones(512, 1)
    assert peak_memory.peak_bytes(lambda: a + b) == a.nbytes
    repeated = peak_memory.peak_bytes(lambda: add.add_repeated(a, b))
    assert 2 * a.nbytes <= repeated < 2 * a.nbytes + 1000  # the rest: repeat's own bookkeeping


@few
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3))
def test_the_gradient_is_summed_to_the_shape_of_the_operand(
    shapes: hnp.BroadcastableShapes,
) -> None:
    a, b = (filled(shape, 1).requires_grad_() for shape in shapes.input_shapes)
    weight = filled(shapes.result_shape, 2)
    gradients = torch.autograd.grad((a * b * weight).sum(), [a, b])
    for gradient, x, other in zip(gradients, (a, b), (b, a), strict=True):
        assert gradient.shape == x.shape
        expected = (weight * other).expand(shapes.result_shape).sum_to_size(x.shape)
        torch.testing.assert_close(gradient, expected.detach())


# ---------------------------------------------------------------- peak_memory


def test_peak_of_known_cases() -> None:
    x = torch.ones(1000, 1000)
    size = x.nbytes
    assert peak_memory.peak_bytes(lambda: None) == 0
    assert peak_memory.peak_bytes(lambda: x) == 0
    assert peak_memory.peak_bytes(lambda: x.add_(x)) == 0
    assert peak_memory.peak_bytes(lambda: x + x) == size
    assert peak_memory.peak_bytes(lambda: (x + x) + (x + x)) == 3 * size
    assert peak_memory.peak_bytes(lambda: [x + x for _ in range(5)]) == 5 * size


def test_peak_is_not_what_is_left_at_the_end() -> None:
    def call() -> None:
        for _ in range(3):
            torch.ones(1000)
            torch.ones(500)

    assert peak_memory.peak_bytes(call) == 4000


def test_what_was_held_before_does_not_count() -> None:
    held = [torch.ones(1000)]

    def swap() -> None:
        held.clear()
        held.append(torch.ones(10))

    assert peak_memory.peak_bytes(swap) == 40
    held[:] = [torch.ones(1000)]
    peak_memory.peak_bytes(lambda: held.append(torch.ones(1000)))
    assert peak_memory.peak_bytes(swap) == 40  # not less for what an earlier count had seen


def test_the_backward_pass_is_counted() -> None:
    x = torch.ones(1000, requires_grad=True)

    def call() -> None:
        x.grad = None
        (x * x).sum().backward()

    assert 2 * 4000 <= peak_memory.peak_bytes(call) < 2 * 4000 + 100  # one for each factor


def resident_bytes(kind: str) -> int:
    """VmRSS, what this process has in memory, or VmHWM, the most it had since the reset."""
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"^{kind}:\s+(\d+) kB$", status, re.M)
    assert match
    return int(match[1]) * 1024


def test_memory_of_the_operating_system_agrees() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    except OSError:
        pytest.skip("this system has no peak of resident memory that can be reset")
    x, y = torch.ones(400, 50, 500), torch.ones(400, 1, 500)

    def call() -> Tensor:
        return torch.cat([x, y.repeat(1, 50, 1)], dim=-1)

    expected = x.nbytes + 2 * x.nbytes
    assert expected <= peak_memory.peak_bytes(call) < expected + 1000
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_bytes("VmRSS")
    call()
    assert resident_bytes("VmHWM") - before == pytest.approx(expected, rel=0.1)


def test_other_devices_are_refused() -> None:
    with pytest.raises(ValueError, match="meta"):
        peak_memory.peak_bytes(lambda: None, "meta")


def test_cuda_is_asked_for_its_own_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def note(name: str, value: int | None = None) -> Callable[[torch.device], int | None]:
        def call(device: torch.device) -> int | None:
            calls.append(name)
            assert device.type == "cuda"
            return value

        return call

    for name, value in {
        "synchronize": None,
        "reset_peak_memory_stats": None,
        "memory_allocated": 100,
        "max_memory_allocated": 350,
    }.items():
        monkeypatch.setattr(torch.cuda, name, note(name, value))
    assert peak_memory.peak_bytes(lambda: calls.append("call"), "cuda") == 250
    assert calls == [
        "synchronize",
        "reset_peak_memory_stats",
        "memory_allocated",
        "call",
        "synchronize",
        "max_memory_allocated",
    ]


@pytest.mark.gpu
def test_peak_on_a_gpu() -> None:
    x = torch.ones(1000, 1000, device="cuda")
    size = peak_memory.peak_bytes(lambda: (x + x) + (x + x), "cuda")
    assert size == pytest.approx(3 * x.nbytes, rel=0.1)


# ---------------------------------------------------------------- merge, concatenate, two_linears


@st.composite
def feature_inputs(draw: st.DrawFn) -> tuple[list[Shape], list[int], int]:
    """Leading shapes that broadcast, the last sizes, and the output's size."""
    count = draw(st.integers(1, 3))
    leading = draw(hnp.mutually_broadcastable_shapes(num_shapes=count, min_side=0, max_dims=4))
    features = draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    return list(leading.input_shapes), features, draw(st.integers(1, 4))


def inputs_of(leading: list[Shape], features: list[int]) -> list[Tensor]:
    return [
        filled((*shape, n), seed).requires_grad_()
        for seed, (shape, n) in enumerate(zip(leading, features, strict=True))
    ]


def gradients(
    function: Callable[..., Tensor], inputs: list[Tensor], parameters: list[Tensor]
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The result, and the gradients of a weighted sum of it."""
    result = function(*inputs)
    weight = filled(tuple(result.shape), 99)
    return result, torch.autograd.grad((result * weight).sum(), [*inputs, *parameters])


def close(a: Any, b: Any) -> None:
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@many
@given(feature_inputs(), st.booleans())
def test_merge_equals_one_linear_on_the_concatenation(
    case: tuple[list[Shape], list[int], int], bias: bool
) -> None:
    leading, features, outputs = case
    torch.manual_seed(0)
    merged = merge.Merge(features, outputs, bias).double()
    inputs = inputs_of(leading, features)
    parameters: list[Tensor] = list(merged.parameters())
    ours = gradients(merged, inputs, parameters)
    for form in (concatenate.tile_and_concatenate, concatenate.expand_and_concatenate):
        theirs = gradients(lambda *x, form=form: form(merged.linear, *x), inputs, parameters)
        close(ours, theirs)
    assert ours[0].shape == (*rule.broadcast_shape(*leading), outputs)


@many
@given(feature_inputs(), st.booleans())
def test_several_linears_equal_one(case: tuple[list[Shape], list[int], int], bias: bool) -> None:
    leading, features, outputs = case
    torch.manual_seed(0)
    linear = nn.Linear(sum(features), outputs, bias).double()
    parts = two_linears.split(linear, features)
    assert [part.bias is not None for part in parts] == [bias] + [False] * (len(parts) - 1)

    def add_up(*inputs: Tensor) -> Tensor:
        terms: list[Tensor] = [part(x) for part, x in zip(parts, inputs, strict=True)]
        return sum(terms[1:], terms[0])

    inputs = inputs_of(leading, features)
    result, grads = gradients(
        lambda *x: concatenate.tile_and_concatenate(linear, *x), inputs, list(linear.parameters())
    )
    their_result, theirs = gradients(add_up, inputs, [part.weight for part in parts])
    close(their_result, result)
    count = len(inputs)
    close(theirs[:count], grads[:count])
    close(torch.cat(theirs[count:], dim=1), grads[count])

    back = two_linears.join(parts)
    for name, value in linear.state_dict().items():
        assert torch.equal(back.state_dict()[name], value)
    assert (back.bias is None) == (not bias)


def test_joined_biases_add_up() -> None:
    torch.manual_seed(0)
    parts = [nn.Linear(2, 3), nn.Linear(4, 3), nn.Linear(1, 3, bias=False)]
    linear = two_linears.join(parts)
    assert linear.in_features == 7
    inputs = [filled((5, n), n, torch.float32) for n in (2, 4, 1)]
    expected = sum(part(x) for part, x in zip(parts, inputs, strict=True))
    torch.testing.assert_close(linear(torch.cat(inputs, dim=1)), expected)


def test_split_and_join_keep_dtype_and_share_nothing() -> None:
    linear = nn.Linear(5, 2, dtype=torch.bfloat16)
    parts = two_linears.split(linear, [2, 3])
    assert {p.dtype for part in parts for p in part.parameters()} == {torch.bfloat16}
    assert all(p.requires_grad for part in parts for p in part.parameters())
    before = copy.deepcopy(linear.state_dict())
    with torch.no_grad():
        for part in parts:
            part.weight.zero_()
    assert torch.equal(linear.weight, before["weight"])
    back = two_linears.join(parts[1:])
    assert back.weight.dtype == torch.bfloat16
    with torch.no_grad():
        back.weight.fill_(1)
    assert parts[1].weight.sum() == 0


def test_split_and_join_say_what_does_not_fit() -> None:
    with pytest.raises(RuntimeError, match=r"sum exactly to 11 .* got split_sizes=\[5, 5\]"):
        two_linears.split(nn.Linear(11, 2), [5, 5])
    with pytest.raises(RuntimeError, match="Expected size 2 but got size 3"):
        two_linears.join([nn.Linear(1, 2), nn.Linear(1, 3)])


def test_merge_says_what_does_not_fit() -> None:
    merged = merge.Merge([5, 6], 10)
    x, y = torch.zeros(4, 5), torch.zeros(4, 6)
    with pytest.raises(ValueError, match=r"\[\(4, 6\), \(4, 5\)\] do not end in \[5, 6\]"):
        merged(y, x)
    with pytest.raises(ValueError, match="do not end in"):
        merged(x)
    with pytest.raises(ValueError, match="do not end in"):
        merged(x, torch.zeros(()))
    with pytest.raises(RuntimeError, match="broadcast"):
        merged(x, torch.zeros(3, 6))


def test_merge_starts_as_one_linear_does() -> None:
    """Two Linears of their own would draw from wider ranges: 1 / sqrt of fewer inputs."""
    torch.manual_seed(0)
    one = nn.Linear(300, 50)
    torch.manual_seed(0)
    merged = merge.Merge([100, 200], 50)
    assert torch.equal(merged.linear.weight, one.weight)
    assert nn.Linear(100, 50).weight.abs().max() > 1.5 * merged.linear.weight.abs().max()


@pytest.mark.filterwarnings("ignore:Complex modules")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.complex64])
def test_merge_keeps_the_dtype(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    merged = merge.Merge([3, 2], 4).to(dtype)
    x, y = filled((5, 6, 3), 0, dtype), filled((5, 1, 2), 1, dtype)
    result = merged(x, y)
    assert result.dtype == dtype
    expected = concatenate.tile_and_concatenate(merged.linear, x, y)
    torch.testing.assert_close(result, expected, rtol=0.02, atol=0.02)


def test_merge_under_vmap_wants_the_largest_input_mapped() -> None:
    merged = merge.Merge([3, 2], 4)
    x, y = torch.randn(7, 5, 3), torch.randn(7, 1, 2)
    torch.testing.assert_close(torch.vmap(merged)(x, y), merged(x, y))
    one_y = torch.vmap(merged, in_dims=(0, None))(x, y[0])
    torch.testing.assert_close(one_y, merged(x, y[0]))
    with pytest.raises(RuntimeError, match="broadcast shape"):
        torch.vmap(merged, in_dims=(None, 0))(x[0], y)


def test_merge_leaves_its_inputs_and_second_derivatives_alone() -> None:
    merged = merge.Merge([3, 2], 4).double()
    x, y = filled((5, 6, 3), 0), filled((5, 1, 2), 1)
    before = x.clone(), y.clone()
    merged(x, y)
    assert torch.equal(x, before[0])
    assert torch.equal(y, before[1])
    inputs = (x.requires_grad_(), y.requires_grad_())
    assert torch.autograd.gradgradcheck(merged, inputs)


def test_merge_compiles_whole() -> None:
    merged = merge.Merge([3, 2], 4)
    x, y = torch.randn(5, 6, 3), torch.randn(5, 1, 2)
    compiled = torch.compile(merged, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x, y), merged(x, y))


def test_merge_holds_less() -> None:
    torch.manual_seed(0)
    merged = merge.Merge([64, 64], 64)
    x, y = torch.randn(64, 100, 64), torch.randn(64, 1, 64)

    @torch.no_grad()
    def tiled() -> Tensor:
        return concatenate.tile_and_concatenate(merged.linear, x, y)

    @torch.no_grad()
    def joined() -> Tensor:
        return merged(x, y)  # type: ignore[no-any-return]

    output = x.nbytes
    assert peak_memory.peak_bytes(tiled) == pytest.approx(3 * output, rel=0.02)
    assert peak_memory.peak_bytes(joined) == pytest.approx(output, rel=0.02)


def test_both_biases_get_the_same_gradient() -> None:
    pair = nn.Linear(5, 10), nn.Linear(6, 10)
    (pair[0](torch.randn(5, 3, 5)) + pair[1](torch.randn(5, 1, 6))).square().sum().backward()
    torch.testing.assert_close(pair[0].bias.grad, pair[1].bias.grad)


# ---------------------------------------------------------------- guards


@many
@given(st.lists(any_shape, min_size=1, max_size=3))
def test_same_shape_passes_only_the_same(shapes: list[Shape]) -> None:
    tensors = [torch.zeros(shape) for shape in shapes]
    if len(set(shapes)) == 1:
        same_shape.same_shape(*tensors)
    else:
        with pytest.raises(ValueError, match="shapes differ") as error:
            same_shape.same_shape(*tensors)
        assert all(str(shape) in str(error.value) for shape in shapes)


def test_mse_is_torchs_and_refuses_what_naive_mse_takes() -> None:
    prediction, target = filled((7,), 0), filled((7,), 1)
    torch.testing.assert_close(same_shape.mse(prediction, target), F.mse_loss(prediction, target))
    pairs = [(p - t) ** 2 for p in prediction.tolist() for t in target.tolist()]
    wrong = same_shape.naive_mse(prediction[:, None], target)
    assert wrong.item() == pytest.approx(sum(pairs) / 49)
    with pytest.raises(ValueError, match=r"\(7, 1\) and \(7,\)"):
        same_shape.mse(prediction[:, None], target)


IN_PLACE = [
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv,
    operator.imod, operator.ipow,
]  # fmt: skip
ARITHMETIC = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
]  # fmt: skip
BITS = [
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
    operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
]  # fmt: skip


@pytest.mark.parametrize("operation", [*ARITHMETIC, *IN_PLACE, *BITS], ids=lambda o: o.__name__)
def test_every_operator_is_guarded(operation: Callable[[Tensor, Tensor], Tensor]) -> None:
    def ones(*shape: int) -> Tensor:
        return torch.ones(shape, dtype=torch.int64 if operation in BITS else torch.float32)

    square, row, flat = ones(3, 3), ones(1, 3), ones(3)
    operation(square.clone(), flat)
    with no_broadcast.NoBroadcast():
        operation(square.clone(), square)
        for other in (row, flat):
            with pytest.raises(ValueError, match=r"would broadcast \(3, 3\) and"):
                operation(square.clone(), other)
    with no_broadcast.NoBroadcast(allow_ones=True):
        operation(square.clone(), row)
        with pytest.raises(ValueError, match=r"\(3, 3\) and \(3,\)"):
            operation(square.clone(), flat)


PAIRS = """
    add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow
    float_power atan2 hypot eq ne lt le gt ge greater less greater_equal less_equal isclose
    allclose logical_and logical_or logical_xor maximum minimum max min fmax fmin clamp_min
    clamp_max
"""


@pytest.mark.parametrize("name", PAIRS.split())
def test_every_function_of_two_is_guarded(name: str) -> None:
    column, flat = torch.ones(3, 1), torch.ones(3)
    function = getattr(torch, name)
    function(column, flat)
    for allow_ones in (False, True):
        with no_broadcast.NoBroadcast(allow_ones):
            function(flat, flat)
            with pytest.raises(ValueError, match=rf"{name} would broadcast \(3, 1\) and \(3,\)"):
                function(column, flat)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: torch.where(a > 0, a, b),
        lambda a, b: torch.where(a > 0, b, 0.0),
        lambda a, b: torch.lerp(a, b, 0.5),
        lambda a, b: torch.addcmul(a, b, b),
        lambda a, b: torch.addcdiv(a, b, b),
        lambda a, b: torch.clamp(a, min=b),
        lambda a, b: a.clamp(max=b),
        lambda a, b: a.masked_fill(b > 0, 0.0),
        lambda a, b: torch.add(a, other=b),
        lambda a, b: torch.sub(a, b, alpha=2),
        lambda a, b: torch.bitwise_and(a.long(), b.long()),
        lambda a, b: F.mse_loss(a, b),
        lambda a, b: nn.L1Loss()(a, b),
        lambda a, b: F.smooth_l1_loss(a, b),
        lambda a, b: F.huber_loss(a, b),
        lambda a, b: F.poisson_nll_loss(a, b),
        lambda a, b: F.kl_div(a, b, reduction="sum"),
        lambda a, b: F.gaussian_nll_loss(a, b, b),
        lambda a, b: F.hinge_embedding_loss(a, b),
    ],
)
def test_other_calls_are_guarded(call: Callable[[Tensor, Tensor], Tensor]) -> None:
    column, flat = torch.ones(3, 1), torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(column, flat)
    for allow_ones in (False, True):
        with no_broadcast.NoBroadcast(allow_ones):
            call(flat, flat)
            with pytest.raises(ValueError, match=r"would broadcast .*\(3,\)"):
                call(column, flat)


def test_what_does_not_broadcast_passes_the_guard() -> None:
    x = torch.ones(4, 3, requires_grad=True)
    net = nn.Sequential(
        nn.Linear(3, 3), nn.LayerNorm(3), nn.BatchNorm1d(3), nn.GELU(), nn.Dropout(0.5)
    )
    attention = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    optimiser = torch.optim.Adam(net.parameters())
    with no_broadcast.NoBroadcast():
        loss = F.mse_loss(net(x), torch.zeros(4, 3)) + attention(torch.ones(2, 5, 4)).mean()
        loss.backward()
        optimiser.step()
        assert (2 * x + 1 - x.sum() > 0).shape == x.shape
        assert (x @ torch.ones(3, 2)).shape == (4, 2)
        assert x.expand(2, 4, 3).shape == (2, 4, 3)
    x = x.detach()
    with no_broadcast.NoBroadcast():
        assert torch.add(x, x, out=torch.empty(0)).shape == x.shape


def test_guard_ends_with_its_block() -> None:
    a, b = torch.ones(3, 1), torch.ones(3)
    with pytest.raises(ValueError, match="add would broadcast"), no_broadcast.NoBroadcast():
        a + b
    assert (a + b).shape == (3, 3)
    outer, inner = no_broadcast.NoBroadcast(), no_broadcast.NoBroadcast(allow_ones=True)
    with pytest.raises(ValueError, match="would broadcast"), outer, inner:
        a + torch.ones(1, 3)


# ---------------------------------------------------------------- naming the dim


@few
@given(hnp.array_shapes(min_dims=1, max_dims=4, max_side=4))
def test_row_shares_add_up(shape: Shape) -> None:
    x = filled(shape, 0).abs() + 0.1
    shares = row_shares.row_shares(x)
    torch.testing.assert_close(shares.sum(dim=-1), torch.ones(shape[:-1], dtype=x.dtype))
    expected = x.flatten(0, -2) if x.ndim > 1 else x[None]
    rows = torch.stack([row / row.sum() for row in expected])
    torch.testing.assert_close(shares, rows.reshape(shape))


def test_naive_row_shares_is_silently_wrong_on_a_square() -> None:
    x = filled((3, 3), 0).abs()
    sums = x.sum(dim=1)
    expected = torch.stack([x[:, i] / sums[i] for i in range(3)], dim=1)
    torch.testing.assert_close(row_shares.naive_row_shares(x), expected)
    assert not torch.allclose(row_shares.naive_row_shares(x), row_shares.row_shares(x))
    with pytest.raises(RuntimeError, match="must match"):
        row_shares.naive_row_shares(x[:2])


@many
@given(any_shape, st.integers(-5, 4))
def test_drop_dim_drops_one_or_raises(shape: Shape, dim: int) -> None:
    x = torch.zeros(shape)
    if not -len(shape) <= dim < len(shape):
        with pytest.raises(IndexError):
            drop_dim.drop_dim(x, dim)
    elif shape[dim] != 1:
        with pytest.raises(ValueError, match=rf"dim {dim} of .* is not of size 1"):
            drop_dim.drop_dim(x, dim)
    else:
        place = dim % len(shape)
        dropped = drop_dim.drop_dim(x, dim)
        assert tuple(dropped.shape) == shape[:place] + shape[place + 1 :]
        assert dropped.data_ptr() == x.data_ptr()


# ---------------------------------------------------------------- distances


@few
@given(st.integers(0, 5), st.integers(0, 5), st.integers(1, 40), st.sampled_from([1.0, 1e-3, 1e3]))
def test_distances(n: int, m: int, width: int, scale: float) -> None:
    x, y = filled((n, width), 0) * scale, filled((m, width), 1) * scale
    expected = [[sum((x[i] - y[j]) ** 2) ** 0.5 for j in range(m)] for i in range(n)]
    truth = torch.tensor(expected, dtype=torch.float64).reshape(n, m)
    for form in (distances.outer_distances, distances.distances):
        torch.testing.assert_close(form(x, y), truth)


def test_distances_keep_their_digits_where_the_matrix_product_loses_them() -> None:
    torch.manual_seed(0)
    x = torch.randn(100, 32) + 100
    truth = distances.distances(x.double(), x.double())
    assert (distances.distances(x, x) - truth).abs().max() < 1e-4
    assert (torch.cdist(x, x) - truth).abs().max() > 0.1


def test_outer_distances_hold_two_temporaries() -> None:
    x = torch.randn(100, 32)
    cube = 100 * 100 * 32 * 4
    outer = peak_memory.peak_bytes(lambda: distances.outer_distances(x, x))
    assert 2 * cube <= outer < 2.1 * cube
    assert peak_memory.peak_bytes(lambda: distances.distances(x, x)) < 0.1 * cube


# ---------------------------------------------------------------- what the pages say


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_these_losses_only_warn(name: str) -> None:
    with pytest.warns(UserWarning, match="different to the input size"):
        getattr(F, name)(torch.ones(4, 1), torch.ones(4))


def test_this_loss_is_silent_and_that_one_raises() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.poisson_nll_loss(torch.ones(4, 1), torch.ones(4))
    with pytest.raises(ValueError, match="must be the same"):
        F.binary_cross_entropy_with_logits(torch.ones(4, 1), torch.ones(4))


def test_einops_checks_what_squeeze_does_not() -> None:
    einops = pytest.importorskip("einops")
    assert torch.zeros(4, 2).squeeze(1).shape == (4, 2)
    for shape in [(4, 2), (4,)]:
        with pytest.raises(einops.EinopsError):
            einops.rearrange(torch.zeros(shape), "n 1 -> n")


# ---------------------------------------------------------------- pictures


@pytest.mark.parametrize("case", lining_up.CASES)
def test_lining_up_shows_what_torch_does(case: tuple[Shape, Shape]) -> None:
    columns = lining_up.line_up(*case)
    clash = any(m != n and not {m, n} & {1, None} for m, n in columns)
    assert clash == (lining_up.result(*case) is None)
    sides = list(zip(*columns, strict=True))
    for shape, side in zip(case, sides, strict=True):
        assert tuple(size for size in side if size is not None) == shape


def test_stretch_shows_six_and_twelve() -> None:
    assert [int((a + b).sum()) for a, b in stretch.examples()] == [6, 12]


@pytest.mark.parametrize("picture", [lining_up, stretch])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [6.8, 3.6])
def test_pictures_fit(picture: Any, language: str, width: float) -> None:
    assert picture.LABELS["zh"].keys() == picture.LABELS["en"].keys()
    figure = picture.draw(language, width)
    FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        edge = figure.bbox
        for text in figure.axes[0].texts:
            box = text.get_window_extent(renderer)
            assert edge.x0 <= box.x0, text.get_text()
            assert box.x1 <= edge.x1, text.get_text()
            assert edge.y0 <= box.y0, text.get_text()
            assert box.y1 <= edge.y1, text.get_text()
    assert figure.get_size_inches()[0] == width
