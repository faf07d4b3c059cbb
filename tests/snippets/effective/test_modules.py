"""The snippets of effective/modules, and what its pages say and no block shows."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from scripts.paths import LANGUAGES
from snippets.effective.modules import (
    fit_line,
    linear_line,
    plain_list,
    registration_table,
    three_ways,
)
from snippets.effective.modules.line import Line
from snippets.effective.modules.standardise import Standardise

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
few = settings(deadline=None, max_examples=30)


def samples(low: float = 0.0, high: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = low + (high - low) * torch.rand(100, generator=generator)
    return x, 5 * x + 3 + 0.3 * torch.randn(100, generator=generator)


# ---------------------------------------------------------------- line


@few
@given(shapes, st.sampled_from([torch.float16, torch.float32, torch.float64]))
def test_line_for_any_shape(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    line = Line().to(dtype)
    with torch.no_grad():
        line.a.fill_(5)
        line.b.fill_(3)
    x = torch.randint(-9, 9, shape).to(dtype)
    y = line(x)
    assert y.dtype == dtype
    assert y.shape == x.shape
    np.testing.assert_array_equal(y.detach().numpy(), 5 * x.numpy() + 3)


def test_line_holds_two_parameters() -> None:
    line = Line()
    assert [name for name, _ in line.named_parameters()] == ["a", "b"]
    assert [id(p) for p in line.parameters()] == [id(line.a), id(line.b)]


def test_hooks_run_in_calls_alone() -> None:
    line, seen = Line(), []
    line.register_forward_pre_hook(lambda *_: seen.append("before"))
    line.register_forward_hook(lambda *_: seen.append("after"))
    line.forward(torch.zeros(1))
    assert seen == []
    line(torch.zeros(1))
    assert seen == ["before", "after"]


def test_pruning_works_by_a_hook() -> None:
    from torch.nn.utils import prune

    layer = nn.Linear(2, 1)
    prune.l1_unstructured(layer, "weight", amount=1)
    assert len(layer._forward_pre_hooks) == 1


# ---------------------------------------------------------------- fit_line


@few
@given(st.integers(2, 50), st.integers(0, 99))
def test_least_squares_against_numpy(n: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.normal(size=(2, n))
    found = fit_line.least_squares(torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_allclose(found.numpy(), np.polyfit(x, y, 1), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (0, 10)])
def test_fit_comes_close_to_the_solution(low: float, high: float) -> None:
    x, y = samples(low, high)
    line = Line()
    steps = fit_line.fit(line, x, y)
    assert 100 < steps < 10000
    found = torch.stack([line.a, line.b]).detach()
    error = (found - fit_line.least_squares(x, y)).abs().max()
    assert error < 0.05


def test_fit_takes_any_module_and_obeys_its_limits() -> None:
    x, y = samples()
    layer = nn.Linear(1, 1).double()
    columns, target = x[:, None].double(), y[:, None].double()
    assert fit_line.fit(layer, columns, target, max_steps=5) == 5
    assert fit_line.fit(layer, columns, target, tolerance=1e9) == 101
    with pytest.raises(ValueError, match="lr=3 is too large"):
        fit_line.fit(layer, columns, target, lr=3)
    with pytest.raises(ValueError, match="too large"):
        fit_line.fit(Line(), 100 * x, y)


@pytest.mark.parametrize("lr", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("kind", ["unit", "wide", "centred"])
def test_steps_needed_against_the_recursion(kind: str, lr: float) -> None:
    x, _ = samples(*{"unit": (0, 1), "wide": (0, 3), "centred": (-1, 1)}[kind])
    columns = np.stack([x.double().numpy(), np.ones(100)], axis=1)
    curvature = 2 / 100 * columns.T @ columns
    error = np.linalg.eigh(curvature)[1][:, 0]  # along the flattest direction
    expected = 0
    while np.linalg.norm(error) > 1 / 100:
        error = error - lr * curvature @ error
        expected += 1
    assert math.ceil(fit_line.steps_needed(x, lr)) == expected


def test_steps_needed_tells_divergence() -> None:
    x, _ = samples()
    columns = torch.stack([x, torch.ones(100)], dim=1)
    steepest = torch.linalg.eigvalsh(2 / 100 * columns.T @ columns).max().item()
    assert math.isfinite(fit_line.steps_needed(x, 1.99 / steepest))
    assert fit_line.steps_needed(x, 2.01 / steepest) == math.inf
    assert fit_line.steps_needed(torch.ones(5), 0.01) == math.inf  # no single best line


def test_curves_are_what_the_caption_says() -> None:
    unit = fit_line.distances("unit", 6001)
    assert unit[6000] > 1e-3
    assert fit_line.distances("wide", 2000)[-1] < 1e-3
    for kind in ("momentum", "standardised"):
        assert fit_line.distances(kind, 1000)[-1] < 1e-3
    slopes = (unit[1000:].log10()).diff()
    assert slopes.std() < 1e-6  # a straight line


@pytest.mark.parametrize("width", [6.8, 3.6])
def test_picture(width: float) -> None:
    for language in LANGUAGES:
        figure = fit_line.draw(language, width, steps=20)
        assert figure.get_figwidth() == pytest.approx(width)
        assert len(figure.axes[0].lines) == 4
    assert fit_line.LABELS["en"].keys() == fit_line.LABELS["zh"].keys()


def test_standardised_inputs_make_all_directions_alike() -> None:
    x, _ = samples(0, 7)
    x = (x - x.mean()) / x.std()
    columns = torch.stack([x, torch.ones(100)], dim=1)
    eigenvalues = torch.linalg.eigvalsh(2 / 100 * columns.T @ columns)
    assert eigenvalues.max() / eigenvalues.min() < 1.02


# ---------------------------------------------------------------- linear_line


@few
@given(shapes)
def test_linear_line_keeps_the_shape_and_is_the_line(shape: tuple[int, ...]) -> None:
    model, line = linear_line.LinearLine(), Line()
    with torch.no_grad():
        line.a.copy_(model.linear.weight[0, 0])
        line.b.copy_(model.linear.bias[0])
    x = torch.randn(shape)
    assert model(x).shape == x.shape
    torch.testing.assert_close(model(x), line(x))


@few
@given(shapes)
def test_naive_linear_line_loses_what_has_size_one(shape: tuple[int, ...]) -> None:
    found = linear_line.NaiveLinearLine()(torch.randn(shape)).shape
    assert found == tuple(size for size in shape if size != 1)


# ---------------------------------------------------------------- registration


def test_table_of_registration() -> None:
    found = {}
    for row in registration_table.rows():
        assert list(row) == list(registration_table.COLUMNS)
        found[str(row["held"]).strip("`")] = (row["trained"], row["moved"], row["saved"])
    known, unknown = (True, True, True), (False, False, False)
    assert found == {
        "nn.Parameter(t)": known,
        "nn.Parameter(t) * 0.1": unknown,
        "[nn.Parameter(t)]": unknown,
        "nn.ParameterList([t])": known,
        "nn.ParameterDict({'k': t})": known,
        "t": unknown,
        "nn.Buffer(t)": (False, True, True),
        "nn.Buffer(t, persistent=False)": (False, True, False),
        "layer": known,
        "[layer]": unknown,
        "{'k': layer}": unknown,
        "nn.ModuleList([layer])": known,
        "nn.ModuleDict({'k': layer})": known,
    }


def test_devices_move_as_dtypes_do() -> None:
    for row, make in zip(registration_table.rows(), registration_table.WAYS.values(), strict=True):
        module = nn.Module()
        held: Any = make()
        module.held = held
        module.to("meta")
        moved = registration_table.tensor_of(module.held).device.type == "meta"
        assert moved == row["moved"]


def test_a_moved_parameter_is_no_parameter() -> None:
    parameter = nn.Parameter(torch.ones(2))
    assert parameter.to("cpu") is parameter
    assert not isinstance(parameter.to("meta"), nn.Parameter)


# ---------------------------------------------------------------- plain_list


def test_layers_in_a_list_are_unknown() -> None:
    naive, stack = plain_list.NaiveStack(4, 3), plain_list.Stack(4, 3)
    assert len(list(naive.parameters())) == 2
    assert len(list(stack.parameters())) == 8
    assert len(naive.state_dict()) == 2
    assert len(stack.state_dict()) == 8


def test_both_stacks_compute_the_same() -> None:
    torch.manual_seed(0)
    naive = plain_list.NaiveStack(4, 3)
    torch.manual_seed(0)
    stack = plain_list.Stack(4, 3)
    x = torch.randn(2, 5, 4)
    assert stack(x).shape == (2, 5, 1)
    assert torch.equal(naive(x), stack(x))
    expected = x.numpy()
    for layer in stack.layers:
        assert isinstance(layer, nn.Linear)
        weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
        expected = np.maximum(expected @ weight.T + bias, 0)
    weight, bias = stack.last.weight.detach().numpy(), stack.last.bias.detach().numpy()
    np.testing.assert_allclose(stack(x).detach().numpy(), expected @ weight.T + bias, rtol=1e-5)


# ---------------------------------------------------------------- standardise


@few
@given(st.integers(2, 20), st.integers(1, 4), st.sampled_from([torch.float32, torch.float64]))
def test_standardise_against_numpy(n: int, width: int, dtype: torch.dtype) -> None:
    x = torch.randn(n, width, dtype=dtype) * 3 + 2
    module = Standardise(width).to(dtype)
    module.fit(x)
    array = x.double().numpy()
    expected = (array - array.mean(axis=0)) / array.std(axis=0, ddof=1)
    found = module(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.double().numpy(), expected, rtol=1e-3, atol=1e-3)


def test_statistics_are_saved_moved_and_not_trained() -> None:
    module = Standardise(2)
    module.fit(torch.tensor([[0.0, 10.0], [2.0, 30.0]]))
    other = Standardise(2)
    other.load_state_dict(module.state_dict())
    assert torch.equal(other.mean, module.mean)
    assert torch.equal(other.std, module.std)
    assert list(module.parameters()) == []
    module.to(torch.float64)
    assert module.mean.dtype == torch.float64
    assert not module(torch.zeros(3, 2, dtype=torch.float64)).requires_grad


# ---------------------------------------------------------------- state_dict


def test_load_copies_into_what_is_there_and_converts() -> None:
    model = nn.Linear(2, 1)
    weight = model.weight
    state = {name: value.double() + 1 for name, value in model.state_dict().items()}
    model.load_state_dict(state)
    assert model.weight is weight
    assert weight.dtype == torch.float32
    torch.testing.assert_close(weight.double(), state["weight"])


def test_prefixes_of_wrapped_models() -> None:
    model = nn.Linear(2, 1)
    compiled = torch.compile(model)
    assert isinstance(compiled, nn.Module)
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    parallel = nn.DataParallel(model)  # as DistributedDataParallel, which needs processes
    assert list(parallel.state_dict()) == ["module.weight", "module.bias"]


def test_shared_parameters_stay_shared() -> None:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    other = copy.deepcopy(model)
    for each in (model, other, model.double()):
        assert each[0].weight is each[1].weight
        assert len(list(each.parameters())) == 1
        assert list(each.state_dict()) == ["0.weight", "1.weight"]


# ---------------------------------------------------------------- three_ways


@pytest.mark.parametrize("shape", [(64,), (5, 64), (2, 3, 64), (0, 64)])
def test_three_ways_agree(shape: tuple[int, ...]) -> None:
    net, stack = three_ways.Net(), three_ways.sequential_net()
    state = net.state_dict()
    stack.load_state_dict(three_ways.renamed(state, {"hidden": "0", "out": "2"}))
    x = torch.randn(shape)
    found = net(x)
    assert found.shape == (*shape[:-1], 10)
    assert torch.equal(found, stack(x))
    assert torch.equal(found, three_ways.functional_net(state, x))
    w = {name: value.double().numpy() for name, value in state.items()}
    hidden = np.maximum(x.double().numpy() @ w["hidden.weight"].T + w["hidden.bias"], 0)
    expected = hidden @ w["out.weight"].T + w["out.bias"]
    np.testing.assert_allclose(found.detach().double().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_renamed() -> None:
    state = {"a.b.weight": torch.ones(1), "scale": torch.ones(2)}
    assert list(three_ways.renamed(state, {"a": "x", "scale": "y"})) == ["x.b.weight", "y"]
    with pytest.raises(KeyError, match="scale"):
        three_ways.renamed(state, {"a": "x"})


def test_functional_net_has_gradients() -> None:
    net = three_ways.Net()
    x = torch.randn(4, 64)
    state = {name: value.detach() for name, value in net.named_parameters()}
    gradients = torch.func.grad(lambda w: three_ways.functional_net(w, x).sum())(state)
    net(x).sum().backward()
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad)
