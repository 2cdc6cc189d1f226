"""Sums over the data, written without a loop, as the loop that they are.

dataset.sum(), sum(dataset), (dataset < 1).sum(), sum(min(x, 1) for x in dataset), len(dataset).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

ELEMENTWISE = ("clip", "minimum", "maximum", "abs", "where", "absolute", "square", "sqrt")
PLAIN = ("min", "max", "abs", "float")
ALLOWED = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.operator, ast.unaryop, ast.cmpop, ast.Load, ast.Call,
    ast.Name, ast.Attribute, ast.IfExp, ast.BoolOp, ast.boolop,
)  # fmt: skip


class Sums(ast.NodeTransformer):
    """Replaces every sum by a name. terms: what one entry adds to each. counted: len(data) is a sum too."""

    def __init__(
        self, data: str, entry: str, counted: bool, outside: Callable[[ast.AST], bool], first: int = 0
    ) -> None:
        self.data = data
        self.entry = entry
        self.counted = counted
        self.outside = outside
        self.first = first
        self.terms: list[ast.expr] = []

    def further(self) -> Sums:
        """Of what comes after the loop."""
        return Sums(self.data, self.entry, self.counted, self.outside, self.first + len(self.terms))

    def loop(self) -> list[ast.stmt]:
        """The sums made by a loop; nothing where there are none."""
        if not self.terms:
            return []
        names = [f"_dpcert_sum{self.first + k}" for k in range(len(self.terms))]
        made = ast.parse("\n".join([*(f"{name} = 0" for name in names), f"for {self.entry} in {self.data}: pass"])).body
        loop = made[-1]
        assert isinstance(loop, ast.For)
        loop.body = []
        for name, term in zip(names, self.terms, strict=True):
            loop.body += ast.parse(f"{name} = {name} + ({ast.unparse(term)})").body
        return made

    def visit_Call(self, node: ast.Call) -> ast.AST:
        summed, averaged = self._summed(node), False
        if summed is None:
            summed = self._averaged(node)
            averaged = summed is not None
        term = None if summed is None else self._term(summed)
        if self.counted and ast.unparse(node) == f"len({self.data})":
            term, averaged = ast.Constant(1), False
        if term is None and self._counts(node):
            return self.visit(node.args[0])  # type: ignore[no-any-return]
        if term is None:
            return self.generic_visit(node)
        self.terms.append(term)
        total = ast.Name(f"_dpcert_sum{self.first + len(self.terms) - 1}", ast.Load())
        if averaged:
            length = ast.parse(f"len({self.data})", mode="eval").body
            return ast.copy_location(ast.BinOp(total, ast.Div(), self.visit(length)), node)
        return ast.copy_location(total, node)

    def _averaged(self, node: ast.Call) -> ast.expr | None:
        """E of E.mean() and np.mean(E): the sum, divided by the number of entries."""
        if node.keywords or not isinstance(node.func, ast.Attribute) or node.func.attr != "mean":
            return None
        if not node.args:
            return node.func.value
        return node.args[0] if ast.unparse(node.func.value) in ("np", "numpy") and len(node.args) == 1 else None

    def _counts(self, node: ast.Call) -> bool:
        """Whether it is int(...) or round(...) of a sum of comparisons, which is a whole number."""
        if ast.unparse(node.func) not in ("int", "round") or len(node.args) != 1 or node.keywords:
            return False
        summed = self._summed(node.args[0]) if isinstance(node.args[0], ast.Call) else None
        each = summed.elt if isinstance(summed, ast.GeneratorExp) else summed
        whole = isinstance(each, ast.Compare) or (isinstance(each, ast.Constant) and type(each.value) is int)
        return whole and self._term(summed) is not None  # type: ignore[arg-type]

    def _summed(self, node: ast.Call) -> ast.expr | None:
        """E of E.sum(), sum(E) and np.sum(E)."""
        if node.keywords or not isinstance(node.func, ast.Name | ast.Attribute):
            return None
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sum" and not node.args:
            return node.func.value
        if ast.unparse(node.func) == "len" and len(node.args) == 1 and isinstance(node.args[0], ast.ListComp):
            kept = node.args[0]  # as many as the filter lets through
            return ast.GeneratorExp(ast.Constant(1), kept.generators) if kept.generators[0].ifs else None
        by_name = ast.unparse(node.func) in ("sum", "np.sum", "numpy.sum")
        return node.args[0] if by_name and len(node.args) == 1 else None

    def _term(self, summed: ast.expr) -> ast.expr | None:
        """What the entry adds; None where that hangs on more than the entry and constants."""
        array, name = summed, self.data
        if isinstance(summed, ast.GeneratorExp):
            (loop, *more) = summed.generators
            if more or loop.is_async or not isinstance(loop.target, ast.Name) or ast.unparse(loop.iter) != self.data:
                return None
            array, name = summed.elt, loop.target.id
            for test in loop.ifs:
                array = ast.IfExp(test, array, ast.Constant(0))
        calls = [inner for inner in ast.walk(array) if isinstance(inner, ast.Call)]
        known = {id(part) for call in calls for part in ast.walk(call.func) if is_elementwise(call)}
        fixed = {id(n.value) for n in ast.walk(array) if isinstance(n, ast.Attribute) and self.outside(n)}
        for inner in ast.walk(array):
            foreign = isinstance(inner, ast.Name) and inner.id != name and id(inner) not in known
            foreign = foreign and id(inner) not in fixed and not self.outside(inner)
            strange = isinstance(inner, ast.Attribute) and id(inner) not in known and not self.outside(inner)
            if not isinstance(inner, ALLOWED) or foreign or strange or (isinstance(inner, ast.Call) and inner.keywords):
                return None
        return Renamed(name, self.entry).visit(copy.deepcopy(array))  # type: ignore[no-any-return]


def is_elementwise(call: ast.Call) -> bool:
    """Whether it is of a function that is known, cell by cell."""
    module, _, name = ast.unparse(call.func).rpartition(".")
    return (module in ("np", "numpy") and name in ELEMENTWISE) or (not module and name in PLAIN)


class Renamed(ast.NodeTransformer):
    """One name is another."""

    def __init__(self, former: str, name: str) -> None:
        self.former = former
        self.name = name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.name, node.ctx), node) if node.id == self.former else node
