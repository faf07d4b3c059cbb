"""The snippets of effective/operators, and what its pages say and no block shows."""

from __future__ import annotations

import inspect
import operator
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.backends.backend_agg import FigureCanvasAgg
from torch import Tensor
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.benchmark import Timer

from snippets.effective.operators import (
    accuracy,
    backward_memory,
    between,
    centre,
    differences,
    in_place,
    memory_layout,
    operator_table,
    row_sum,
    timer,
    views,
)

SUMS = [
    row_sum.sum_by_index,
    row_sum.sum_by_unbind,
    row_sum.sum_by_split,
    row_sum.sum_rows,
]
INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]
DTYPES = INTEGERS + FLOATS
NUMBERS = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]

shapes = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)


def random_array(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray[Any, Any]:
    """Small integers, so that float16 sums of up to five are exact too."""
    values = np.random.default_rng(seed).integers(0, 9, shape)
    if np.dtype(dtype).kind in "ifc":
        values = values - 4
    return values.astype(dtype)


def raised(call: Callable[..., object], *args: object) -> Exception:
    with pytest.raises((RuntimeError, TypeError)) as error:
        call(*args)
    return error.value


# ---------------------------------------------------------------- row_sum


@settings(deadline=None)
@given(shapes, st.sampled_from(DTYPES), st.integers(0, 9))
def test_sums_agree_with_numpy_for_any_shape_and_dtype(
    shape: tuple[int, ...], dtype: str, seed: int
) -> None:
    array = random_array(shape, dtype, seed)
    wide = "int64" if dtype in INTEGERS else dtype
    expected = torch.from_numpy(np.asarray(array.sum(axis=0, dtype=wide)))
    for sum_of in SUMS:
        total = sum_of(torch.from_numpy(array))
        assert total.dtype == expected.dtype
        assert torch.equal(total, expected), sum_of.__name__


@settings(deadline=None)
@given(hnp.arrays("float32", (40, 3), elements=st.floats(-1e6, 1e6, width=32)))
def test_sums_of_floats_are_close_to_float64(array: np.ndarray[Any, Any]) -> None:
    expected = array.astype("float64").sum(axis=0)
    bound = 40 * np.finfo("float32").eps * np.abs(array.astype("float64")).sum(axis=0)
    for sum_of in SUMS:
        total = sum_of(torch.from_numpy(array)).double().numpy()
        assert (np.abs(total - expected) <= bound).all(), sum_of.__name__


@pytest.mark.parametrize("sum_of", SUMS)
def test_sums_have_the_right_gradient(sum_of: Callable[[Tensor], Tensor]) -> None:
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(sum_of, (x,))


@pytest.mark.parametrize("sum_of", SUMS)
def test_sums_read_tensors_that_are_not_contiguous(sum_of: Callable[[Tensor], Tensor]) -> None:
    x = torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1)[::2]
    assert torch.equal(sum_of(x), torch.from_numpy(x.numpy().sum(axis=0)))


@pytest.mark.parametrize("sum_of", SUMS)
def test_sums_name_what_is_wrong_with_a_scalar(sum_of: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(ValueError, match="x has no rows"):
        sum_of(torch.tensor(1.0))


@settings(deadline=None)
@given(st.integers(0, 20), st.integers(1, 8))
def test_split_takes_parts_of_any_size(rows: int, size: int) -> None:
    x = torch.arange(rows * 2).reshape(rows, 2)
    assert torch.equal(row_sum.sum_by_split(x, size), x.sum(dim=0))
    with pytest.raises(RuntimeError, match="split_size"):
        row_sum.sum_by_split(x, -size)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sum_rounds_half_precision_once(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.rand(5000, 20).to(dtype)
    exact = x.double().sum(dim=0)
    assert torch.equal(row_sum.sum_rows(x), exact.to(dtype))
    assert not torch.equal(row_sum.sum_by_unbind(x), exact.to(dtype))


def test_sum_is_more_exact_than_the_loop() -> None:
    torch.manual_seed(0)
    x = torch.randn(20000, 50)
    exact = x.double().sum(dim=0)
    loop = (row_sum.sum_by_unbind(x).double() - exact).abs().max()
    assert (row_sum.sum_rows(x).double() - exact).abs().max() < loop / 3


class Calls(TorchDispatchMode):
    """Collects the names of the functions that run."""

    names: list[str]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def calls_of(call: Callable[[], object]) -> list[str]:
    calls = Calls()  # type: ignore[no-untyped-call]
    calls.names = []
    with calls:
        call()
    return calls.names


def test_iterating_calls_unbind() -> None:
    x = torch.ones(4, 2)
    assert calls_of(lambda: list(x)) == ["aten.unbind.int"]
    assert calls_of(lambda: x.unbind()) == ["aten.unbind.int"]
    assert calls_of(lambda: [x[i] for i in range(4)]) == ["aten.select.int"] * 4
    assert calls_of(lambda: sum(x)) == ["aten.unbind.int", *["aten.add.Tensor"] * 4]


# ---------------------------------------------------------------- backward_memory


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (7, 3), (64, 10)])
def test_each_index_makes_a_gradient_of_the_size_of_x(rows: int, width: int) -> None:
    x = torch.ones(rows, width, requires_grad=True)
    used = backward_memory.backward_bytes(row_sum.sum_by_index(x).sum())
    assert used["SelectBackward0"] == rows * (rows * width * 4)
    used = backward_memory.backward_bytes(row_sum.sum_by_unbind(x).sum())
    assert used["UnbindBackward0"] == rows * width * 4
    assert "SelectBackward0" not in used


def test_that_gradient_is_zero_but_for_one_row() -> None:
    x = torch.ones(3, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(x[1].sum(), x)
    assert gradient.tolist() == [[0, 0], [1, 1], [0, 0]]
    assert gradient.is_contiguous()


def test_the_gradient_of_a_sum_is_one_row_expanded() -> None:
    x = torch.ones(30, 2, requires_grad=True)
    weight = torch.tensor([1.0, 2.0])
    (gradient,) = torch.autograd.grad(row_sum.sum_rows(x), x, weight)
    assert gradient.stride() == (0, 1)
    assert torch.equal(gradient, weight.expand(30, 2))
    with profile(profile_memory=True) as profiler:
        torch.autograd.grad(row_sum.sum_rows(x), x, weight)
    used = {event.key: event.cpu_memory_usage for event in profiler.key_averages()}
    assert used["SumBackward1"] == 0


def test_backward_bytes_needs_a_graph() -> None:
    with pytest.raises(RuntimeError, match="does not require grad"):
        backward_memory.backward_bytes(torch.tensor(1.0))


# ---------------------------------------------------------------- timer


def test_time_call_warms_up_and_repeats() -> None:
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1

    measured = timer.time_call(call, seconds=0.05)
    assert measured.num_threads == 1
    assert calls > len(measured.times) * measured.number_per_run
    assert sum(measured.raw_times) >= 0.05


def test_time_call_measures_a_known_time() -> None:
    measured = timer.time_call(lambda: time.sleep(0.005), seconds=0.05)
    assert 0.004 < measured.median < 0.1
    assert 0.004 < timer.naive_time(lambda: time.sleep(0.005)) < 0.5


def test_time_call_sets_the_threads_and_puts_them_back() -> None:
    before = torch.get_num_threads()
    seen = set()
    timer.time_call(lambda: seen.add(torch.get_num_threads()), seconds=0.01, threads=2)
    assert seen == {2}
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("wrong", [{"seconds": 0}, {"seconds": -1}, {"threads": 0}])
def test_time_call_names_what_is_wrong(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        timer.time_call(lambda: None, **wrong)


def test_what_the_page_says_of_timer() -> None:
    assert inspect.signature(Timer).parameters["num_threads"].default == 1
    waits = inspect.getsource(inspect.getmodule(Timer).timer)  # type: ignore[union-attr]
    assert "torch.accelerator.synchronize()" in waits
    assert time.get_clock_info("time").adjustable
    assert time.get_clock_info("perf_counter").monotonic


# ---------------------------------------------------------------- differences


@settings(deadline=None)
@given(shapes, st.sampled_from(NUMBERS), st.integers(0, 9))
def test_differences_agree_with_numpy(shape: tuple[int, ...], dtype: str, seed: int) -> None:
    array = random_array(shape, dtype, seed)
    expected = torch.from_numpy(np.diff(array, axis=0))
    for of in (differences.differences, differences.naive_differences):
        found = of(torch.from_numpy(array))
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected), of.__name__


def test_differences_refuse_what_has_none() -> None:
    with pytest.raises(IndexError):
        differences.differences(torch.tensor(1))
    with pytest.raises(NotImplementedError):
        differences.differences(torch.tensor([True, False]))


# ---------------------------------------------------------------- views, memory_layout

forward_slices = hnp.basic_indices((4, 5, 3), allow_newaxis=True).filter(
    lambda index: all(
        part.step is None or part.step > 0
        for part in (index if isinstance(index, tuple) else (index,))
        if isinstance(part, slice)
    )
)


@settings(deadline=None)
@given(forward_slices)
def test_slices_are_views_with_numpy_s_values(index: Any) -> None:
    array = np.arange(60).reshape(4, 5, 3)
    x = torch.from_numpy(array)
    view = x[index]
    assert torch.equal(view, torch.from_numpy(np.asarray(array[index])))
    assert views.shares_storage(x, view)
    places = memory_layout.addresses(view)
    assert [x.flatten()[place].item() for place in places] == view.flatten().tolist()


@settings(deadline=None)
@given(hnp.integer_array_indices((4, 5)))
def test_lists_and_index_tensors_copy(index: tuple[np.ndarray[Any, Any], ...]) -> None:
    array = np.arange(20).reshape(4, 5)
    x = torch.from_numpy(array.copy())
    copy = x[tuple(torch.from_numpy(np.asarray(part)) for part in index)]
    assert torch.equal(copy, torch.from_numpy(np.asarray(array[index])))
    if copy.ndim:
        assert not views.shares_storage(x, copy)


def test_what_shares_storage() -> None:
    x = torch.arange(12).reshape(3, 4)
    for view in (x, x.T, x[1:], x.view(2, 6), x.detach(), x.expand(2, 3, 4), x.unbind()[0]):
        assert views.shares_storage(x, view)
    for copy in (x.clone(), x.flip(0), x[[0]], x[x > 3], x.repeat(1, 1), x.T.reshape(-1)):
        assert not views.shares_storage(x, copy)
    empty = torch.empty(0)
    assert not views.shares_storage(empty, torch.empty(0))


def test_a_write_to_either_shows_in_both() -> None:
    x = torch.zeros(3)
    part = x[1:]
    part[0] = 1
    x[2] = 2
    assert x.tolist() == [0, 1, 2]
    assert part.tolist() == [1, 2]


def test_flip_is_what_a_negative_step_would_be() -> None:
    array = np.arange(12).reshape(3, 4)
    x = torch.from_numpy(array)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    assert torch.equal(x.flip(0), torch.from_numpy(array[::-1].copy()))


@pytest.mark.filterwarnings("ignore:Glyph")  # the fonts are the site's business
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [6.8, 3.6])
def test_picture_fits(language: str, width: float) -> None:
    figure = memory_layout.draw(language, width)
    FigureCanvasAgg(figure)
    axes = figure.axes[0]
    assert figure.get_size_inches()[0] == pytest.approx(width)
    texts = [text.get_text() for text in axes.texts]
    for shown in memory_layout.examples(torch.arange(12).reshape(3, 4)):
        assert shown in texts
    box = figure.bbox
    for text in axes.texts:
        extent = text.get_window_extent()
        assert box.x0 <= extent.x0, text
        assert extent.x1 <= box.x1, text
    labels = [text.get_window_extent() for text in axes.texts if len(text.get_text()) > 2]
    for first in labels:
        assert sum(first.overlaps(other) for other in labels) == 1


# ---------------------------------------------------------------- operator_table


def test_table_has_a_row_for_every_pair_and_a_cell_for_every_column() -> None:
    rows = operator_table.rows()
    assert [row["operator"] for row in rows] == [f"`{text}`" for text, _, _ in operator_table.PAIRS]
    for row in rows:
        assert list(row) == list(operator_table.COLUMNS)
    for title in operator_table.COLUMNS.values():
        assert set(title) == {"en", "zh"}


def test_table_holds_every_operator_that_the_notes_list() -> None:
    functions = {function.__name__ for _, _, function in operator_table.PAIRS}
    assert functions >= {
        *("neg", "add", "sub", "mul", "div", "floor_divide", "remainder", "pow", "matmul"),
        *("lt", "le", "gt", "ge", "abs", "eq", "ne"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
    }


def test_table_tells_a_pair_that_disagrees() -> None:
    x = torch.tensor([1, 2])
    assert operator_table.check(operator.add, torch.add, x, x) == "`int64`"
    with pytest.raises(AssertionError):
        operator_table.check(operator.add, torch.sub, x, x)
    with pytest.raises(AssertionError):
        operator_table.check(operator.truediv, torch.floor_divide, x, x)
    with pytest.raises(AssertionError):
        operator_table.check(operator.xor, torch.logical_xor, x.float(), x.float())


def test_the_only_type_error_is_that_of_invert() -> None:
    errors = {
        (row["operator"], cell)
        for row in operator_table.rows()
        for cell in row.values()
        if str(cell).startswith("✗")
    }
    assert {cell for _, cell in errors} == {"✗ NotImplementedError", "✗ TypeError"}
    assert [text for text, cell in errors if cell == "✗ TypeError"] == ["`~x`"]
    assert issubclass(NotImplementedError, RuntimeError)


def test_divmod_and_round_have_no_operator() -> None:
    x = torch.tensor([1.5])
    assert type(raised(lambda: divmod(x, x))) is TypeError  # type: ignore[operator]
    assert type(raised(lambda: round(x))) is TypeError  # type: ignore[call-overload]


whole = st.integers(-100, 100)


@settings(deadline=None)
@given(st.lists(st.tuples(whole, whole.filter(bool)), min_size=1), st.sampled_from(NUMBERS[1:]))
def test_division_is_python_s(pairs: list[tuple[int, int]], dtype: str) -> None:
    x, y = torch.tensor(pairs).to(getattr(torch, dtype)).unbind(1)
    assert (x // y).tolist() == [a // b for a, b in pairs]
    assert (x % y).tolist() == [a % b for a, b in pairs]
    truncated = torch.div(x, y, rounding_mode="trunc")
    assert truncated.tolist() == [int(a / b) for a, b in pairs]
    remainders = torch.fmod(x, y)
    assert remainders.tolist() == [np.fmod(a, b) for a, b in pairs]
    for (a, b), modulo, remainder in zip(pairs, (x % y).tolist(), remainders.tolist(), strict=True):
        assert modulo == 0 or (modulo > 0) == (b > 0)
        assert remainder == 0 or (remainder > 0) == (a > 0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_division_by_zero(dtype: torch.dtype) -> None:
    x, zero = torch.tensor([1, 2], dtype=dtype), torch.tensor([0, 0], dtype=dtype)
    for divide in (operator.floordiv, operator.mod):
        assert str(raised(divide, x, zero)) == "ZeroDivisionError"
    assert (x / zero).tolist() == [float("inf")] * 2
    assert (x / zero).dtype == torch.float32


def test_true_division_of_integers_gives_the_default_dtype() -> None:
    x = torch.tensor([1, 2])
    assert (x / 2).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (x / 2).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    exact = torch.arange(2**24 - 5, 2**24 + 1)
    assert torch.equal((exact / 1).long(), exact)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1))
def test_bitwise_is_logical_on_bool_only(pairs: list[tuple[int, int]]) -> None:
    x, y = torch.tensor(pairs).unbind(1)
    assert (x & y).tolist() == [a & b for a, b in pairs]
    assert (x | y).tolist() == [a | b for a, b in pairs]
    assert (x ^ y).tolist() == [a ^ b for a, b in pairs]
    assert (~x).tolist() == [~a for a, _ in pairs]
    p, q = x.bool(), y.bool()
    assert torch.equal(p & q, torch.logical_and(x, y))
    assert torch.equal(p | q, torch.logical_or(x, y))
    assert torch.equal(p ^ q, torch.logical_xor(x, y))
    assert torch.equal(~p, torch.logical_not(x))


def test_arithmetic_on_masks() -> None:
    p, q = torch.tensor([[True, True], [True, False]])
    assert torch.equal(p + q, p | q)
    assert torch.equal(p * q, p & q)
    assert (p & 1).dtype == torch.int64
    assert (p & True).dtype == torch.bool
    for call in (lambda: -p, lambda: 1 - p, lambda: p - q, lambda: p - 1):
        assert "not supported" in str(raised(call))


@pytest.mark.parametrize("symbol", ["and_", "or_", "xor"])
def test_bitwise_on_floats_raises(symbol: str) -> None:
    x = torch.ones(2)
    error = raised(lambda: getattr(operator, symbol)(x, x))
    assert type(error) is NotImplementedError
    assert type(raised(lambda: getattr(operator, symbol)(x, 1))) is NotImplementedError
    assert type(raised(lambda: ~x)) is TypeError


def test_equality() -> None:
    x = torch.tensor([1, 2])
    assert (x == None) is False  # noqa: E711
    assert (x == [1, 2]) is False
    assert not torch.equal(x, torch.tensor([1, 2, 3]))
    assert not torch.equal(torch.ones(2, 1), torch.ones(2, 2))
    assert (torch.ones(2, 1) == torch.ones(2, 2)).all()
    with pytest.raises(AssertionError, match="dtype"):
        torch.testing.assert_close(x, x.double())
    with pytest.raises(AssertionError, match="shape"):
        torch.testing.assert_close(x, x[None])


# ---------------------------------------------------------------- accuracy


@settings(deadline=None)
@given(shapes, st.integers(0, 99))
def test_accuracy_is_the_share_of_equal_elements(shape: tuple[int, ...], seed: int) -> None:
    generator = np.random.default_rng(seed)
    predicted, labels = generator.integers(0, 3, (2, *shape))
    found = accuracy.accuracy(torch.from_numpy(predicted), torch.from_numpy(labels))
    if labels.size == 0:
        assert np.isnan(found)
    else:
        pairs = zip(predicted.flat, labels.flat, strict=True)
        assert found == pytest.approx(sum(a == b for a, b in pairs) / labels.size)


def test_accuracy_refuses_shapes_that_would_broadcast() -> None:
    labels = torch.arange(10)
    assert accuracy.naive_accuracy(labels[:, None], labels) == pytest.approx(0.1)
    assert (labels[:, None] == labels).shape == (10, 10)
    with pytest.raises(ValueError, match=r"\(10, 1\) and \(10,\)"):
        accuracy.accuracy(labels[:, None], labels)


# ---------------------------------------------------------------- centre, in_place


@settings(deadline=None)
@given(hnp.arrays("float64", hnp.array_shapes(max_dims=3), elements=st.floats(-1e3, 1e3)))
def test_centre_leaves_its_argument_alone(array: np.ndarray[Any, Any]) -> None:
    x = torch.from_numpy(array.copy())
    expected = torch.from_numpy(array - array.mean(axis=-1, keepdims=True))
    torch.testing.assert_close(centre.centre(x), expected, rtol=0, atol=1e-10)
    assert torch.equal(x, torch.from_numpy(array))
    result = centre.naive_centre(x)
    assert result is x
    torch.testing.assert_close(x, expected, rtol=0, atol=1e-10)


def test_centre_needs_floats() -> None:
    for of in (centre.centre, centre.naive_centre):
        with pytest.raises(RuntimeError, match="floating point"):
            of(torch.tensor([1, 2]))


@settings(deadline=None)
@given(shapes, st.sampled_from(DTYPES), st.integers(0, 9))
def test_in_place_and_new_agree(shape: tuple[int, ...], dtype: str, seed: int) -> None:
    x, y = (torch.from_numpy(random_array(shape, dtype, seed + i)) for i in range(2))
    before = x.clone()
    expected = in_place.add(x, y)
    assert torch.equal(x, before)
    assert in_place.add_in_place(x, y) is x
    assert x.dtype == expected.dtype
    assert torch.equal(x, expected)


AUGMENTED: dict[str, Callable[..., Any]] = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "div": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "pow": operator.ipow,
}


@pytest.mark.parametrize("function", AUGMENTED)
def test_augmented_forms_write_into_the_left_side(function: str) -> None:
    x, y = torch.tensor([4.0, 9.0]), torch.tensor([3.0, 2.0])
    expected = getattr(torch, function)(x, y)
    whole_of = x[:]
    assert AUGMENTED[function](x, y) is x
    assert torch.equal(x, expected)
    assert torch.equal(whole_of, expected)
    assert calls_of(lambda: AUGMENTED[function](x, y))[0].startswith(f"aten.{function}_.")


@pytest.mark.parametrize("symbol", ["iand", "ior", "ixor", "ilshift", "irshift"])
def test_augmented_bit_forms_write_in_place_too(symbol: str) -> None:
    x = torch.tensor([6, 5])
    assert getattr(operator, symbol)(x, torch.tensor([1, 1])) is x


def test_augmented_matmul_does_not() -> None:
    x = before = torch.ones(2, 2)
    x @= torch.ones(2, 2)
    assert x is not before
    assert before.tolist() == [[1, 1], [1, 1]]


def test_a_numpy_array_sees_it() -> None:
    array = np.zeros(2)
    x = torch.from_numpy(array)
    x += 1
    assert array.tolist() == [1, 1]


def test_kinds_of_dtype() -> None:
    for x, y in [
        (torch.tensor([1]), torch.tensor([1.0])),
        (torch.tensor([1]), torch.tensor(1.0)),
        (torch.tensor([True]), torch.tensor([1])),
        (torch.tensor([1.0]), torch.tensor([1j])),
    ]:
        assert "can't be cast" in str(raised(in_place.add_in_place, x, y))
    for narrow, wide in [("float16", "float64"), ("uint8", "int64"), ("float32", "int64")]:
        x = torch.ones(2, dtype=getattr(torch, narrow))
        in_place.add_in_place(x, torch.ones(2, dtype=getattr(torch, wide)))
        assert x.dtype == getattr(torch, narrow)
        assert x.tolist() == [2, 2]


def test_integer_tensors_refuse_true_division_in_place() -> None:
    x = torch.tensor([4])
    assert "can't be cast" in str(raised(AUGMENTED["div"], x, 2))


def test_rows_of_unbind_are_refused_where_a_gradient_flows() -> None:
    x = torch.ones(2, 3, requires_grad=True) * 2
    for row in x.unbind():
        assert "multiple views" in str(raised(in_place.add_in_place, row, torch.ones(3)))
    for row in x.detach().unbind():
        row += 1
    assert (x == 3).all()


def test_what_is_saved_decides_what_may_change() -> None:
    w = torch.ones(2, requires_grad=True)
    h = w * 2
    y = h * h
    h += 1
    assert "modified by an inplace operation" in str(raised(lambda: y.sum().backward()))
    h = w * 2
    y = h + 3
    h += 1
    y.sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [2, 2]


def test_no_grad_and_detach_are_counted_but_data_is_not() -> None:
    w = torch.zeros(2, requires_grad=True)
    y = torch.exp(w)
    with torch.no_grad():
        y += 1
    assert y._version == 1
    y.detach().add_(1)
    assert y._version == 2
    y.data.add_(1)
    assert y._version == 2


# ---------------------------------------------------------------- between


@settings(deadline=None)
@given(
    hnp.arrays("float32", hnp.array_shapes(), elements=st.floats(width=32)),
    st.floats(-10, 10, width=32),
    st.floats(-10, 10, width=32),
)
def test_between_is_python_s_chain_for_each_element(
    array: np.ndarray[Any, Any], low: float, high: float
) -> None:
    mask = between.between(torch.from_numpy(array), low, high)
    assert mask.dtype == torch.bool
    assert mask.shape == array.shape
    assert mask.flatten().tolist() == [low < each < high for each in array.flatten().tolist()]


def test_between_broadcasts_its_limits() -> None:
    x, low = torch.tensor([[1], [5]]), torch.tensor([0, 2])
    assert between.between(x, low, 9).tolist() == [[True, False], [True, True]]
    with pytest.raises(NotImplementedError):
        between.between(torch.tensor([1j]), 0, 1)


@pytest.mark.parametrize("size", [0, 2, 5])
def test_chained_between_needs_one_element(size: int) -> None:
    with pytest.raises(RuntimeError, match="is ambiguous"):
        between.chained_between(torch.ones(size), 0, 2)
    assert between.chained_between(torch.ones(1), 0, 2).tolist() == [True]


def test_truth_of_one_element() -> None:
    b = torch.tensor([1.0, 2.0])
    for one in (torch.tensor(1), torch.tensor([1.0]), torch.tensor([[True]])):
        assert bool(one)
        assert (one and b) is b
        assert (one or b) is one
    zero = torch.tensor([0])
    assert (zero and b) is zero
    assert (zero or b) is b


def test_python_s_max_raises_and_maximum_does_not() -> None:
    x, y = torch.tensor([1.0, 4.0]), torch.tensor([3.0, 2.0])
    assert "ambiguous" in str(raised(lambda: max(x, y)))
    assert torch.maximum(x, y).tolist() == [3, 4]
    assert torch.tensor([]).all()
    assert not torch.tensor([]).any()
