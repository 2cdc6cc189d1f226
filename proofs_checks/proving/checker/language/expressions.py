"""The definitional interpreter: what each expression of the language is."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..refusals import Raises, Refused
from .arithmetic import binary, comparison, inverted, negative, truth
from .arrays import array_of, iterated, taken
from .calls import called, method
from .classes import attribute as class_attribute
from .functions import joined, written
from .grammar import place
from .record_entries import entry
from .values import Array, Class, Generator, Module, Native, Object, Ranks, Vector, as_key, named

OPERATIONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
COMPARISONS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip


class Expressions:
    """Evaluates expressions in a scope (interpreter.Local)."""

    function: Callable[..., Any]
    store: Callable[..., None]

    def value(self, node: ast.expr, scope: Any) -> Any:
        """What the expression is. Raises Refused, Raises, with the place of the innermost expression."""
        try:
            return getattr(self, type(node).__name__)(node, scope)
        except Refused as problem:
            raise problem.at(place(node, scope.file)) from None

    def Constant(self, node: ast.Constant, scope: Any) -> Any:
        return node.value

    def Name(self, node: ast.Name, scope: Any) -> Any:
        return scope.get(node.id)

    def Tuple(self, node: ast.Tuple, scope: Any) -> Any:
        return tuple(self.items(node.elts, scope))

    def List(self, node: ast.List, scope: Any) -> Any:
        return self.items(node.elts, scope)

    def Set(self, node: ast.Set, scope: Any) -> Any:
        return {as_key(item) for item in self.items(node.elts, scope)}

    def Dict(self, node: ast.Dict, scope: Any) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.value(value, scope)
                if not isinstance(inner, dict):
                    raise Refused(f"** of a {named(inner)}")
                made |= inner
            else:
                at = as_key(self.value(key, scope))
                made[at] = self.value(value, scope)
        return made

    def items(self, nodes: list[ast.expr], scope: Any) -> list[Any]:
        made: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                made += iterated(self.value(node.value, scope))
            else:
                made.append(self.value(node, scope))
        return made

    def BinOp(self, node: ast.BinOp, scope: Any) -> Any:
        left = self.value(node.left, scope)
        return binary(OPERATIONS[type(node.op)], left, self.value(node.right, scope))

    def UnaryOp(self, node: ast.UnaryOp, scope: Any) -> Any:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return not truth(value)
        if isinstance(node.op, ast.USub):
            return negative(value)
        if isinstance(node.op, ast.UAdd):
            return negative(negative(value))
        return inverted(value)

    def BoolOp(self, node: ast.BoolOp, scope: Any) -> Any:
        *first, last = node.values
        for part in first:
            value = self.value(part, scope)
            if truth(value) != isinstance(node.op, ast.And):
                return value
        return self.value(last, scope)

    def Compare(self, node: ast.Compare, scope: Any) -> Any:
        left, last = self.value(node.left, scope), len(node.ops) - 1
        for i, (operation, side) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.value(side, scope)
            value = self._compared(operation, left, right)
            if i == last or not truth(value):
                return value
            left = right
        raise Refused("a comparison of nothing")

    def _compared(self, operation: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(operation, ast.Is | ast.IsNot):
            return (left is None and right is None) == isinstance(operation, ast.Is)
        if isinstance(operation, ast.In | ast.NotIn):
            return self._contained(left, right) == isinstance(operation, ast.In)
        return comparison(COMPARISONS[type(operation)], left, right)

    def _contained(self, item: Any, held: Any) -> bool:
        if isinstance(held, str):
            if not isinstance(item, str):
                raise Refused(f"a {named(item)} looked for in a text")
            return item in held
        if isinstance(held, set | frozenset | dict):
            return any(truth(comparison(operator.eq, item, each)) for each in sorted(held, key=repr))
        return any(truth(comparison(operator.eq, item, each)) for each in iterated(held))

    def IfExp(self, node: ast.IfExp, scope: Any) -> Any:
        return self.value(node.body if truth(self.value(node.test, scope)) else node.orelse, scope)

    def NamedExpr(self, node: ast.NamedExpr, scope: Any) -> Any:
        value = self.value(node.value, scope)
        self.store(node.target, value, scope)
        return value

    def Lambda(self, node: ast.Lambda, scope: Any) -> Any:
        body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
        return self.function("<lambda>", node.args, body, scope)

    def ListComp(self, node: ast.ListComp, scope: Any) -> Any:
        return list(self._generated(node, scope, lambda inner: self.value(node.elt, inner)))

    def GeneratorExp(self, node: ast.GeneratorExp, scope: Any) -> Any:
        return self._generated(node, scope, lambda inner: self.value(node.elt, inner))

    def DictComp(self, node: ast.DictComp, scope: Any) -> Any:
        def pair(inner: Any) -> tuple[Any, Any]:
            key = as_key(self.value(node.key, inner))
            return key, self.value(node.value, inner)

        return dict(self._generated(node, scope, pair))

    def _generated(self, node: Any, scope: Any, item: Callable[[Any], Any]) -> Iterator[Any]:
        """Its items, one after the other; the first iterable is evaluated at once, in the scope around."""
        from .interpreter import Local

        first, *loops = node.generators
        begun = iterated(self.value(first.iter, scope))
        stored = {n.id for loop in node.generators for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        inner = Local(scope, {}, frozenset(stored), scope.file)

        def steps(loop: ast.comprehension, over: Iterator[Any], left: list[ast.comprehension]) -> Iterator[Any]:
            for each in over:
                self.store(loop.target, each, inner)
                if all(truth(self.value(test, inner)) for test in loop.ifs):
                    if left:
                        yield from steps(left[0], iterated(self.value(left[0].iter, inner)), left[1:])
                    else:
                        yield item(inner)

        return steps(first, begun, loops)

    def Slice(self, node: ast.Slice, scope: Any) -> Any:
        ends = [None if part is None else self.value(part, scope) for part in (node.lower, node.upper, node.step)]
        if not all(end is None or type(end) is int for end in ends):
            raise Refused("a slice whose ends are no integers")
        return slice(*ends)

    def Subscript(self, node: ast.Subscript, scope: Any) -> Any:
        held = self.value(node.value, scope)
        return self.item(held, self.value(node.slice, scope))

    def item(self, held: Any, at: Any) -> Any:
        """held[at]."""
        if isinstance(held, Array):
            return taken(held, at)
        if isinstance(held, Vector):
            return entry(held, at)
        try:
            if isinstance(held, Ranks) and isinstance(at, slice):
                return held.part(at)
            if isinstance(held, Ranks) and type(at) is int:
                return held.at(at)
            if isinstance(held, Ranks):
                return taken(array_of(held), at)
            if isinstance(held, dict):
                return held[as_key(at)]
            if isinstance(held, list | tuple | str | range) and (type(at) in (int, bool) or isinstance(at, slice)):
                found = held[at]
                return list(found) if isinstance(at, slice) and isinstance(held, list) else found
        except (IndexError, KeyError) as problem:
            raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem
        raise Refused(f"a {named(at)} as a place in a {named(held)}")

    def Attribute(self, node: ast.Attribute, scope: Any) -> Any:
        return self.attribute(self.value(node.value, scope), node.attr)

    def attribute(self, on: Any, name: str) -> Any:
        """on.name."""
        from .globals import admitted
        from .tables import constant_of, method_of, property_of

        if isinstance(on, Module):
            return constant_of(on.module, name)
        if isinstance(on, Object):
            return on.fields[name] if name in on.fields else method(on, name)
        if isinstance(on, Class):
            found = class_attribute(on.kind, name)
            return admitted(found.__func__ if isinstance(found, staticmethod) else found, name)
        known = property_of(on, name)
        if known is not None:
            return known(on)
        entry = method_of(on, name)
        if entry is None:
            what = (
                "rng" if isinstance(on, Generator) else f"an {named(on)}" if isinstance(on, Array) else f"a {named(on)}"
            )
            raise Refused(f".{name} of {what} is not in the language of proofs")
        return Native(lambda *args, **kwargs: entry(on, *args, **kwargs), name, entry)

    def Call(self, node: ast.Call, scope: Any) -> Any:
        function = self.value(node.func, scope)
        args, named_ones = self.items(node.args, scope), dict[str, Any]()
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                named_ones[keyword.arg] = value
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                named_ones |= value
            else:
                raise Refused("** of something that is no dict of names")
        return called(function, args, named_ones)

    def JoinedStr(self, node: ast.JoinedStr, scope: Any) -> Any:
        return joined([self.value(part, scope) for part in node.values])

    def FormattedValue(self, node: ast.FormattedValue, scope: Any) -> Any:
        if node.conversion not in (-1, ord("s")):
            raise Refused("!r or !a in a text")
        how = "" if node.format_spec is None else self.value(node.format_spec, scope)
        if not isinstance(how, str):
            raise Refused("a format that is made of symbols")
        return written(self.value(node.value, scope), how)
