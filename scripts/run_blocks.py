"""Runs the blocks of a page as the programs that a reader would make of them.

Each block is a real file, run as `__main__` in an empty folder: what needs source
(`inspect`, `torch.jit.script`, Taichi kernels) and what needs an importable main module
(workers under spawn) then works. A `cont` block goes on in its predecessor's namespace.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.paths import ROOT

TIMEOUT_SECONDS = 300


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
            return _run_here(sources, Path(folder))
        command = [sys.executable, "-m", "scripts.run_blocks", folder]
        done = subprocess.run(
            command,
            input=json.dumps(sources),
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=TIMEOUT_SECONDS,
        )
        report = Path(folder, ".results.json")
        if not report.exists():
            message = f"the interpreter ended with {done.returncode}"
            return [Result(done.stdout, Failure(None, message, done.stderr))]
        results = json.loads(report.read_text(encoding="utf-8"))
    return [
        Result(each["output"], Failure(**each["failure"]) if each["failure"] else None)
        for each in results
    ]


def run_shell(source: str, shell: str = "sh") -> Result:
    """Run a shell block in an empty folder; its output is what it printed to stdout."""
    with tempfile.TemporaryDirectory(prefix="block-") as folder:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        done = subprocess.run(
            [shell, "-e", "-c", source],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PATH": path},
            timeout=TIMEOUT_SECONDS,
        )
    if done.returncode:
        failure = Failure(None, f"exit status {done.returncode}", done.stderr)
        return Result(done.stdout, failure)
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
            output = io.StringIO()
            failure = None
            try:
                # The empty lines in front keep line numbers those of the file.
                code = compile("\n" * offset + source, str(file), "exec")
                with contextlib.redirect_stdout(output):
                    exec(code, module.__dict__)
            except (Exception, SystemExit) as error:
                failure = _failure(error, file, offset)
            results.append(Result(output.getvalue(), failure))
            if failure:
                break
            offset += source.count("\n") + 1
    return results


def _failure(error: BaseException, file: Path, offset: int) -> Failure:
    frames = traceback.extract_tb(error.__traceback__)
    mine = [index for index, frame in enumerate(frames) if frame.filename == str(file)]
    if mine:
        error.__traceback__ = _skip_frames(error.__traceback__, mine[0])
    line = frames[mine[-1]].lineno if mine else None
    if isinstance(error, SyntaxError) and error.filename == str(file):
        line = error.lineno
    text = "".join(traceback.format_exception(error))
    summary = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    return Failure(line - offset if line else None, summary, text)


def _skip_frames(tb: types.TracebackType | None, count: int) -> types.TracebackType | None:
    while count and tb:
        tb, count = tb.tb_next, count - 1
    return tb


@contextlib.contextmanager
def _as_main_program(module: types.ModuleType, folder: Path) -> Iterator[None]:
    """Make `module` the main program in `folder`, and undo afterwards what blocks change."""
    main, argv, path, cwd = sys.modules["__main__"], sys.argv, sys.path[:], Path.cwd()
    environment = dict(os.environ)
    with warnings.catch_warnings(), _fresh_torch():
        warnings.simplefilter("default")
        sys.modules["__main__"] = module
        sys.argv = [str(module.__file__)]
        sys.path.insert(0, str(folder))
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


@contextlib.contextmanager
def _fresh_torch() -> Iterator[None]:
    """Torch's global settings as in a new process, and put back afterwards.

    The seed is a random one, so that an output that depends on it does not pass.
    """
    import torch

    threads = torch.get_num_threads()
    torch.seed()
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.set_grad_enabled(True)
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
