"""A Python script as the rules see it: its syntax tree, what its names are bound to, where its imports come from."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property

from ...mechanisms import InputError
from .privacy_words import is_about_privacy
from .settings import Settings

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module
Loop = ast.For | ast.AsyncFor | ast.While
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
RESOLUTION_DEPTH = 8


class Script:
    """A parsed script. Nothing in it is executed.

    `source` is the file's bytes; a BOM or a coding line is honoured. Raises InputError where they are not text in
    their encoding, or the text is not Python. `places`: the (cell, line) of each line, for a notebook's code; `unread`:
    a sentence for each of its cells that was left out.
    """

    def __init__(
        self, path: str, source: bytes, places: Sequence[tuple[int, int]] = (), unread: Sequence[str] = ()
    ) -> None:
        self.path, self.places, self.unread = path, places, unread
        text = _decoded(path, source)
        self.lines = re.split(r"\r\n|\r|\n", text)
        self.tree = _parsed(path, text, places)
        self.nodes = list(ast.walk(self.tree))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def calls(self) -> list[ast.Call]:
        """Every call, in the tree's order."""
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def settings(self) -> Settings:
        """What the file's dataclasses give by default."""
        return Settings(self.nodes)

    @cached_property
    def imports(self) -> dict[str, str]:
        """Local name -> dotted origin; a relative import keeps its dots."""
        origins: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                named = ((a.asname, a.name) if a.asname else (a.name.split(".")[0],) * 2 for a in node.names)
                origins.update(named)
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                origins.update({a.asname or a.name: f"{module}.{a.name}" for a in node.names})
        return origins

    @cached_property
    def about_privacy(self) -> bool:
        """Does the script name a privacy library, or speak the field's words?"""
        return is_about_privacy(self.imports.values(), self.names, self._docstrings())

    def _docstrings(self) -> Iterator[str]:
        for node in self.nodes:
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.get_docstring(node) or ""

    @cached_property
    def names(self) -> frozenset[str]:
        """Every identifier: variables, attributes, arguments, functions and classes."""
        fields = (getattr(node, field, None) for node in self.nodes for field in ("id", "attr", "arg", "name"))
        return frozenset(name for name in fields if isinstance(name, str))

    @cached_property
    def _bindings(self) -> dict[tuple[Scope, str], list[ast.expr | None]]:
        """(scope, name) -> what it is bound to; None where that is not one expression (loops, arguments, +=)."""
        found: dict[tuple[Scope, str], list[ast.expr | None]] = {}
        for node in self.nodes:
            for target, value in _bound_by(node):
                name = dotted(target)
                if name is not None:
                    scope = self.scope(node) if isinstance(target, ast.Name) else self.tree
                    found.setdefault((scope, name), []).append(value)
            if isinstance(node, ast.arg):
                found.setdefault((self.scope(node), node.arg), []).append(None)
        return found

    @cached_property
    def _sources(self) -> dict[tuple[Scope, str], list[ast.expr]]:
        """(scope, loop variable) -> what the loops and comprehensions that bind it run over."""
        found: dict[tuple[Scope, str], list[ast.expr]] = {}
        for node in self.nodes:
            if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                for name in (part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)):
                    found.setdefault((self.scope(node), name), []).append(node.iter)
        return found

    def scope(self, node: ast.AST) -> Scope:
        """The function, lambda or module that holds the node."""
        while (parent := self.parents.get(node)) is not None:
            if isinstance(parent, SCOPES):
                return parent
            node = parent
        return self.tree

    def _scopes(self, node: ast.AST) -> Iterator[Scope]:
        """From the innermost scope outwards."""
        scope = self.scope(node)
        yield scope
        while scope is not self.tree:
            scope = self.scope(scope)
            yield scope

    def home(self, node: ast.expr) -> Scope | None:
        """The nearest scope that binds this name (or dotted name): two names are one thing where theirs is the same."""
        name = dotted(node)
        return next((scope for scope in self._scopes(node) if (scope, name) in self._bindings), None)

    def values(self, node: ast.expr) -> list[ast.expr]:
        """Every expression that a name (or dotted name) is known to be bound to, in the nearest scope that binds it."""
        name, scope = dotted(node), self.home(node)
        if name is None or scope is None:
            return []
        return [value for value in self._bindings[scope, name] if value is not None]

    def looped_over(self, node: ast.expr) -> list[ast.expr]:
        """What the loops that bind this name run over."""
        name = dotted(node)
        return [] if name is None else self._sources.get((self.scope(node), name), [])

    def resolved(self, node: ast.expr) -> ast.expr:
        """The expression behind a name that is bound exactly once; the node itself otherwise."""
        for _ in range(RESOLUTION_DEPTH):
            name, scope = dotted(node), self.home(node)
            bound = self.settings.default_of(node) if name is None or scope is None else self._bindings[scope, name]
            if len(bound) != 1 or bound[0] is None:
                return node
            node = bound[0]
        return node

    def origin(self, node: ast.expr) -> str:
        """The dotted name of a callee with its import resolved; "" where it has none."""
        name = dotted(node)
        if name is None:
            return f"?.{node.attr}" if isinstance(node, ast.Attribute) else ""
        head, _, rest = name.partition(".")
        head = self.imports.get(head, head)
        return f"{head}.{rest}" if rest else head

    def tail(self, call: ast.Call) -> str:
        """The last part of what is called: DataLoader for torch.utils.data.DataLoader(...)."""
        return self.origin(call.func).rsplit(".", 1)[-1]

    def keyword(self, call: ast.Call, name: str) -> ast.expr | None:
        """The value of a keyword argument, also one of a dictionary handed over as **settings; None where it is not
        given."""
        for given in call.keywords:
            if given.arg == name:
                return given.value
            if given.arg is None and (inside := self._entry(self.resolved(given.value), name)) is not None:
                return inside
        return None

    def argument(self, call: ast.Call, place: int | None, *names: str) -> ast.expr | None:
        """The value of a keyword argument of one of these names, or the one at this place (from 0), if it has one."""
        named = [given for name in names if (given := self.keyword(call, name)) is not None]
        return next(iter([*named, *([] if place is None else call.args[place : place + 1])]), None)

    def says(self, call: ast.Call, name: str, value: object) -> bool:
        """Whether a keyword argument is this literal, or a name for it."""
        given = self.keyword(call, name)
        return given is not None and is_constant(self.resolved(given), value)

    def bound_to(self, node: ast.AST) -> list[ast.expr]:
        """What an assignment binds to the node's value; nothing where it is in no assignment, or in a part of one."""
        parent = self.parents.get(node)
        return parent.targets if isinstance(parent, ast.Assign) else []

    def is_known(self, settings: ast.expr) -> bool:
        """Whether a mapping that is handed over as **settings is a dictionary of this file, written out."""
        behind = self.resolved(settings)
        if isinstance(behind, ast.Dict):
            return all(isinstance(key, ast.Constant) for key in behind.keys)
        return isinstance(behind, ast.Call) and dotted(behind.func) == "dict" and not behind.args

    def _entry(self, settings: ast.expr, name: str) -> ast.expr | None:
        """What {"name": value} or dict(name=value) has under a name."""
        if isinstance(settings, ast.Dict):
            entries = zip(settings.keys, settings.values, strict=True)
            return next((value for key, value in entries if is_constant(key, name)), None)
        if isinstance(settings, ast.Call) and dotted(settings.func) == "dict":
            return self.keyword(settings, name)
        return None

    def loops(self, node: ast.AST) -> list[Loop]:
        """The for and while loops around a node within its function, innermost first."""
        found: list[Loop] = []
        while (parent := self.parents.get(node)) is not None and not isinstance(parent, SCOPES):
            if isinstance(parent, Loop):
                found.append(parent)
            node = parent
        return found

    def position(self, node: ast.AST) -> tuple[int, int]:
        """Line and column, both from 1, the column in characters (the tree counts bytes)."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        start = self.lines[line - 1].encode("utf-8", "surrogatepass")[:offset] if line <= len(self.lines) else b""
        return line, len(start.decode("utf-8", "replace")) + 1


def dotted(node: ast.expr) -> str | None:
    """a.b.c for names and attributes of names; None for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def is_constant(node: ast.expr | None, value: object) -> bool:
    """Is the node this literal? True is not 1 here."""
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def identifiers(node: ast.AST) -> Iterator[str]:
    """Every name and attribute below the node, in lower case."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id.lower()
        elif isinstance(part, ast.Attribute):
            yield part.attr.lower()


def mentions(node: ast.AST, pattern: str) -> bool:
    """Does any identifier below the node match (re.search, lower case)?"""
    return any(re.search(pattern, name) for name in identifiers(node))


def _bound_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets that a statement or expression binds, each with its value where that is one expression."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _unpacked(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        if node.value is not None:
            yield node.target, node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, None
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from _unpacked(node.target, None)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _unpacked(node.optional_vars, None)


def _unpacked(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
        return
    values: list[ast.expr | None] = [None] * len(target.elts)
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
        values = list(value.elts)
    for element, part in zip(target.elts, values, strict=True):
        starred = isinstance(element, ast.Starred)
        yield from _unpacked(element.value if isinstance(element, ast.Starred) else element, None if starred else part)


def _decoded(path: str, source: bytes) -> str:
    try:
        head = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(head).readline)
        return source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as problem:
        raise InputError("path", path, f"text in the encoding that it declares ({_line(problem)})") from None


def _parsed(path: str, text: str, places: Sequence[tuple[int, int]]) -> ast.Module:
    try:
        with warnings.catch_warnings():  # a script's invalid escapes are not our warnings
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        at = f", {_place(problem.lineno, places)}" if isinstance(problem, SyntaxError) and problem.lineno else ""
        reason = problem.msg if isinstance(problem, SyntaxError) else _line(problem)
        raise InputError("path", path, f"a Python script ({reason}{at})") from None


def _place(line: int, places: Sequence[tuple[int, int]]) -> str:
    cell, within = places[min(line, len(places)) - 1] if places else (None, line)
    return f"line {within}" if cell is None else f"cell {cell}, line {within}"


def _line(problem: BaseException) -> str:
    return " ".join((str(problem) or type(problem).__name__).split())[:160]
