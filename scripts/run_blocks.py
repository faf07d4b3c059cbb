"""Runs the blocks of a page as the programs that a reader would make of them.

Each block is a real file, run as `__main__` in an empty folder: what needs source
(`inspect`, `torch.jit.script`, Taichi kernels) and what needs an importable main module
(workers under spawn) then works. A `cont` block goes on in its predecessor's namespace.
This project's own modules are out of a block's reach, as they are for a reader.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scripts.paths import ROOT

TIMEOUT_SECONDS = 300
OWN_PACKAGES = ("scripts", "snippets", "tests")


@dataclass(frozen=True)
class Failure:
    """An exception: the line of the block that raised it (from 1), and the traceback."""

    line: int | None
    summary: str
    traceback: str


@dataclass(frozen=True)
class Result:
    """What one block printed, and how it failed if it did."""

    output: str
    failure: Failure | None = None


def run_python(sources: list[str], isolate: bool = False) -> list[Result]:
    """Run blocks that continue each other, one after the other, in one namespace.

    After a failure the later ones are left out. `isolate` uses a fresh interpreter, for
    code that changes the process for good.
    """
    with tempfile.TemporaryDirectory(prefix="block-") as folder:
        if not isolate:
            with _fresh_settings():
                return _run_here(sources, Path(folder))
        command = [sys.executable, "-m", "scripts.run_blocks", folder]
        ended = _run_process(command, ROOT, input=json.dumps(sources))
        report = Path(folder, ".results.json")
        if not report.exists():
            return [ended]
        results = json.loads(report.read_text(encoding="utf-8"))
    return [
        Result(each["output"], Failure(**each["failure"]) if each["failure"] else None)
        for each in results
    ]


def run_shell(source: str) -> Result:
    """Run a block in sh, in an empty folder; its output is what it printed to stdout."""
    with tempfile.TemporaryDirectory(prefix="block-") as folder:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        return _run_process(["sh", "-e", "-c", source], folder, env={**os.environ, "PATH": path})


def _run_process(command: list[str], folder: str | Path, **options: Any) -> Result:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_SECONDS,
            **options,
        )
    except subprocess.TimeoutExpired:
        return Result("", Failure(None, f"still running after {TIMEOUT_SECONDS} s", ""))
    if done.returncode:
        return Result(done.stdout, Failure(None, f"exit status {done.returncode}", done.stderr))
    return Result(done.stdout)


def _run_here(sources: list[str], folder: Path) -> list[Result]:
    file = folder / "block.py"
    program = "\n".join(sources)
    file.write_text(program + "\n", encoding="utf-8")
    module = types.ModuleType("__main__")
    module.__file__ = str(file)
    results: list[Result] = []
    offset = 0
    with _as_main_program(module, folder):
        for source in sources:
            failure = None
            with _captured() as output:
                try:
                    # The empty lines in front keep line numbers those of the file.
                    code = compile("\n" * offset + source, file, "exec", dont_inherit=True)
                    exec(code, module.__dict__)
                except (Exception, SystemExit) as error:
                    failure = _failure(error, file, offset)
            results.append(Result(output(), failure))
            if failure:
                break
            offset += source.count("\n") + 1
    return results


@contextlib.contextmanager
def _captured() -> Iterator[Callable[[], str]]:
    """What is written to stdout, also by worker processes and by code that is not Python."""
    found = ""
    before = sys.stdout
    before.flush()
    terminal = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        unbuffered = io.FileIO(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            unbuffered, encoding="utf-8", newline="\n", write_through=True
        )
        try:
            yield lambda: found
        finally:
            sys.stdout = before
            os.dup2(terminal, 1)
            os.close(terminal)
            file.seek(0)
            found = file.read().decode(errors="replace")


def _failure(error: BaseException, file: Path, offset: int) -> Failure:
    """Where in the block that starts after `offset` lines of `file` the error came from."""
    frames = traceback.extract_tb(error.__traceback__)
    mine = [index for index, frame in enumerate(frames) if frame.filename == str(file)]
    lines = [line for index in mine if (line := frames[index].lineno) and line > offset]
    if isinstance(error, SyntaxError) and error.filename == str(file) and error.lineno:
        lines = [error.lineno]
    own_frames = _skip_frames(error.__traceback__, mine[0] if mine else len(frames))
    text = "".join(traceback.format_exception(error.with_traceback(own_frames)))
    summary = f"{type(error).__name__}: {error}".splitlines()[0]
    return Failure(lines[-1] - offset if lines else None, summary, text)


def _skip_frames(tb: types.TracebackType | None, count: int) -> types.TracebackType | None:
    while count and tb:
        tb, count = tb.tb_next, count - 1
    return tb


@contextlib.contextmanager
def _as_main_program(module: types.ModuleType, folder: Path) -> Iterator[None]:
    """Make `module` the main program in `folder`, and undo afterwards what blocks change."""
    main, argv, path, cwd = sys.modules["__main__"], sys.argv, sys.path[:], Path.cwd()
    environment = dict(os.environ)
    own = {name: each for name, each in sys.modules.items() if _is_own(name)}
    for name in own:
        del sys.modules[name]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        sys.modules["__main__"] = module
        sys.argv = [str(module.__file__)]
        sys.path[:] = [str(folder), *(each for each in path if not _is_own_folder(each))]
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(cwd)
            sys.modules["__main__"], sys.argv, sys.path[:] = main, argv, path
            os.environ.clear()
            os.environ.update(environment)
            for name, loaded in list(sys.modules.items()):
                if str(getattr(loaded, "__file__", None) or "").startswith(str(folder)):
                    del sys.modules[name]
            sys.modules.update(own)


def _is_own(module: str) -> bool:
    return module.partition(".")[0] in OWN_PACKAGES


def _is_own_folder(entry: str) -> bool:
    path = Path(entry).resolve()
    return path.is_relative_to(ROOT) and not path.is_relative_to(sys.prefix)


@contextlib.contextmanager
def _fresh_settings() -> Iterator[None]:
    """Process-wide settings as in a new process, and put back afterwards.

    Seeds are random ones, so that an output that depends on them does not pass.
    """
    import numpy
    import torch

    threads = torch.get_num_threads()
    start_method = multiprocessing.get_start_method(allow_none=True)
    sharing = torch.multiprocessing.get_sharing_strategy()
    random.seed()
    numpy.random.seed()
    torch.seed()
    try:
        with numpy.printoptions(), numpy.errstate():
            yield
    finally:
        multiprocessing.set_start_method(start_method, force=True)
        torch.multiprocessing.set_sharing_strategy(sharing)
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.set_grad_enabled(True)
        torch.set_float32_matmul_precision("highest")
        torch.use_deterministic_algorithms(False)
        torch.autograd.set_detect_anomaly(False)
        torch.set_printoptions(profile="default")
        torch.set_flush_denormal(False)


def _main() -> None:
    folder = Path(sys.argv[1])
    results = _run_here(json.load(sys.stdin), folder)
    report = [
        {"output": r.output, "failure": asdict(r.failure) if r.failure else None} for r in results
    ]
    Path(folder, ".results.json").write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    _main()
