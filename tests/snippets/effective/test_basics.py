"""The snippets of effective/basics, what its pages say and no block shows, and the lab."""

from __future__ import annotations

import math
import runpy
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from scripts.paths import DOCS, LANGUAGES
from snippets.effective.basics import (
    autograd_graph,
    best_device,
    curve_fit,
    jacobian,
    sharing_table,
    two_processes,
)
from snippets.effective.basics.to_numpy import to_numpy

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
few = settings(deadline=None, max_examples=30)

NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64"]
NUMPY_DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


# ---------------------------------------------------------------- to_numpy


@few
@given(shapes, st.sampled_from(NUMPY_DTYPES), st.booleans())
def test_to_numpy_keeps_values_dtype_and_memory(
    shape: tuple[int, ...], dtype: str, needs_grad: bool
) -> None:
    expected = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    x = torch.from_numpy(expected.copy())
    if needs_grad and np.dtype(dtype).kind in "fc":
        x.requires_grad_()
    array = to_numpy(x)
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)
    if array.size:
        array.flat[0] = 1 - expected.flat[0]
        assert x.flatten()[0].item() == 1 - expected.flat[0]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_to_numpy_widens_what_numpy_lacks(dtype: torch.dtype) -> None:
    x = torch.tensor([0.5, -2.0, 0.0]).to(dtype)
    array = to_numpy(x)
    assert array.dtype == np.float32
    assert array.tolist() == [0.5, -2.0, 0.0]


def test_to_numpy_of_views() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    assert to_numpy(x.T[1:]).tolist() == x.T[1:].tolist()
    z = torch.tensor([1 + 2j])
    assert to_numpy(z.conj()).tolist() == [1 - 2j]
    assert to_numpy(z.conj().imag).tolist() == [-2]


def test_to_numpy_refuses_what_has_no_array() -> None:
    with pytest.raises(TypeError, match="to_dense"):
        to_numpy(torch.ones(2).to_sparse())


@pytest.mark.gpu
def test_to_numpy_copies_from_a_gpu() -> None:
    x = torch.zeros(2, device="cuda", requires_grad=True)
    array = to_numpy(x)
    array[0] = 1
    assert x.tolist() == [0, 0]


# ---------------------------------------------------------------- sharing_table


def test_table_of_sharing() -> None:
    found = {str(row["call"]).strip("`"): (row["shares"], row["dtype"]) for row in table_rows()}
    assert found == {
        "x.numpy()": (True, "`float32`"),
        "np.asarray(x)": (True, "`float32`"),
        "x.numpy().copy()": (False, "`float32`"),
        "torch.from_numpy(a)": (True, "`float64`"),
        "torch.as_tensor(a)": (True, "`float64`"),
        "torch.as_tensor(a, dtype=torch.float32)": (False, "`float32`"),
        "torch.tensor(a)": (False, "`float64`"),
        "torch.tensor(a, dtype=torch.float32)": (False, "`float32`"),
    }


def table_rows() -> list[dict[str, object]]:
    rows = sharing_table.rows()
    for row in rows:
        assert list(row) == list(sharing_table.COLUMNS)
    return rows


def test_table_agrees_with_the_addresses() -> None:
    a = np.zeros(3)
    for row, to_tensor in zip(
        table_rows()[len(sharing_table.FROM_TENSOR) :],
        sharing_table.FROM_ARRAY.values(),
        strict=True,
    ):
        assert row["shares"] == np.shares_memory(a, to_tensor(a).numpy())


def test_copy_mends_negative_strides_and_read_only_arrays() -> None:
    a = np.arange(3.0)
    assert torch.from_numpy(a[::-1].copy()).tolist() == [2, 1, 0]
    a.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.set_warn_always(True)
        try:
            x = torch.from_numpy(a.copy())
        finally:
            torch.set_warn_always(False)
    x[0] = 9
    assert a[0] == 0


# ---------------------------------------------------------------- autograd_graph


def test_walk_visits_each_node_once() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    u = x.exp()
    y = u * u + u.sin() * 3
    assert y.grad_fn is not None
    names = [node.name().rpartition(":")[2] for node in autograd_graph.walk(y.grad_fn)]
    assert names[0] == "AddBackward0"
    assert sorted(names) == [
        "AccumulateGrad",
        "AddBackward0",
        "ExpBackward0",
        "MulBackward0",
        "MulBackward0",
        "SinBackward0",
    ]


@pytest.mark.parametrize("at", [-3.0, 0.0, 1.0, 2.5])
def test_flow_is_that_of_the_chain_rule(at: float) -> None:
    x = torch.tensor(at, requires_grad=True)
    assert autograd_graph.flow(x) == {"x": (at, -2 * at), "u": (at * at, -1), "g": (-at * at, 1)}
    assert x.grad is None


def test_the_product_has_two_edges_to_the_leaf() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    node = (x * x).grad_fn
    assert node is not None
    leaves = [child for child, _ in node.next_functions]
    assert len(leaves) == 2
    assert leaves[0] == leaves[1]
    assert leaves[0] is not None
    assert leaves[0].variable is x  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:Glyph")  # the fonts are the site's business
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [6.8, 3.6])
def test_picture_of_the_graph_fits(language: str, width: float) -> None:
    figure = autograd_graph.draw(language, width)
    FigureCanvasAgg(figure)
    texts = figure.axes[0].texts
    shown = [text.get_text() for text in texts]
    for expected in ("AccumulateGrad", "MulBackward0", "NegBackward0", "-1 + -1 = -2"):
        assert expected in shown
    assert shown.count("-1") == 3
    for text in texts:
        extent = text.get_window_extent()
        assert figure.bbox.x0 <= extent.x0, text
        assert extent.x1 <= figure.bbox.x1, text


# ---------------------------------------------------------------- jacobian


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x[1:] * x[:-1], (4,)),
        (lambda x: (x**3).sum(), (2, 3)),
        (lambda x: torch.outer(x, x.sin()), (3,)),
        (lambda x: x.T @ x, (2, 2)),
        (lambda x: 2 * x, ()),
    ],
)
def test_jacobian_against_finite_differences(function: Any, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    found = jacobian.jacobian_by_rows(function, x)
    y = function(x)
    assert found.shape == y.shape + x.shape
    assert torch.equal(found, torch.func.jacrev(function)(x))
    step = 1e-6
    columns = []
    for i in range(x.numel()):
        moved = torch.zeros(x.numel(), dtype=x.dtype)
        moved[i] = step
        both = [function(x + sign * moved.view(shape)) for sign in (1, -1)]
        columns.append((both[0] - both[1]) / (2 * step))
    expected = torch.stack(columns, dim=-1).reshape(found.shape)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)


def test_jacobian_leaves_the_input_alone() -> None:
    x = torch.ones(2, requires_grad=True)
    jacobian.jacobian_by_rows(torch.sin, x)
    assert x.grad is None


# ---------------------------------------------------------------- curve_fit


@pytest.fixture(scope="module")
def history() -> torch.Tensor:
    return curve_fit.fit_curve()


def test_fit_recovers_the_curve(history: torch.Tensor) -> None:
    assert history.shape == (1001, 3)
    assert not history.requires_grad
    errors = (history[-1] - torch.tensor(curve_fit.TARGET)).abs()
    assert (errors < torch.tensor([0.01, 0.01, 0.2])).all()


def test_fit_says_what_the_caption_says(history: torch.Tensor) -> None:
    errors = (history - torch.tensor(curve_fit.TARGET)).abs()
    assert (errors[150:, :2] < 0.1).all()
    assert errors[-1, 2] > 0.1
    x = torch.linspace(-10, 10, 81)
    missed = (curve_fit.features(x) @ history[-1] - (5 * x**2 + 3)).abs().max()
    assert missed < 0.3  # of 503


def test_seeds_and_steps_of_the_fit(history: torch.Tensor) -> None:
    assert torch.equal(curve_fit.fit_curve(steps=20), history[:21])
    assert curve_fit.fit_curve(steps=0).shape == (1, 3)
    assert (curve_fit.fit_curve(seed=4)[-1, 2] - 3).abs() > 1
    assert (curve_fit.fit_curve(steps=2000)[-1, 2] - 3).abs() < 0.01


def test_fit_against_adam_written_out() -> None:
    steps, lr = 50, 0.1
    found = curve_fit.fit_curve(steps, lr).double().numpy()
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(3, generator=generator).double().numpy()
    mean, square = np.zeros(3), np.zeros(3)
    for step in range(1, steps + 1):
        x = (20 * torch.rand(100, generator=generator) - 10).double().numpy()
        columns = np.stack([x**2, x, np.ones(100)], axis=1)
        gradient = 2 / 100 * columns.T @ (columns @ w - (5 * x**2 + 3))
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        root = np.sqrt(square / (1 - 0.999**step)) + 1e-8
        w = w - lr * mean / (1 - 0.9**step) / root
        np.testing.assert_allclose(found[step], w, atol=1e-4)


@few
@given(shapes)
def test_features(shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, dtype=torch.float64)
    found = curve_fit.features(x)
    assert found.dtype == x.dtype
    expected = np.stack([x.numpy() ** 2, x.numpy(), np.ones(shape)], axis=-1)
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.gpu
def test_fit_on_a_gpu(history: torch.Tensor) -> None:
    found = curve_fit.fit_curve(device="cuda")
    assert found.device.type == "cuda"
    torch.testing.assert_close(found.cpu(), history, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("width", [6.8, 3.6])
def test_picture_of_the_fit(width: float) -> None:
    for language in LANGUAGES:
        figure = curve_fit.draw(language, width)
        assert figure.get_figwidth() == pytest.approx(width)
        assert len(figure.axes) == 2
    with pytest.raises(KeyError):
        curve_fit.draw("fr")


# ---------------------------------------------------------------- devices, processes


def test_best_device_is_the_one_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    device = best_device.best_device()
    assert (device.type == "cpu") == (not torch.accelerator.is_available())
    assert torch.ones(2, device=device).sum().item() == 2

    asked = []

    def current(check_available: bool = False) -> torch.device | None:
        asked.append(check_available)
        return torch.device("mps")

    monkeypatch.setattr(torch.accelerator, "current_accelerator", current)
    assert best_device.best_device() == torch.device("mps")
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda check_available: None)
    assert best_device.best_device() == torch.device("cpu")
    assert asked == [True]


def test_a_cuda_build_without_gpu_still_names_cuda() -> None:
    if torch.version.cuda is None or torch.cuda.is_available():
        pytest.skip("needs a CUDA build and no GPU")
    assert torch.accelerator.current_accelerator() == torch.device("cuda")


def test_one_process_is_a_group_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page runs two."""
    two_processes.work(0, 1, str(tmp_path / "file"))
    assert not torch.distributed.is_initialized()
    assert "those of the whole batch" in capsys.readouterr().out


def test_unequal_shares_have_another_mean() -> None:
    x = torch.tensor([1.0, 2.0, 6.0])
    means = [x[rank::2].mean().item() for rank in range(2)]
    assert sum(means) / 2 != x.mean()


def test_data_parallel_is_advised_against() -> None:
    assert "instead of this class" in (torch.nn.DataParallel.__doc__ or "")


# ---------------------------------------------------------------- what the page says


def test_what_the_page_says_of_creation() -> None:
    assert torch.tensor([True]).dtype == torch.bool
    assert torch.rand(1000).min() >= 0
    assert torch.rand(1000).max() < 1
    assert "..." in str(torch.zeros(1001))
    assert "..." not in str(torch.zeros(1000))


def test_what_the_page_says_of_products() -> None:
    assert (torch.ones(7, 3, 5) @ torch.ones(5, 4)).shape == (7, 3, 4)


def test_what_the_page_says_of_gradients() -> None:
    x = torch.ones(3, requires_grad=True)
    middle = x * x
    middle.retain_grad()
    middle.sum().backward()
    assert middle.grad is not None
    with pytest.raises(RuntimeError, match="second time"):
        middle.sum().backward()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="floating point"):
        torch.arange(3).requires_grad_()


def test_sum_is_the_vector_of_ones() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    first = torch.autograd.grad((x[1:] * x[:-1]).sum(), x)[0]
    second = torch.autograd.grad(x[1:] * x[:-1], x, torch.ones(2))[0]
    assert torch.equal(first, second)


def test_numpy_writes_are_not_counted() -> None:
    w = torch.ones(1, requires_grad=True)
    y = w.exp()
    to_numpy(y)[0] = 5  # exp saves its result
    y.backward()
    assert w.grad is not None
    assert w.grad.item() == 5


def test_float_arrays_are_float64() -> None:
    assert np.zeros(1).dtype == np.float64
    assert torch.zeros(1).dtype == torch.float32
    assert (torch.ones(2) * torch.from_numpy(np.ones(2))).dtype == torch.float64


# ---------------------------------------------------------------- the lab


@pytest.mark.parametrize("language", LANGUAGES)
def test_lab_runs_as_a_script_and_agrees_with_the_chapter(
    language: str, history: torch.Tensor
) -> None:
    before = matplotlib.get_backend()
    matplotlib.use("agg", force=True)
    try:
        names = runpy.run_path(str(DOCS / language / "labs/curve_fit.py"))
    finally:
        names["plt"].close("all")
        matplotlib.use(before, force=True)
    assert torch.equal(names["history"], history)
    steepest, flattest = names["eigenvalues"].max().item(), names["eigenvalues"].min().item()
    assert steepest / flattest > 1000
    assert names["directions"][:, 0].abs().argmax() == 2
    assert names["directions"][:, 2].abs().argmax() == 0


def test_largest_rate_of_sgd_that_the_lab_names() -> None:
    torch.manual_seed(0)
    x = 20 * torch.rand(100, dtype=torch.float64) - 10
    columns = curve_fit.features(x)
    y = 5 * x**2 + 3
    limit = 2 / torch.linalg.eigvalsh(2 / 100 * columns.T @ columns).max().item()
    losses = {}
    for share in (0.95, 1.05):
        w = torch.zeros(3, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=share * limit)
        for _ in range(300):
            loss = ((columns @ w - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses[share] = loss.item()
    start = (y**2).mean().item()
    assert losses[0.95] < start / 100
    assert losses[1.05] > start
    assert math.isfinite(losses[1.05])
