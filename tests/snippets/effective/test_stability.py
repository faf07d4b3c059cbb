"""Numerical stability: against mpmath, over shapes, dims, dtypes and magnitudes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.autograd.gradcheck import GradcheckError

from snippets.effective.stability import (
    cross_entropy,
    empty_rows,
    error_curves,
    float_limits,
    log_softmax,
    loss_scaling,
    range_picture,
    safe_functions,
    softmax,
    where_trap,
)

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
MAGNITUDES = [1e-4, 1.0, 30.0, 1e3, 1e4]

each_dtype = pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: str(d)[6:])
few = settings(max_examples=60, deadline=None)


def test_subnormals_are_kept() -> None:
    kept = (torch.tensor(1e-40) * 1).item() > 0
    assert kept, (
        "this process flushes subnormals to zero: ti.init does that to its thread, so "
        "tests that call it must run in a process of their own"
    )


# ------------------------------------------------------------- references in mpmath


def rows_of(x: Tensor, dim: int) -> list[list[mpmath.mpf]]:
    """The slices of ``x`` along ``dim``, exact."""
    moved = x.detach().double().movedim(dim, -1) if x.ndim else x.detach().double().view(1)
    return [[mpmath.mpf(v) for v in row] for row in moved.reshape(-1, moved.shape[-1]).tolist()]


def tensor_of(rows: list[list[Any]], like: Tensor, dim: int) -> Tensor:
    """The inverse of rows_of, in float64."""
    flat = torch.tensor([[float(v) for v in row] for row in rows], dtype=torch.float64)
    if not like.ndim:
        return flat.view(())
    return flat.view(like.movedim(dim, -1).shape).movedim(-1, dim)


def row_log_softmax(row: list[mpmath.mpf]) -> list[mpmath.mpf]:
    total = mpmath.log(mpmath.fsum(mpmath.exp(v) for v in row))
    return [v - total for v in row]


def exact(x: Tensor, dim: int, function: Callable[..., list[Any]], *others: Tensor) -> Tensor:
    """``function`` of each row of ``x`` (and of ``others``), with 40 digits."""
    with mpmath.workdps(40):
        rows = zip(*(rows_of(t, dim) for t in (x, *others)), strict=True)
        return tensor_of([function(*row) for row in rows], x, dim)


def exact_softmax(x: Tensor, dim: int) -> Tensor:
    return exact(x, dim, lambda row: [mpmath.exp(v) for v in row_log_softmax(row)])


def exact_log_softmax(x: Tensor, dim: int) -> Tensor:
    return exact(x, dim, row_log_softmax)


def exact_softmax_gradient(x: Tensor, weight: Tensor, dim: int) -> Tensor:
    """The gradient of sum(weight * softmax(x))."""

    def gradient(row: list[Any], w: list[Any]) -> list[Any]:
        p = [mpmath.exp(v) for v in row_log_softmax(row)]
        mean = mpmath.fsum(a * b for a, b in zip(p, w, strict=True))
        return [a * (b - mean) for a, b in zip(p, w, strict=True)]

    return exact(x, dim, gradient, weight)


def exact_log_softmax_gradient(x: Tensor, weight: Tensor, dim: int) -> Tensor:
    """The gradient of sum(weight * log_softmax(x))."""

    def gradient(row: list[Any], w: list[Any]) -> list[Any]:
        total = mpmath.fsum(w)
        p = [mpmath.exp(v) for v in row_log_softmax(row)]
        return [b - a * total for a, b in zip(p, w, strict=True)]

    return exact(x, dim, gradient, weight)


def gradient_of(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    x = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(x).sum(), x)
    return gradient


def assert_within(value: Tensor, truth: Tensor, bound: Tensor | float) -> None:
    error = (value.detach().double() - truth).abs()
    worst = (error - bound).max().item()
    assert (error <= bound).all(), f"off by {worst:.3g} more than allowed"


@st.composite
def batches(draw: st.DrawFn) -> tuple[Tensor, int, torch.Generator]:
    """Logits of any rank, one of their dims, and a generator for more numbers."""
    shape = draw(st.lists(st.integers(1, 4), max_size=3))
    dim = draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    dtype = draw(st.sampled_from(FLOATS))
    magnitude = draw(st.sampled_from(MAGNITUDES))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
    return ((2 * uniform - 1) * magnitude).to(dtype), dim, generator


def random_like(x: Tensor, generator: torch.Generator) -> Tensor:
    return torch.rand(x.shape, generator=generator, dtype=torch.float64).to(x.dtype)


# ------------------------------------------------------------- the limits of the types


@each_dtype
def test_limits_are_limits(dtype: torch.dtype) -> None:
    limits = float_limits.limits(dtype)
    zero, one = torch.zeros((), dtype=dtype), torch.ones((), dtype=dtype)
    assert torch.nextafter(zero, one).item() == limits["subnormal"]
    assert torch.nextafter(one, 2 * one).item() - 1 == limits["eps"]
    largest = torch.tensor(limits["largest"], dtype=dtype)
    assert largest.isfinite()
    assert (largest * 2).isinf()
    spacing = (
        torch.nextafter(torch.tensor(limits["normal"], dtype=dtype), one).item() - limits["normal"]
    )
    assert spacing == limits["subnormal"]


def test_limits_refuse_integers() -> None:
    with pytest.raises(TypeError, match="floating point"):
        float_limits.limits(torch.int32)


def test_limits_of_float32_are_those_of_the_notes() -> None:
    limits = float_limits.limits(torch.float32)
    assert f"{limits['subnormal']:.4e} {limits['largest']:.5e}" == "1.4013e-45 3.40282e+38"


@pytest.mark.parametrize("stored", [1e-50, 1e39])
def test_multiply_then_divide_gives_nan(stored: float) -> None:
    y = torch.tensor(stored)
    assert (torch.tensor(2.0) * y / y).isnan()


# ------------------------------------------------------------- softmax and log-softmax


@each_dtype
def test_naive_softmax_overflows_at_log_of_the_largest_number(dtype: torch.dtype) -> None:
    threshold = math.log(torch.finfo(dtype).max)
    around = torch.tensor([threshold, 0.0], dtype=dtype)
    step = torch.finfo(dtype).eps * threshold
    below, above = (
        around - around.new_tensor([2 * step, 0]),
        around + around.new_tensor([2 * step, 0]),
    )
    assert softmax.naive_softmax(below).isfinite().all()
    assert softmax.naive_softmax(above)[0].isnan()
    assert softmax.stable_softmax(above)[0] == 1


@pytest.mark.parametrize("value", [-1000.0, 1000.0])
def test_naive_softmax_at_both_ends(value: float) -> None:
    assert softmax.naive_softmax(torch.tensor([value, value])).isnan().all()
    assert softmax.stable_softmax(torch.tensor([value, value])).tolist() == [0.5, 0.5]


def test_naive_softmax_of_float16_may_sum_to_zero() -> None:
    logits = torch.tensor([11.0, 11.0], dtype=torch.float16)
    assert softmax.naive_softmax(logits).tolist() == [0.0, 0.0]


@few
@given(batches())
def test_softmax(batch: tuple[Tensor, int, torch.Generator]) -> None:
    x, dim, generator = batch
    eps = torch.finfo(x.dtype).eps
    weight = random_like(x, generator)
    truth = exact_softmax(x, dim)
    truth_of_gradient = exact_softmax_gradient(x, weight, dim)
    for function in (softmax.stable_softmax, torch.softmax):
        result = function(x, dim)
        assert result.dtype == x.dtype
        assert_within(result, truth, 4 * eps)
        gradient = gradient_of(lambda x, f=function: weight * f(x, dim), x)  # type: ignore[misc]
        assert_within(gradient, truth_of_gradient, 8 * eps)


@few
@given(batches())
def test_log_softmax(batch: tuple[Tensor, int, torch.Generator]) -> None:
    x, dim, generator = batch
    eps = torch.finfo(x.dtype).eps
    weight = random_like(x, generator)
    truth = exact_log_softmax(x, dim)
    truth_of_gradient = exact_log_softmax_gradient(x, weight, dim)
    for function in (
        log_softmax.stable_log_softmax,
        cross_entropy.log_softmax,
        torch.log_softmax,
    ):
        result = function(x, dim)
        assert result.dtype == x.dtype
        assert_within(result, truth, 4 * eps * (1 + truth.abs()))
        gradient = gradient_of(lambda x, f=function: weight * f(x, dim), x)  # type: ignore[misc]
        assert_within(gradient, truth_of_gradient, 16 * eps)


@few
@given(batches(), st.floats(-1e3, 1e3))
def test_a_constant_changes_nothing(
    batch: tuple[Tensor, int, torch.Generator], constant: float
) -> None:
    x, dim, _ = batch
    x = x.double()
    torch.testing.assert_close(
        softmax.stable_softmax(x + constant, dim),
        softmax.stable_softmax(x, dim),
        rtol=0,
        atol=1e-11,
    )


@each_dtype
@pytest.mark.parametrize("value", [-1e4, 0.0, 1e4])
def test_rows_of_one_element(dtype: torch.dtype, value: float) -> None:
    x = torch.full((3, 1), value, dtype=dtype)
    assert softmax.stable_softmax(x).tolist() == [[1.0]] * 3
    assert log_softmax.stable_log_softmax(x).tolist() == [[0.0]] * 3
    assert cross_entropy.cross_entropy(x, torch.ones_like(x)).tolist() == [0.0] * 3
    assert (
        cross_entropy.index_cross_entropy(x, torch.zeros(3, dtype=torch.long)).tolist() == [0.0] * 3
    )
    for function in (softmax.stable_softmax, log_softmax.stable_log_softmax):
        assert gradient_of(function, x).tolist() == [[0.0]] * 3


@pytest.mark.parametrize("function", [softmax.stable_softmax, log_softmax.stable_log_softmax])
def test_integers_become_floats(function: Callable[[Tensor], Tensor]) -> None:
    integers = torch.tensor([1000, 0])
    torch.testing.assert_close(function(integers), function(integers.float()))


@pytest.mark.parametrize("function", [softmax.stable_softmax, log_softmax.stable_log_softmax])
def test_an_empty_dim_raises(function: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(IndexError, match="non-zero size"):
        function(torch.empty(2, 0))


@each_dtype
def test_some_classes_ruled_out(dtype: torch.dtype) -> None:
    x = torch.tensor([[-math.inf, 1e4, 1e4], [0.0, -math.inf, -math.inf]], dtype=dtype)
    assert softmax.stable_softmax(x).tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    assert softmax.stable_softmax(x).equal(x.softmax(-1))
    gradient = gradient_of(lambda x: softmax.stable_softmax(x)[:, 0], x)
    assert gradient.isfinite().all()
    expected = x.log_softmax(-1)
    torch.testing.assert_close(log_softmax.stable_log_softmax(x), expected)


def test_the_sum_of_float16_has_room_for_65504_equal_logits() -> None:
    x = torch.zeros(70_000, dtype=torch.float16)
    assert softmax.stable_softmax(x)[0] == 0
    assert log_softmax.stable_log_softmax(x)[0] == -math.inf
    truth = -math.log(70_000)
    assert log_softmax.stable_log_softmax(x.float())[0].item() == pytest.approx(truth)
    assert softmax.stable_softmax(x.float())[0].item() == pytest.approx(1 / 70_000)


def test_torch_has_the_same_limit_on_a_cpu() -> None:
    x = torch.zeros(70_000, dtype=torch.float16)
    assert x.log_softmax(0)[0] == -math.inf
    wide = x.log_softmax(0, dtype=torch.float32)
    assert wide[0].item() == pytest.approx(-math.log(70_000))


def test_double_backward() -> None:
    x = torch.tensor([[1.0, 2.0, 2.0], [-30.0, 40.0, 0.0]], dtype=torch.float64)
    x.requires_grad_()
    for function in (
        softmax.stable_softmax,
        log_softmax.stable_log_softmax,
        empty_rows.masked_softmax,
        empty_rows.masked_logsumexp,
    ):
        assert gradcheck(function, x)
        assert gradgradcheck(function, x)


def test_whole_tensor_softmax_is_right_for_one_vector_only() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    torch.testing.assert_close(softmax.whole_tensor_softmax(x[0]), x[0].softmax(0))
    assert softmax.whole_tensor_softmax(x).sum().item() == pytest.approx(1)


def test_global_max_softmax_loses_rows_far_below() -> None:
    x = torch.tensor([[1000.0, 0.0], [0.0, 0.0]])
    result = softmax.global_max_softmax(x)
    assert result[0].tolist() == [1.0, 0.0]
    assert result[1].isnan().all()


def test_torch_has_no_reduce_max() -> None:
    assert not hasattr(torch, "reduce_max")


# ------------------------------------------------------------- cross entropy


def probabilities_like(x: Tensor, dim: int, generator: torch.Generator) -> Tensor:
    random = torch.rand(x.shape, generator=generator, dtype=torch.float64)
    return (random / random.sum(dim, keepdim=True)).to(x.dtype)


@few
@given(batches())
def test_cross_entropy_of_probabilities(batch: tuple[Tensor, int, torch.Generator]) -> None:
    x, dim, generator = batch
    labels = probabilities_like(x, dim, generator)
    eps = torch.finfo(x.dtype).eps
    truth = -(labels.double() * exact_log_softmax(x, dim)).sum(dim)
    result = cross_entropy.cross_entropy(x, labels, dim)
    assert result.shape == truth.shape
    assert_within(result, truth, 8 * eps * (1 + truth))
    gradient = gradient_of(lambda x: cross_entropy.cross_entropy(x, labels, dim), x)
    assert_within(gradient, -exact_log_softmax_gradient(x, labels, dim), 16 * eps)
    difference = exact_softmax(x, dim) - labels.double()
    assert_within(gradient, difference, 24 * eps)


@few
@given(batches())
def test_cross_entropy_of_indices(batch: tuple[Tensor, int, torch.Generator]) -> None:
    x, dim, generator = batch
    if not x.ndim:
        x = x.view(1)
    rows = x.select(dim, 0).shape
    index = torch.randint(x.shape[dim], rows, generator=generator)
    eps = torch.finfo(x.dtype).eps
    chosen = F.one_hot(index, x.shape[dim]).movedim(-1, dim).double()
    truth = -(chosen * exact_log_softmax(x, dim)).sum(dim)
    result = cross_entropy.index_cross_entropy(x, index, dim)
    assert_within(result, truth, 8 * eps * (1 + truth))
    gradient = gradient_of(lambda x: cross_entropy.index_cross_entropy(x, index, dim), x)
    assert_within(gradient, exact_softmax(x, dim) - chosen, 16 * eps)
    as_probabilities = cross_entropy.cross_entropy(x, chosen.to(x.dtype), dim)
    torch.testing.assert_close(result, as_probabilities)


@pytest.mark.parametrize("shape", [(5,), (4, 5), (4, 5, 3)])
def test_cross_entropy_agrees_with_torch(shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator) * 100
    dim = min(1, x.ndim - 1)
    index = torch.randint(5, x.select(dim, 0).shape, generator=generator)
    labels = probabilities_like(x, dim, generator)
    torch.testing.assert_close(
        cross_entropy.index_cross_entropy(x, index, dim),
        F.cross_entropy(x, index, reduction="none"),
    )
    torch.testing.assert_close(
        cross_entropy.cross_entropy(x, labels, dim),
        F.cross_entropy(x, labels, reduction="none"),
    )


def test_the_example_of_the_notes() -> None:
    logits, labels = torch.tensor([1000.0, 0.0]), torch.tensor([0.5, 0.5])
    assert cross_entropy.naive_cross_entropy(logits, labels).item() == math.inf
    naive = gradient_of(lambda x: cross_entropy.naive_cross_entropy(x, labels), logits)
    assert naive.isnan().all()
    assert cross_entropy.cross_entropy(logits, labels).item() == 500
    gradient = gradient_of(lambda x: cross_entropy.cross_entropy(x, labels), logits)
    assert gradient.tolist() == [0.5, -0.5]


def test_naive_cross_entropy_is_right_in_range() -> None:
    logits, labels = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.25, 0.75]])
    torch.testing.assert_close(
        cross_entropy.naive_cross_entropy(logits, labels),
        cross_entropy.cross_entropy(logits, labels),
    )


def test_a_missing_keepdim_passes_on_a_square_batch_only() -> None:
    logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]])
    labels = F.one_hot(torch.tensor([0, 0, 0]), 3).float()
    right = cross_entropy.cross_entropy(logits, labels).sum()
    wrong = cross_entropy.misaligned_cross_entropy(logits, labels)
    assert (wrong - right).abs() > 5
    one = cross_entropy.misaligned_cross_entropy(logits[0], labels[0])
    torch.testing.assert_close(one, cross_entropy.cross_entropy(logits[0], labels[0]))
    with pytest.raises(RuntimeError, match="must match the size"):
        cross_entropy.misaligned_cross_entropy(logits[:2], labels[:2])


def test_each_class_once_hides_a_missing_keepdim() -> None:
    logits = torch.tensor([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]])
    labels = F.one_hot(torch.tensor([1, 2, 0]), 3).float()
    torch.testing.assert_close(
        cross_entropy.misaligned_cross_entropy(logits, labels),
        cross_entropy.cross_entropy(logits, labels).sum(),
    )


def test_a_class_ruled_out_adds_nothing_to_the_loss() -> None:
    logits, labels = torch.tensor([[2.0, -math.inf]]), torch.tensor([[1.0, 0.0]])
    assert F.cross_entropy(logits, labels).isnan()
    assert cross_entropy.cross_entropy(logits, labels).tolist() == [0.0]
    gradient = gradient_of(lambda x: cross_entropy.cross_entropy(x, labels), logits)
    assert gradient.tolist() == [[0.0, 0.0]]
    assert cross_entropy.cross_entropy(logits, labels.flip(1)).tolist() == [math.inf]


def test_labels_get_a_gradient_too() -> None:
    logits, labels = torch.tensor([3.0, 1.0]), torch.tensor([1.0, 0.0])
    gradient = gradient_of(lambda p: cross_entropy.cross_entropy(logits, p), labels)
    torch.testing.assert_close(gradient, -logits.log_softmax(0))


def test_shapes_that_do_not_fit_are_named() -> None:
    logits = torch.zeros(4, 3)
    with pytest.raises(ValueError, match=r"\(4, 3\) and \(3,\)"):
        cross_entropy.cross_entropy(logits, torch.ones(3) / 3)
    with pytest.raises(ValueError, match=r"index is \(2,\), must be \(4,\)"):
        cross_entropy.index_cross_entropy(logits, torch.tensor([0, 1]))
    with pytest.raises(RuntimeError, match="out of bounds"):
        cross_entropy.index_cross_entropy(logits, torch.tensor([0, 1, 2, 3]))


# ------------------------------------------------------------- rows of -inf


@each_dtype
def test_what_torch_does_with_rows_of_minus_inf(dtype: torch.dtype) -> None:
    x = torch.tensor([[0.0, 0.0], [-math.inf, -math.inf]], dtype=dtype)
    for function in (
        lambda x: x.softmax(-1),
        lambda x: x.log_softmax(-1),
        softmax.stable_softmax,
        log_softmax.stable_log_softmax,
    ):
        assert function(x)[1].isnan().all()
    assert x.logsumexp(-1)[1] == -math.inf
    first = gradient_of(lambda x: x.logsumexp(-1)[0], x)
    assert first[0].tolist() == [0.5, 0.5]
    assert first[1].isnan().all(), "pytorch#31829, #49724: mended, tell the page"
    log_zero = torch.tensor(-math.inf, dtype=dtype)
    assert gradient_of(lambda x: torch.logaddexp(x, log_zero), log_zero).isnan()


@few
@given(batches(), st.data())
def test_masked_functions(batch: tuple[Tensor, int, torch.Generator], data: st.DataObject) -> None:
    x, dim, generator = batch
    if not x.ndim:
        x = x.view(1)
    mask = torch.rand(x.shape, generator=generator) < data.draw(st.sampled_from([0.3, 0.8]))
    x = x.masked_fill(mask, -math.inf)
    empty = mask.all(dim, keepdim=True)
    weight = random_like(x, generator)

    result = empty_rows.masked_softmax(x, dim)
    expected = torch.where(empty, 0.0, x.softmax(dim))
    assert result.equal(expected)
    gradient = gradient_of(lambda x: weight * empty_rows.masked_softmax(x, dim), x)
    assert gradient.isfinite().all()
    assert (gradient.masked_select(mask) == 0).all()

    assert empty_rows.masked_logsumexp(x, dim).equal(x.logsumexp(dim))
    gradient = gradient_of(lambda x: empty_rows.masked_logsumexp(x, dim), x)
    eps = torch.finfo(x.dtype).eps
    difference = (gradient.double() - expected.double()).abs()
    assert (difference <= 8 * eps * (1 + x.double().abs().nan_to_num(posinf=0))).all()
    assert (gradient.masked_select(mask) == 0).all()


def test_the_nan_of_one_row_reaches_every_weight() -> None:
    features = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    mask = torch.tensor([[0.0, 0.0], [-math.inf, -math.inf]])
    weight = torch.ones(2, 2)
    gradient = gradient_of(lambda w: (features @ w + mask).logsumexp(-1)[0], weight)
    assert gradient.isnan().all()
    gradient = gradient_of(lambda w: empty_rows.masked_logsumexp(features @ w + mask)[0], weight)
    torch.testing.assert_close(gradient, torch.tensor([[0.5, 0.5], [1.0, 1.0]]))


def test_attention_gives_zeros_for_a_masked_row() -> None:
    query = torch.ones(1, 1, 2, 4)
    mask = torch.tensor([[True, True], [False, False]])
    result = F.scaled_dot_product_attention(query, query, query, attn_mask=mask)
    assert result[0, 0].tolist() == [[1.0] * 4, [0.0] * 4]


# ------------------------------------------------------------- ready-made functions

EXACT: dict[str, Callable[..., Any]] = {
    "log1p": lambda x: mpmath.log(1 + x),
    "expm1": lambda x: mpmath.exp(x) - 1,
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "sigmoid": lambda x: mpmath.exp(x) / (1 + mpmath.exp(x)),
    "logsigmoid": lambda x: -mpmath.log(1 + mpmath.exp(-x)),
    "BCEWithLogitsLoss": lambda x, y: mpmath.log(1 + mpmath.exp(x)) - x * y,
    "log_softmax": row_log_softmax,
    "logsumexp": lambda x: mpmath.log(mpmath.fsum(mpmath.exp(v) for v in x)),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "xlogy": lambda x, y: mpmath.mpf(0) if x == 0 else x * mpmath.log(y),
    "hypot": lambda x, y: mpmath.sqrt(x * x + y * y),
    "linalg.vector_norm": lambda x: mpmath.sqrt(mpmath.fsum(v * v for v in x)),
    "var(correction=0)": lambda x: (
        mpmath.fsum(v * v for v in x) / len(x) - (mpmath.fsum(x) / len(x)) ** 2
    ),
}


@pytest.mark.parametrize("case", safe_functions.CASES, ids=lambda case: case.function)
def test_formula_fails_and_function_does_not(case: safe_functions.Case) -> None:
    stored = [torch.tensor(v, dtype=case.dtype).tolist() for v in case.inputs.values()]
    as_mp = [[mpmath.mpf(i) for i in v] if isinstance(v, list) else mpmath.mpf(v) for v in stored]
    with mpmath.workdps(500):
        truth = EXACT[case.function](*as_mp)
        truth = [float(v) for v in truth] if isinstance(truth, list) else float(truth)
    expected = torch.tensor(truth, dtype=torch.float64)
    value, gradient = safe_functions.evaluate(case, case.ready)
    bound = 4 * torch.finfo(case.dtype).eps * expected.abs()
    assert_within(value, expected, bound)
    assert gradient.isfinite().all()
    plain, _ = safe_functions.evaluate(case, case.plain)
    lost = (plain.double() - expected).abs() > 0.4 * expected.abs()
    assert lost.any() or not plain.isfinite().all()


def test_table_of_functions() -> None:
    table = safe_functions.rows()
    assert len(table) == len(safe_functions.CASES)
    assert all(list(row) == list(safe_functions.COLUMNS) for row in table)
    named = " ".join(str(row["function"]) for row in table)
    for name in (
        "log_softmax",
        "logsumexp",
        "log1p",
        "expm1",
        "softplus",
        "logsigmoid",
        "xlogy",
        "hypot",
        "BCEWithLogitsLoss",
    ):
        assert f"`{name}`" in named


def test_show() -> None:
    assert safe_functions.show([-0.0, math.inf, 1.0 / 3]) == "[0,\u00a0inf,\u00a00.33333]"


def test_ready_made_functions_have_limits() -> None:
    x = torch.tensor(21.0, dtype=torch.float64)
    truth = float(mpmath.log(1 + mpmath.exp(21)))
    assert F.softplus(x).item() == 21
    assert truth > 21
    assert F.softplus(x, threshold=40).item() == pytest.approx(truth, rel=1e-16)
    assert torch.linalg.vector_norm(torch.tensor([1e20, 1e20])) == math.inf
    zeros = torch.zeros(2)
    assert gradient_of(lambda x: torch.hypot(x[0], x[1]), zeros).isnan().all()
    assert gradient_of(torch.linalg.vector_norm, zeros).tolist() == [0.0, 0.0]
    zero = torch.tensor(0.0)
    assert gradient_of(lambda y: torch.xlogy(zero, y), zero).isnan()


# ------------------------------------------------------------- the backward pass


@each_dtype
def test_sinc(dtype: torch.dtype) -> None:
    x = torch.tensor([-2.0, -1e-3, 0.0, 1.0, 3.0], dtype=dtype)
    expected = torch.sinc(x.double() / math.pi)
    for function in (where_trap.naive_sinc, where_trap.safe_sinc):
        assert function(x).dtype == dtype
        assert_within(function(x), expected, 2 * torch.finfo(dtype).eps)
    assert gradient_of(where_trap.naive_sinc, x).isnan().tolist() == [
        False,
        False,
        True,
        False,
        False,
    ]
    assert gradient_of(where_trap.safe_sinc, x)[2] == 0
    assert gradient_of(where_trap.safe_sinc, x).isfinite().all()


def test_gradcheck_finds_the_nan() -> None:
    x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(where_trap.naive_sinc, x)
    assert gradcheck(where_trap.safe_sinc, x)


def test_detect_anomaly_names_the_function() -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            torch.autograd.detect_anomaly(),
            pytest.raises(RuntimeError, match=r"DivBackward0.*nan"),
        ):
            torch.autograd.grad(where_trap.naive_sinc(x).sum(), x)


def test_detect_anomaly_lets_inf_pass() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            assert gradient_of(torch.sqrt, torch.zeros(1)).tolist() == [math.inf]


def test_detect_anomaly_blames_the_operation_after_sqrt() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="MulBackward0"):
            gradient_of(lambda x: (x * x).sum().sqrt(), torch.zeros(2))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.sin() / x).nan_to_num(1.0),
        lambda x: (x.sin() / x).masked_fill(x == 0, 1.0).nan_to_num(),
        lambda x: (x - 1).sqrt() * (x > 1),
    ],
)
def test_other_ways_into_the_trap(function: Callable[[Tensor], Tensor]) -> None:
    assert gradient_of(function, torch.tensor([0.0, 2.0])).isnan().tolist() == [True, False]


def test_eps_belongs_inside_the_root() -> None:
    zero = torch.zeros(1)
    assert gradient_of(lambda x: (x + 1e-12).sqrt(), zero).isfinite().all()
    assert gradient_of(lambda x: x.sqrt() + 1e-12, zero).isinf().all()


def test_gradient_of_a_norm_at_zero() -> None:
    zeros = torch.zeros(2)
    assert gradient_of(lambda x: (x * x).sum().sqrt(), zeros).isnan().all()
    assert gradient_of(lambda x: x.var().sqrt(), zeros).isnan().all()
    assert gradient_of(torch.std, zeros).tolist() == [0.0, 0.0]


# ------------------------------------------------------------- half precision


def test_loss_scaling_keeps_small_gradients() -> None:
    error = torch.full((1_000_000,), 0.01, dtype=torch.float16)
    assert loss_scaling.scaled_gradient(error)[0] == 0
    assert loss_scaling.scaled_gradient(error, 1024.0)[0].item() == pytest.approx(2e-8, rel=0.01)
    assert loss_scaling.scaled_gradient(error.bfloat16())[0].item() == pytest.approx(2e-8, rel=0.01)


@few
@given(st.floats(1e-3, 1.0), st.sampled_from(FLOATS[1:]), st.sampled_from([1.0, 16.0, 1024.0]))
def test_scaling_changes_nothing_else(size: float, dtype: torch.dtype, scale: float) -> None:
    error = torch.full((100,), size, dtype=dtype)
    truth = 2 * error.double() / 100
    bound = 4 * torch.finfo(dtype).eps * truth
    if dtype is torch.float64:
        bound = 2 * torch.finfo(torch.float32).eps * truth
    assert_within(loss_scaling.scaled_gradient(error, scale), truth, bound)


def test_adam_in_float16_divides_by_zero() -> None:
    moved = {}
    for dtype in (torch.float16, torch.bfloat16):
        parameter = torch.nn.Parameter(torch.ones(1, dtype=dtype))
        optimizer = torch.optim.Adam([parameter], lr=0.1)
        parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        moved[dtype] = parameter.item()
    assert math.isnan(moved[torch.float16])
    assert moved[torch.bfloat16] == 1


# ------------------------------------------------------------- pictures


@pytest.mark.parametrize("picture", [error_curves, range_picture])
@pytest.mark.parametrize("width", [3.6, 6.8])
def test_pictures(picture: Any, width: float) -> None:
    for language in ("en", "zh"):
        figure = picture.draw(language, width)
        assert figure.get_figwidth() == width
    assert picture.LABELS["en"].keys() == picture.LABELS["zh"].keys()
    with pytest.raises(KeyError):
        picture.draw("fr", width)


@each_dtype
def test_picture_of_ranges_shows_the_ranges(dtype: torch.dtype) -> None:
    subnormal, normal, largest = range_picture.exponents(dtype)
    limits = float_limits.limits(dtype)
    assert normal == pytest.approx(math.log10(limits["normal"]))
    assert largest == pytest.approx(math.log10(limits["largest"]))
    assert subnormal == pytest.approx(math.log10(limits["subnormal"]), abs=0.01)


def test_references_of_the_curves() -> None:
    softplus = EXACT["softplus"]
    references: dict[str, Callable[..., Any]] = {
        "log(1 + x)": EXACT["log1p"],
        "exp(x) - 1": EXACT["expm1"],
        "log(1 + exp(x))": softplus,
        "log(sigmoid(x))": lambda x: -softplus(-x),
        "log(sigmoid(-x))": lambda x: -softplus(x),
    }
    for curves, size in ((error_curves.SMALL, 1e-6), (error_curves.LARGE, 50.0)):
        for label, _, reference in curves:
            if label in references:
                with mpmath.workdps(60):
                    truth = float(references.pop(label)(mpmath.mpf(size)))
                value = reference(torch.tensor(size, dtype=torch.float64)).item()
                assert value == pytest.approx(truth, rel=1e-15)
    assert not references


@each_dtype
def test_a_small_update_is_lost(dtype: torch.dtype) -> None:
    weight = torch.ones((), dtype=dtype)
    half_a_gap = torch.finfo(dtype).eps / 2
    assert weight + 0.9 * half_a_gap == weight
    assert weight + 1.1 * half_a_gap > weight


def test_the_curves_show_what_the_page_says() -> None:
    eps = torch.finfo(torch.float32).eps
    x = torch.tensor([1e-8, 1e-4])
    for (_, plain, reference), (_, ready, _) in zip(
        error_curves.SMALL[:2], error_curves.SMALL[2:], strict=True
    ):
        errors = error_curves.relative_errors(plain, reference, x)
        assert errors[0] == 1
        assert errors[1] > 100 * eps
        assert (error_curves.relative_errors(ready, reference, x) <= eps).all()
    far = torch.tensor([20.0, 80.0, 100.0])
    assert error_curves.relative_errors(*error_curves.LARGE[0][1:], far)[2] == math.inf
    assert error_curves.relative_errors(*error_curves.LARGE[1][1:], far)[1] == 1
    for _, ready, reference in error_curves.LARGE[3:]:
        errors = error_curves.relative_errors(ready, reference, far[:2])
        assert (errors <= 4 * eps).all()
