"""A hash of code that ignores comments, docstrings and format.

The hash of a benchmark covers its own function and every project definition that
it uses, however far away: a change of any of them makes its record stale.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

from scripts.paths import ROOT

Definition = tuple[Path, str]

PROJECT_PACKAGES = ("snippets", "tests")


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body


def canonical(node: object) -> object:
    """Nested tuples that are equal for equal code, whatever Python version parsed it.

    `ast.dump` will not do: what it prints of empty fields differs between versions.
    """
    if isinstance(node, ast.AST):
        fields: list[tuple[str, object]] = []
        for field, value in ast.iter_fields(node):
            if field in ("ctx", "kind", "type_comment") or value is None or value == []:
                continue
            if field == "body" and isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
            ):
                value = _without_docstring(value)
            fields.append((field, canonical(value)))
        return type(node).__name__, tuple(fields)
    if isinstance(node, list):
        return tuple(canonical(item) for item in node)
    return repr(node)


def _meaning(statement: ast.stmt, name: str) -> object:
    """What a statement says about `name`: of an import, that name's share only."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        module = getattr(statement, "module", None)
        for alias in statement.names:
            if (alias.asname or alias.name) == name:
                return "import", module, alias.name
    return canonical(statement)


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


class _Module:
    """The top-level definitions of a file, and what its imports refer to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, Definition | Path] = {}
        for statement in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
            for name in _bound_names(statement):
                self.definitions.setdefault(name, []).append(statement)
        for statements in list(self.definitions.values()):
            for statement in statements:
                for node in ast.walk(statement):
                    self._note_import(node)

    def _note_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                target = _project_file(f"{node.module}.{alias.name}")
                package = _project_file(node.module)
                if target:
                    self.imported[alias.asname or alias.name] = target
                elif package:
                    self.imported[alias.asname or alias.name] = (package, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                target = _project_file(alias.name)
                if target and alias.asname:
                    self.imported[alias.asname] = target
                elif target:
                    self.imported[alias.name] = target

    def used_by(self, name: str) -> set[Definition]:
        """The project definitions to which the definition of `name` refers."""
        used: set[Definition] = set()
        for statement in self.definitions[name]:
            for node in ast.walk(statement):
                dotted = _dotted(node)
                if dotted is None:
                    continue
                head, _, attribute = dotted.rpartition(".")
                target = self.imported.get(head)
                if isinstance(target, Path):
                    used.add((target, attribute))
                target = self.imported.get(dotted)
                if isinstance(target, tuple):
                    used.add(target)
                elif isinstance(target, Path):
                    used |= {(target, each) for each in _Module(target).definitions}
                if dotted in self.definitions and dotted != name and dotted not in self.imported:
                    used.add((self.path, dotted))
        return used


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else None
    return None


def _bound_names(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in statement.names}
    names = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.iter_child_nodes(statement):
        if isinstance(node, ast.stmt):
            names |= _bound_names(node)
    return names


def _project_file(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] not in PROJECT_PACKAGES:
        return None
    path = ROOT.joinpath(*parts).with_suffix(".py")
    return path if path.is_file() else None


def code_parts(path: Path, name: str) -> dict[str, str]:
    """The hash of each definition that `name` in `path` uses, itself included.

    Keys read `snippets/effective/operators/row_sum.py::sum_by_index`.
    Raises LookupError where the file has no such definition.
    """
    modules: dict[Path, _Module] = {}
    parts: dict[str, str] = {}
    waiting: list[Definition] = [(path.resolve(), name)]
    while waiting:
        file, definition = waiting.pop()
        key = f"{file.relative_to(ROOT).as_posix()}::{definition}"
        if key in parts:
            continue
        module = modules.setdefault(file, _Module(file))
        if definition not in module.definitions:
            if len(parts) == 0:
                raise LookupError(f"{file.relative_to(ROOT).as_posix()} defines no `{definition}`")
            parts[key] = "missing"
            continue
        parts[key] = _digest(
            [_meaning(each, definition) for each in module.definitions[definition]]
        )
        waiting.extend(sorted(module.used_by(definition)))
    return dict(sorted(parts.items()))
