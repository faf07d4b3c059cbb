from __future__ import annotations

import os
import random
import sys
import warnings
from pathlib import Path

import numpy
import pytest
import torch

from scripts import run_blocks
from scripts.run_blocks import run_python, run_shell


def output(*sources: str, isolate: bool = False) -> list[str]:
    results = run_python(list(sources), isolate)
    assert not any(result.failure for result in results), results
    return [result.output for result in results]


def test_a_chain_shares_its_names() -> None:
    assert output("x = 1\nprint(x)", "x += 1", "print(x)") == ["1\n", "", "2\n"]


def test_blocks_without_cont_share_nothing() -> None:
    run_python(["shared = 1"])
    (result,) = run_python(["print('shared' in globals())"])
    assert result.output == "False\n"


def test_a_block_is_the_main_program_of_an_empty_folder() -> None:
    source = """
import os, sys
from pathlib import Path
assert __name__ == "__main__" and sys.argv == [__file__]
assert sys.modules["__main__"].__dict__ is globals()
print([p.name for p in Path.cwd().iterdir()], Path(__file__).parent == Path.cwd())
"""
    assert output(source) == ["['block.py'] True\n"]


@pytest.mark.parametrize("module", ["scripts.paths", "snippets.effective", "tests.plugin"])
def test_readers_do_not_have_this_project(module: str) -> None:
    (result,) = run_python([f"import {module}"])
    assert result.failure
    assert result.failure.summary.startswith("ModuleNotFoundError: No module named")
    assert "scripts.run_blocks" in sys.modules


def test_source_can_be_inspected_and_scripted() -> None:
    first = """
import inspect, torch
def f(x: torch.Tensor) -> torch.Tensor:
    return x + 1
print(inspect.getsource(f))
"""
    second = "print(torch.jit.script(f)(torch.tensor(1)))\nprint(inspect.getsource(f)[:5])"
    printed = output(first, second)
    assert printed == [
        "def f(x: torch.Tensor) -> torch.Tensor:\n    return x + 1\n\n",
        "tensor(2)\ndef f\n",
    ]


def test_annotations_are_not_strings() -> None:
    assert output("def f(x: int): ...\nprint(f.__annotations__)") == ["{'x': <class 'int'>}\n"]


LOADER = """
import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return index ** 2

if __name__ == "__main__":
    loader = DataLoader(Squares(), batch_size=2, num_workers=1, multiprocessing_context="{method}")
    print([batch.tolist() for batch in loader])
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader_workers(method: str) -> None:
    assert output(LOADER.format(method=method)) == ["[[0, 1], [4, 9]]\n"]


def test_what_others_print_is_captured_in_order() -> None:
    source = """
import os, subprocess, sys
print("one")
subprocess.run(["echo", "two"])
os.write(1, b"three\\n")
if os.fork() == 0:
    print("four")
    os._exit(0)
os.wait()
print("five")
"""
    assert output(source, "print('six')") == ["one\ntwo\nthree\nfour\nfive\n", "six\n"]


def test_standard_error_is_not_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert output("import sys\nprint(1, file=sys.stderr)") == [""]
    assert capfd.readouterr().err == "1\n"


def test_process_wide_state_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    before = (
        Path.cwd(), dict(os.environ), sys.path[:], sys.argv, sys.modules["__main__"], sys.stdout,
        torch.get_num_threads(), numpy.get_printoptions(), numpy.geterr(),
    )  # fmt: skip
    filters = warnings.filters[:]
    source = """
import multiprocessing, os, sys, warnings
from pathlib import Path
import numpy, torch

Path("helper.py").write_text("x = 1")
import helper
os.mkdir("below"); os.chdir("below")
os.environ["ADDED"] = "1"; del os.environ["KEPT"]
sys.path.append("/somewhere"); sys.argv = ["x"]
warnings.simplefilter("ignore")
numpy.set_printoptions(precision=1); numpy.seterr(all="ignore")
multiprocessing.set_start_method("spawn")
torch.set_num_threads(torch.get_num_threads() + 1)
torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
torch.set_grad_enabled(False)
torch.set_float32_matmul_precision("medium")
torch.use_deterministic_algorithms(True)
torch.autograd.set_detect_anomaly(True)
torch.set_printoptions(precision=1)
torch.set_flush_denormal(True)
torch.multiprocessing.set_sharing_strategy("file_system")
"""
    for _ in range(2):  # the second run needs a fresh start method
        output(source)
    assert before == (
        Path.cwd(), dict(os.environ), sys.path[:], sys.argv, sys.modules["__main__"], sys.stdout,
        torch.get_num_threads(), numpy.get_printoptions(), numpy.geterr(),
    )  # fmt: skip
    assert warnings.filters == filters
    assert "helper" not in sys.modules
    assert torch.tensor(1.0).dtype == torch.float32
    assert torch.tensor(1.0).device.type == "cpu"
    assert torch.is_grad_enabled()
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.is_anomaly_enabled()
    assert str(torch.tensor(0.12345)) == "tensor(0.1235)"
    assert torch.tensor(2e-40) * 1 != 0
    assert torch.multiprocessing.get_sharing_strategy() == "file_descriptor"


def test_state_is_put_back_after_a_failure() -> None:
    (result,) = run_python(["import torch\ntorch.set_default_dtype(torch.float64)\n1 / 0"])
    assert result.failure
    assert torch.get_default_dtype() == torch.float32


def test_seeds_do_not_leak() -> None:
    seed = "import random, numpy, torch\nrandom.seed(0); numpy.random.seed(0); torch.manual_seed(0)"
    draw = "import random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1))"
    drawn = []
    for _ in range(2):
        output(seed)
        random.seed(0)
        drawn.append(output(draw)[0].split())
    assert all(a != b for a, b in zip(*drawn, strict=True))


def test_isolated_blocks_have_a_process_of_their_own() -> None:
    first = """
import os, sys
from pathlib import Path
assert __name__ == "__main__" and sys.argv == [__file__]
assert not {"torch", "scripts", "snippets"} & set(sys.modules)
print(os.getpid(), [p.name for p in Path.cwd().iterdir()])
"""
    second = """
try:
    import scripts
except ModuleNotFoundError as error:
    print(error)
1 / 0
"""
    before, after = run_python([first, second], isolate=True)
    process, _, files = before.output.partition(" ")
    assert files == "['block.py']\n"
    assert int(process) != os.getpid()
    assert after.output == "No module named 'scripts'\n"
    assert after.failure
    assert (after.failure.line, after.failure.summary) == (
        6,
        "ZeroDivisionError: division by zero",
    )
    (result,) = run_python(["import os\nos._exit(3)"], isolate=True)
    assert result.failure
    assert result.failure.summary == "exit status 3"


def test_failures_know_their_line() -> None:
    first, second = run_python(["x = 1\nprint(x)\n", "y = x\n\nraise KeyError(\n    y)\n", "z"])
    assert (first.output, first.failure) == ("1\n", None)
    assert second.failure
    assert (second.failure.line, second.failure.summary) == (3, "KeyError: 1")
    assert second.failure.traceback.startswith("Traceback (most recent call last):\n  File")
    assert "run_blocks" not in second.failure.traceback


def test_failures_within_earlier_blocks_are_placed_where_they_were_called() -> None:
    *_, last = run_python(["def f():\n    return 1 / 0", "x = 1\nf()"])
    assert last.failure
    assert last.failure.line == 2
    assert "return 1 / 0" in last.failure.traceback


def test_failures_within_packages() -> None:
    (result,) = run_python(["import torch\n\ntorch.ones(2) @ torch.ones(3)"])
    assert result.failure
    assert result.failure.line == 3
    assert result.failure.summary.startswith("RuntimeError: inconsistent tensor size")
    (result,) = run_python(["import json\njson.loads('{')"])
    assert result.failure
    assert result.failure.line == 2
    assert "json/decoder.py" in result.failure.traceback


def test_syntax_errors() -> None:
    *_, result = run_python(["x = 1", "y = 2\nz = (\n"])
    assert result.failure
    assert result.failure.line == 2
    assert result.failure.summary.startswith("SyntaxError: '(' was never closed")
    (result,) = run_python(["x = 1\neval('1 +')"])
    assert result.failure
    assert result.failure.line == 2


def test_several_lines_of_message() -> None:
    (result,) = run_python(["raise ValueError('first\\nsecond')"])
    assert result.failure
    assert result.failure.summary == "ValueError: first"
    assert "second" in result.failure.traceback


def test_output_before_a_failure_is_kept() -> None:
    (result,) = run_python(["print(1)\nraise SystemExit(2)"])
    assert result.output == "1\n"
    assert result.failure
    assert result.failure.summary == "SystemExit: 2"


def test_endless_programs_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_blocks, "TIMEOUT_SECONDS", 0.2)
    result = run_shell("sleep 60")
    assert result.failure
    assert result.failure.summary == "still running after 0.2 s"


def test_shell() -> None:
    assert run_shell("echo $((1 + 1))\nls").output == "2\n"
    assert run_shell("python -c 'import sys; print(sys.prefix)'").output == f"{sys.prefix}\n"
    result = run_shell("echo 1\nls /nowhere\necho 2")
    assert result.output == "1\n"
    assert result.failure
    assert "/nowhere" in result.failure.traceback
