"""The definitional interpreter: what each statement of the language does."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ..current_run import tracer
from ..refusals import Raises, Refused
from .arithmetic import binary, truth
from .arrays import iterated, put, several
from .expressions import OPERATIONS, Expressions
from .globals import ConstantList, Constants
from .grammar import bound_names, place
from .records import added_in_place
from .values import Appended, Array, Function, Object, Vector, as_key, named


class Leaving(Exception):
    """break, continue or return: how a block is left."""


class Broken(Leaving):
    """break."""


class Continued(Leaving):
    """continue."""


class Returned(Leaving):
    """return, with what is returned."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Local:
    """The names of one call, or of one comprehension; others are looked up outside. names: those that it binds."""

    def __init__(self, outer: Any, values: dict[str, Any], names: frozenset[str], file: str) -> None:
        self.outer, self.values, self.names, self.file = outer, values, names, file

    def get(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        if name in self.names:
            raise Raises(f"the function raises UnboundLocalError: {name!r} has no value yet")
        return self.outer.get(name)


class Interpreter(Expressions):
    """Evaluates statements; Expressions evaluates expressions."""

    def body(self, statements: list[ast.stmt], scope: Local) -> Any:
        """What a function with these statements returns."""
        try:
            self.block(statements, scope)
        except Returned as done:
            return done.value
        except RecursionError as problem:
            raise Refused("calls inside of calls without an end") from problem
        return None

    def block(self, statements: list[ast.stmt], scope: Local) -> None:
        run = tracer()
        for statement in statements:
            run.step()
            try:
                getattr(self, type(statement).__name__)(statement, scope)
            except Refused as problem:
                head = getattr(statement, "test", None) or getattr(statement, "iter", None) or statement
                raise problem.at(place(head, scope.file)) from None

    def Expr(self, node: ast.Expr, scope: Local) -> None:
        self.value(node.value, scope)

    def Pass(self, node: ast.Pass, scope: Local) -> None:
        pass

    def Return(self, node: ast.Return, scope: Local) -> None:
        raise Returned(None if node.value is None else self.value(node.value, scope))

    def Break(self, node: ast.Break, scope: Local) -> None:
        raise Broken

    def Continue(self, node: ast.Continue, scope: Local) -> None:
        raise Continued

    def If(self, node: ast.If, scope: Local) -> None:
        self.block(node.body if truth(self.value(node.test, scope)) else node.orelse, scope)

    def Assert(self, node: ast.Assert, scope: Local) -> None:
        if not truth(self.value(node.test, scope)):
            raise Raises("the function raises AssertionError")

    def Raise(self, node: ast.Raise, scope: Local) -> None:
        raise Raises("the function raises an exception")

    def Assign(self, node: ast.Assign, scope: Local) -> None:
        value = self.value(node.value, scope)
        for target in node.targets:
            self.store(target, value, scope)

    def AnnAssign(self, node: ast.AnnAssign, scope: Local) -> None:
        if node.value is not None:
            self.store(node.target, self.value(node.value, scope), scope)

    def AugAssign(self, node: ast.AugAssign, scope: Local) -> None:
        """Its place is found once; lists and arrays are changed where they are."""
        target, operation = node.target, OPERATIONS[type(node.op)]
        put_back: Callable[[Any], None]
        if isinstance(target, ast.Name):
            old, put_back = scope.get(target.id), partial(scope.values.__setitem__, target.id)
        elif isinstance(target, ast.Subscript):
            held, at = self.value(target.value, scope), self.value(target.slice, scope)
            old, put_back = self.item(held, at), partial(self.put_item, held, at)
        else:
            held = self.value(target.value, scope)
            old, put_back = self.attribute(held, target.attr), partial(self.put_attribute, held, target.attr)
        new = self.value(node.value, scope)
        put_back(changed(old, operation, new))

    def For(self, node: ast.For, scope: Local) -> None:
        run = tracer()
        for item in iterated(self.value(node.iter, scope)):
            run.step()
            self.store(node.target, item, scope)
            try:
                self.block(node.body, scope)
            except Broken:
                return
            except Continued:
                continue
        self.block(node.orelse, scope)

    def While(self, node: ast.While, scope: Local) -> None:
        while truth(self.value(node.test, scope)):
            try:
                self.block(node.body, scope)
            except Broken:
                return
            except Continued:
                continue
        self.block(node.orelse, scope)

    def FunctionDef(self, node: ast.FunctionDef, scope: Local) -> None:
        scope.values[node.name] = self.function(node.name, node.args, node.body, scope)

    def function(self, name: str, arguments: ast.arguments, body: list[ast.stmt], scope: Local) -> Function:
        """A function that is defined inside of another."""
        positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        values = [self.value(each, scope) for each in arguments.defaults]
        defaults = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None:
                defaults[each.arg] = self.value(default, scope)
        return Function(name, arguments, body, scope, bound_names(body), defaults, scope.file)

    def store(self, target: ast.expr, value: Any, scope: Local) -> None:
        """target = value."""
        if isinstance(target, ast.Name):
            scope.values[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpacked(target.elts, list(iterated(value)), scope)
        elif isinstance(target, ast.Subscript):
            self.put_item(self.value(target.value, scope), self.value(target.slice, scope), value)
        elif isinstance(target, ast.Attribute):
            self.put_attribute(self.value(target.value, scope), target.attr, value)
        else:
            raise Refused("this on the left of =")

    def _unpacked(self, targets: list[ast.expr], values: list[Any], scope: Local) -> None:
        starred = [i for i, target in enumerate(targets) if isinstance(target, ast.Starred)]
        if starred:
            at, after = starred[0], len(targets) - starred[0] - 1
            if len(values) >= len(targets) - 1:
                values = [*values[:at], values[at : len(values) - after], *values[len(values) - after :]]
        if len(values) != len(targets):
            raise Raises("the function raises ValueError: so many values cannot be unpacked")
        for target, value in zip(targets, values, strict=True):
            self.store(target.value if isinstance(target, ast.Starred) else target, value, scope)

    def put_item(self, held: Any, at: Any, value: Any) -> None:
        """held[at] = value."""
        if isinstance(held, Array):
            put(held, at, value)
            return
        if isinstance(held, dict):
            writable(held)[as_key(at)] = value
            return
        if not isinstance(held, list) or not (type(at) is int or isinstance(at, slice)):
            raise Refused(f"an item of a {named(held)} is set")
        try:
            writable(held)[at] = list(iterated(value)) if isinstance(at, slice) else value
        except (IndexError, ValueError) as problem:
            raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem

    def put_attribute(self, held: Any, name: str, value: Any) -> None:
        """held.name = value."""
        if not isinstance(held, Object):
            raise Refused(f"an attribute of a {named(held)} is set")
        if held.frozen:
            raise Refused(f"{name}, an attribute of what outlives the call (or of a frozen dataclass), is set")
        if held.record and name not in held.fields:
            raise Refused(f"{name}, which is no field of the dataclass, is set")
        held.fields[name] = value


def changed(old: Any, operation: Callable[[Any, Any], Any], new: Any) -> Any:
    """What an augmented assignment makes of a value: arrays and lists are changed where they are."""
    if isinstance(old, Vector):
        return added_in_place(old, operation, new)
    if isinstance(old, Array):
        put(old, Ellipsis, binary(operation, old, new))
        return old
    if isinstance(old, list | Appended) and operation is operator.add:
        (old.items if isinstance(old, Appended) else writable(old)).extend(several(new))
        return old
    if isinstance(old, list | set | dict):
        raise Refused(
            f"this augmented assignment to a {named(old)}, which changes it where it is: write = and a new one"
        )
    return binary(operation, old, new)


def writable(held: Any) -> Any:
    """The container, if it is one of this call. Raises Refused."""
    if isinstance(held, ConstantList | Constants):
        raise Refused("a container that outlives the call is written to: make a copy")
    return held


INTERPRETER = Interpreter()
