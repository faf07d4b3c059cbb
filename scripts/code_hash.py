"""A hash of code that ignores comments, docstrings and format.

The hash of a benchmark covers its own function and every project definition that
it uses, however far away: a change of any of them makes its record stale.
"""

from __future__ import annotations

import ast
import hashlib
import symtable
from collections.abc import Iterator
from pathlib import Path

from scripts.paths import ROOT, shown

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


class CodeError(Exception):
    """Code whose dependencies can't be followed; the message names file and line."""


class _Module:
    """The top-level definitions of a file, and what its imports refer to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.imported: dict[str, Definition | Path] = {}
        for statement in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
            if _is_main_guard(statement):
                continue
            for name in _bound_names(statement):
                self.definitions.setdefault(name, []).append(statement)
            for node in ast.walk(statement):
                self._note_import(node)

    def _note_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in PROJECT_PACKAGES:
                    self.imported[alias.asname or alias.name] = self._file(alias.name, node)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level or (
                module.partition(".")[0] in PROJECT_PACKAGES and node.names[0].name == "*"
            ):
                raise CodeError(
                    f"{shown(self.path)}:{node.lineno}: import by full name, "
                    "such as `from snippets.part.chapter import idea`"
                )
            if module.partition(".")[0] not in PROJECT_PACKAGES:
                return
            for alias in node.names:
                name = alias.asname or alias.name
                submodule = _project_file(f"{module}.{alias.name}")
                self.imported[name] = submodule or (self._file(module, node), alias.name)

    def _file(self, module: str, node: ast.stmt) -> Path:
        path = _project_file(module)
        if path is None:
            raise CodeError(
                f"{shown(self.path)}:{node.lineno}: {module} is not a file of this project, "
                "so what is used of it can't be followed. Import a file, or a name from a file."
            )
        return path

    def used_by(self, name: str) -> set[Definition]:
        """The project definitions to which the definition of `name` refers."""
        used: set[Definition] = set()
        for statement in self.definitions[name]:
            known = _global_names(statement)
            for dotted in _references(statement):
                if dotted.partition(".")[0] in known:
                    used |= self._resolved(dotted)
        return used - {(self.path, name)}

    def _resolved(self, dotted: str) -> set[Definition]:
        """What `a.b.c` refers to: a definition here, one in an imported file, or all of a file."""
        head, *rest = dotted.split(".")
        for length in range(len(rest), -1, -1):
            target = self.imported.get(".".join([head, *rest[:length]]))
            if isinstance(target, Path):
                names = rest[length : length + 1] or _Module(target).definitions
                return {(target, each) for each in names}
            if target is not None:
                return {target}
        return {(self.path, head)} if head in self.definitions else set()


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in (
        "__name__ == '__main__'",
        "'__main__' == __name__",
    )


def _references(node: ast.AST) -> Iterator[str]:
    """Every name and dotted name in the code, each at its full length."""
    dotted = _dotted(node)
    if dotted is not None:
        yield dotted
        return
    for child in ast.iter_child_nodes(node):
        yield from _references(child)


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else None
    return None


def _global_names(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement takes from its module, or imports itself."""

    def of(table: symtable.SymbolTable) -> Iterator[str]:
        at_top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if at_top or symbol.is_global():
                yield symbol.get_name()
        for child in table.get_children():
            yield from of(child)

    names = set(of(symtable.symtable(ast.unparse(statement), "statement", "exec")))
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return names


def _bound_names(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in statement.names}
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(getattr(node, "ctx", None), ast.Store):
            target: ast.AST = node
            while isinstance(target, ast.Attribute | ast.Subscript):  # TABLE["x"] = 1
                target = target.value
            if isinstance(target, ast.Name):
                names.add(target.id)
        if isinstance(node, ast.stmt) and node is not statement:
            names |= _bound_names(node)
    return names


def _project_file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return path if path.is_file() else None


def code_parts(path: Path, name: str) -> dict[str, str]:
    """The hash of each definition that `name` in `path` uses, itself included.

    Keys read `snippets/effective/operators/row_sum.py::sum_by_index`.
    Raises LookupError where the file has no such definition, CodeError where an import
    hides what is used.
    """
    modules: dict[Path, _Module] = {}
    parts: dict[str, str] = {}
    waiting: list[Definition] = [(path.resolve(), name)]
    while waiting:
        file, definition = waiting.pop()
        key = f"{shown(file)}::{definition}"
        if key in parts:
            continue
        if file not in modules:
            modules[file] = _Module(file)
        module = modules[file]
        if definition not in module.definitions:
            if not parts:
                raise LookupError(f"{shown(file)} defines no `{definition}`")
            parts[key] = "missing"
            continue
        parts[key] = _digest(
            [_meaning(each, definition) for each in module.definitions[definition]]
        )
        waiting.extend(sorted(module.used_by(definition)))
    return dict(sorted(parts.items()))
