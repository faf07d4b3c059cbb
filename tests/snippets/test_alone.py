"""Every snippet, as readers download it, runs alone.

A fresh interpreter for each file would spend its time on importing torch. So one
interpreter that never saw this project imports torch, and is forked for each file. There
only an empty folder with the file and the installed packages are in reach; the file is
imported, and then run as the main program.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scripts.catalogue import download_text, snippet_files
from scripts.paths import SNIPPETS

IMPORTING = 1  # the server's status for a failure before the file is run

SERVER = """
import json, os, runpy, sys, traceback
import torch

def redirect(stream, path):
    os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), stream)

def run(folder, file):
    paths = [os.path.join(folder, name) for name in (".imported", ".printed", ".errors")]
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        sys.path.insert(0, folder)
        sys.argv = [file]
        redirect(1, paths[0])
        redirect(2, paths[2])
        status = 1
        try:
            __import__(file.removesuffix(".py"))
            sys.stdout.flush()
            redirect(1, paths[1])
            status = 2
            runpy.run_path(os.path.join(folder, file), run_name="__main__")
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = [open(path, errors="replace").read() if os.path.exists(path) else "" for path in paths]
    return [code, *texts]

assert not {"scripts", "snippets", "tests"} & set(sys.modules)
json.dump({folder: run(folder, *os.listdir(folder)) for folder in json.load(sys.stdin)}, sys.stdout)
"""


@cache
def results() -> dict[str, tuple[int, str, str, str]]:
    """Of each snippet: whether it failed, what it printed when imported and when run, errors."""
    with TemporaryDirectory() as root:
        folders = {}
        for name in snippet_files():
            folder = Path(root, name.replace("/", "-"))
            folder.mkdir()
            source = (SNIPPETS / name).read_text(encoding="utf-8")
            Path(folder, Path(name).name).write_text(download_text(source), encoding="utf-8")
            folders[str(folder)] = name
        done = subprocess.run(
            [sys.executable, "-I", "-B", "-c", SERVER],
            input=json.dumps(list(folders)),
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            check=True,
            timeout=600,
        )
    return {folders[folder]: found for folder, found in json.loads(done.stdout).items()}


@pytest.mark.parametrize("name", snippet_files())
def test_importing_does_nothing(name: str) -> None:
    failed, printed, _, errors = results()[name]
    assert failed != IMPORTING, errors
    assert printed == ""


@pytest.mark.parametrize("name", snippet_files())
def test_running_shows_something(name: str) -> None:
    failed, _, printed, errors = results()[name]
    assert not failed, errors
    assert printed


@pytest.mark.parametrize("name", snippet_files())
def test_downloads_have_no_marks(name: str) -> None:
    assert "8<" not in download_text((SNIPPETS / name).read_text(encoding="utf-8"))
