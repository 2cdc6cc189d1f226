"""Arrays made of the data entry by entry, written without a loop, as the loops that they are.

    noisy = data + rng.laplace(0, 2, len(data))         # or [x + rng.laplace(0, 2) for x in data]
    return np.argmax(noisy)                             # argmin, sum, cumsum, or the array itself

becomes a loop that draws an entry's noise and keeps the largest so far. A released array is released as the list of its
entries: an array is computed from that.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..language.values import Array, Vector
from ..refusals import Refused
from .elements import DIMENSION, NUMPY, Elements, OpenLoop
from .moved_values import refuse_changes
from .shapes import Shape, shape_of
from .statements import Replaced, expression, is_loop, mentions, parsed, stored, times_set, with_first_steps
from .sums import Sums, is_elementwise

HISTOGRAM = "np.histogram", "numpy.histogram"
KEPT = {"argmax": (">", "-inf"), "argmin": ("<", "inf")}
ARRAY, ZEROS, NUMBER = "_dpcert_array", "_dpcert_zeros", "_dpcert_number"


def number_of(value: Any) -> Any:
    """What an array of numbers holds for an entry: not an array, over which numpy would spread it. Raises Refused."""
    if isinstance(value, Array | Vector | list):
        raise Refused("an array of another shape beside an array of the entries")
    return value


def array_of(items: Any) -> Any:
    """numpy.array of a list that a loop has made; the symbolic run leaves it, since what is released is its content."""
    return np.array(items) if type(items) is list else items


def as_loops(
    body: list[ast.stmt],
    data: str,
    rng: str,
    entry: str,
    counted: bool,
    outside: Callable[[ast.AST], bool],
    shape: Shape,
) -> list[ast.stmt]:
    """The function's body with everything that it computes from the data as loops over it. counted: len(data) too.

    outside: whether an expression is a constant number around the function.
    """
    made: list[ast.stmt] = []
    columns = _Columns(data, rng, entry, body)
    columns.shapes[data] = shape
    for statement in with_first_steps(body, data):
        if is_loop(statement, data):
            made += columns.passed(statement)
        else:
            made += columns.statement(statement)
    made = [loop for statement in made for loop in columns.opened(statement)]
    out: list[ast.stmt] = []
    group: list[ast.stmt] = []
    sums = Sums(data, entry, counted, outside)
    for statement in made:
        if is_loop(statement, data):
            out += [*sums.loop(), *group, statement]
            group, sums = [], sums.further()
        else:
            group.append(sums.visit(statement))
    done = [*out, *sums.loop(), *group]
    for name in left_over(columns.named, done):
        raise Refused(f"the array {name!r} is used otherwise than entry by entry")
    return done


def left_over(arrays: Iterable[str], body: list[ast.stmt]) -> list[str]:
    """Those that are still mentioned where their loops have taken their place."""
    return [name for name in arrays if any(mentions(statement, name) for statement in body)]


class _Columns(Elements):
    """Finds arrays that hold something for every entry, and what is computed of them."""

    def __init__(self, data: str, rng: str, entry: str, body: list[ast.stmt]) -> None:
        super().__init__(data, rng, entry)
        self.body = body
        self.whole: set[str] = set()
        self.places: dict[int, OpenLoop] = {}
        self.shapes: dict[str, Shape] = {}
        self.since: dict[int, list[ast.stmt]] = {}

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statement, after the place of its loop if it needs one. Arrays of the entries are as long as the data."""
        lengths = {text: f"len({self.data})" for name in self.named for text in (f"len({name})", f"{name}.shape[0]")}
        statement = Replaced(lengths).visit(statement)
        written, self.loop = copy.deepcopy(statement), None
        made = self._statement(statement)
        if self.loop is not None:
            value, known = getattr(written, "value"), {self.data, self.rng, *self.named, *self.whole}  # noqa: B009
            between = self.since.setdefault(id(self.loop), [])
            refuse_changes(value, between, self.body, known)
            computed = [*parsed(*self.loop.before), *self.loop.body]
            for name in sorted(n for n in stored(between) if any(mentions(part, n) for part in computed)):
                raise Refused(
                    f"{name!r}, with which an array is computed that was begun before: set it before that one"
                )
        self.passed(written)
        return made

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        simple = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr)
        value = getattr(statement, "value", None)
        concerned = value is not None and any(mentions(value, name) for name in (self.data, *self.named, *self.whole))
        if not simple or value is None or not concerned:
            return [statement]
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if isinstance(target, ast.Name) and (made := self._column(value)) is not None:
            if isinstance(value, ast.GeneratorExp):
                raise Refused(f"the generator {target.id!r}, which is empty after its first use")
            self.shapes[target.id] = shape_of(value, self.shapes, self.data) or Shape.UNKNOWN
            if times_set(self.body, target.id) != 1:
                raise Refused(f"the array {target.id!r} is set more than once")
            loop = self._opened()
            self.named[target.id] = loop, self._value(made)
            return self._placed([])
        made_value = self._released(value) if isinstance(statement, ast.Return) else self.visit(value)
        statement.value = made_value  # type: ignore[attr-defined]
        if isinstance(target, ast.Name) and self._is_place(made_value) and times_set(self.body, target.id) == 1:
            self.whole.add(target.id)
        return self._placed([statement])

    def passed(self, statement: ast.stmt) -> list[ast.stmt]:
        """A statement that stands after the loops so far, as it is."""
        for statements in self.since.values():
            statements.append(statement)
        return [statement]

    def opened(self, statement: ast.stmt) -> list[ast.stmt]:
        """What stands at that place."""
        loop = self.places.get(id(statement))
        if loop is None:
            return [statement]
        loop_over = parsed(f"for _dpcert_at, {self.entry} in enumerate({self.data}): pass")[0]
        if not any(mentions(part, "_dpcert_at") for part in loop.body):
            loop_over = parsed(f"for {self.entry} in {self.data}: pass")[0]
        assert isinstance(loop_over, ast.For)
        loop_over.body = loop.body
        return [*parsed(*loop.before), loop_over]

    def _placed(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        if self.loop is None or self.loop in [loop for loop in self.places.values()]:
            return statements
        place = ast.Pass()
        self.places[id(place)] = self.loop
        return [place, *statements]

    def _column(self, node: ast.expr) -> ast.expr | None:
        """What the column holds for the entry, where numpy pairs off its parts entry by entry."""
        made = super()._column(node)
        shape = None if made is None else shape_of(node, self.shapes, self.data)
        if shape not in (Shape.FLAT, Shape.COLUMN):
            return made
        assert made is not None
        return ast.Call(ast.Name(NUMBER, ast.Load()), [made], [])

    def _value(self, made: ast.expr) -> str:
        """The name of the entry's value in the loop's body."""
        name = self._name("value")
        self._opened().add("", f"{name} = {ast.unparse(made)}")
        return name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """np.argmax(column), column.argmax(), sums of columns; list(column), column.tolist()."""
        if ast.unparse(node.func) == "int" and len(node.args) == 1:
            inner = self.visit(node.args[0])
            if self._is_place(inner):
                return inner  # type: ignore[no-any-return]
            node.args = [inner]
            return node
        if ast.unparse(node.func) in HISTOGRAM and node.args and (cells := self._column(node.args[0])) is not None:
            return self._histogram(node, cells)
        held, kind = reduced(node)
        summed = held is not None and not node.keywords and self._plain(held, kind)
        made = None if held is None or summed else self._column(held)
        if made is None:
            return self.generic_visit(node)
        assert held is not None
        if shape_of(held, self.shapes, self.data) in (Shape.TABLE, Shape.UNKNOWN) and not node.keywords:
            raise Refused(f"{ast.unparse(node)} of all entries of all records")
        if kind in ("list", "tolist"):
            return ast.Name(self._listed(made), ast.Load())
        value, result, loop = self._value(made), self._name(kind), self._opened()
        if node.keywords:
            loop.add(f"{result} = {ZEROS}({DIMENSION})", f"{result} = {result} + {value}")
        elif kind in ("sum", "mean"):
            loop.add(f"{result} = 0", f"{result} = {result} + {value}")
        else:
            sign, worst = KEPT[kind]
            best = self._name("best")
            loop.add(f"{best}, {result} = float({worst!r}), -1",
                     f"if {value} {sign} {best}:\n {best}, {result} = {value}, _dpcert_at")  # fmt: skip
        if kind == "mean":
            return expression(f"{result} / len({self.data})")
        return ast.Name(result, ast.Load())

    def _histogram(self, node: ast.Call, cells: ast.expr) -> ast.expr:
        """The counts are sums of those of single entries; the edges are those of no entries."""
        for part in (*node.args[1:], *(each.value for each in node.keywords)):
            if any(mentions(part, name) for name in (self.data, self.rng, *self.named)):
                raise Refused("a histogram whose bins hang on the data or on noise")
        counts = self._name("counts")
        node.args = [ast.List([], ast.Load()), *map(self._once, node.args[1:])]
        for each in node.keywords:
            each.value = self._once(each.value)
        nothing = ast.unparse(node)
        node.args[0] = ast.List([cells], ast.Load())
        self._opened().add(f"{counts} = {nothing}[0]", f"{counts} = {counts} + {ast.unparse(node)}[0]")
        return expression(f"({counts}, {nothing}[1])")

    def _is_place(self, node: ast.expr) -> bool:
        """Whether it is an entry's place, which is a whole number."""
        return isinstance(node, ast.Name) and (node.id in self.whole or node.id.startswith("_dpcert_arg"))

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        made = self._column(node)
        return node if made is None else ast.Name(self._listed(made), ast.Load())

    def _same(self, node: Any) -> Any:
        return node

    visit_Lambda = visit_GeneratorExp = visit_SetComp = visit_DictComp = _same

    def _plain(self, held: ast.expr, kind: str) -> bool:
        """Sums without noise are put together with others (sums.py)."""
        noisy = any(mentions(held, name) for name in (self.rng, *self.named))
        calls = [inner for inner in ast.walk(held) if isinstance(inner, ast.Call)]
        by_place = any(isinstance(inner, ast.Subscript) for inner in ast.walk(held))
        return kind in ("sum", "mean") and not (noisy or by_place) and all(map(is_elementwise, calls))

    def _released(self, node: ast.expr) -> ast.expr:
        """What is returned: columns are listed."""
        if isinstance(node, ast.Tuple):
            node.elts = [self._released(part) for part in node.elts]
            return node
        made = None if isinstance(node, ast.ListComp) else self._column(node)
        if made is None:
            return self.visit(node)  # type: ignore[no-any-return]
        return expression(f"{ARRAY}({self._listed(made)})")

    def _listed(self, made: ast.expr) -> str:
        result = self._name("list")
        self._opened().add(f"{result} = []", f"{result}.append({ast.unparse(made)})")
        return result


def reduced(node: ast.Call) -> tuple[ast.expr | None, str]:
    """(E, what is computed of it), of np.argmax(E), E.argmax(), sum(E), list(E) and so on."""
    module, _, name = ast.unparse(node.func).rpartition(".")
    records = name in ("sum", "mean") and [ast.unparse(each) for each in node.keywords] == ["axis=0"]
    if (node.keywords and not records) or (name not in ("sum", "mean", "tolist", "list") and name not in KEPT):
        return None, name
    of_numpy, by_name = module in NUMPY and name not in ("list", "tolist"), not module and name in ("sum", "list")
    if len(node.args) == 1 and (of_numpy or by_name):
        return node.args[0], name
    if not node.args and isinstance(node.func, ast.Attribute) and name != "list":
        return node.func.value, name
    return None, name
