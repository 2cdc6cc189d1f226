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

from .first_steps import with_first_steps
from .following import Refused
from .open_loop import OpenLoop
from .reductions import KEPT, reduced
from .statements import is_loop, mentions, parsed, times_set
from .sums import ELEMENTWISE, Renamed, Sums, is_elementwise

ARRAY, ZEROS, DIVIDE, DIMENSION = "_dpcert_array", "_dpcert_zeros", "_dpcert_divide", "_dpcert_dimension"
BY_ROWS = (["axis=1"], ["axis=-1"], ["axis=1", "keepdims=True"], ["axis=-1", "keepdims=True"])
COLUMN = ("(slice(None, None, None), None)", ":, None", ":, np.newaxis", "(:, None)", "(:, np.newaxis)")
"""A number for every record as a column: norms[:, None]."""
NOISES = {"laplace": 2, "gumbel": 2, "normal": 2, "exponential": 1}
"""How many arguments come before the size."""


def array_of(items: Any) -> Any:
    """numpy.array of a list that a loop has made; the symbolic run leaves it, since what is released is its content."""
    return np.array(items) if type(items) is list else items


def as_loops(
    body: list[ast.stmt], data: str, rng: str, entry: str, counted: bool, outside: Callable[[ast.AST], bool]
) -> list[ast.stmt]:
    """The function's body with everything that it computes from the data as loops over it. counted: len(data) too.

    outside: whether an expression is a constant number around the function.
    """
    made: list[ast.stmt] = []
    columns = _Columns(data, rng, entry, body)
    for statement in with_first_steps(body, data):
        if is_loop(statement, data):
            made.append(statement)
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


class _Columns(ast.NodeTransformer):
    """Finds arrays that hold something for every entry, and what is computed of them."""

    def __init__(self, data: str, rng: str, entry: str, body: list[ast.stmt]) -> None:
        self.data, self.rng, self.entry = data, rng, entry
        self.body = body
        self.named: dict[str, tuple[OpenLoop, str]] = {}
        self.whole: set[str] = set()
        self.loop: OpenLoop | None = None
        self.places: dict[int, OpenLoop] = {}
        self.count = 0

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statement, after the place of its loop if it needs one."""
        simple = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr)
        value = getattr(statement, "value", None)
        concerned = value is not None and any(mentions(value, name) for name in (self.data, *self.named, *self.whole))
        if not simple or value is None or not concerned:
            return [statement]
        self.loop = None
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if isinstance(target, ast.Name) and (made := self._column(value)) is not None:
            if times_set(self.body, target.id) != 1:
                raise Refused(f"the array {target.id!r} is set more than once")
            loop = self._opened()
            self.named[target.id] = loop, self._value(made)
            return self._placed([])
        made_value = self._released(value) if isinstance(statement, ast.Return) else self.visit(value)
        statement.value = made_value  # type: ignore[attr-defined]
        if isinstance(target, ast.Name) and self._is_place(made_value):
            self.whole.add(target.id)
        return self._placed([statement])

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

    def _opened(self) -> OpenLoop:
        if self.loop is None:
            self.loop = OpenLoop()
        return self.loop

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"_dpcert_{kind}{self.count}"

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
        held, kind = reduced(node)
        summed = held is not None and not node.keywords and self._plain(held, kind)
        made = None if held is None or summed else self._column(held)
        if made is None:
            return self.generic_visit(node)
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
            return _expression(f"{result} / len({self.data})")
        return ast.Name(result, ast.Load())

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
        return kind in ("sum", "mean") and not noisy and all(map(is_elementwise, calls))

    def _released(self, node: ast.expr) -> ast.expr:
        """What is returned: columns are listed."""
        if isinstance(node, ast.Tuple):
            node.elts = [self._released(part) for part in node.elts]
            return node
        made = None if isinstance(node, ast.ListComp) else self._column(node)
        if made is None:
            return self.visit(node)  # type: ignore[no-any-return]
        return _expression(f"{ARRAY}({self._listed(made)})")

    def _listed(self, made: ast.expr) -> str:
        result = self._name("list")
        self._opened().add(f"{result} = []", f"{result}.append({ast.unparse(made)})")
        return result

    def _column(self, node: ast.expr) -> ast.expr | None:
        """What the column holds for the entry, or None where the expression is none."""
        node, loop = copy.deepcopy(node), self.loop
        made = self._element(node)
        if made is None:
            self.loop = loop
        return made

    def _element(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            (loop, *more) = node.generators
            plain = not more and not loop.ifs and isinstance(loop.target, ast.Name)
            if not plain or ast.unparse(loop.iter) != self.data or mentions(node.elt, self.data):
                return None
            assert isinstance(loop.target, ast.Name)
            return Renamed(loop.target.id, self.entry).visit(node.elt)  # type: ignore[no-any-return]
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) in COLUMN:
            return self._element(node.value)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            node = ast.BinOp(node.left, node.ops[0], node.comparators[0])  # type: ignore[arg-type]
            made = self._element(node)
            return None if made is None else ast.Compare(made.left, [made.op], [made.right])  # type: ignore[attr-defined]
        parts = {ast.BinOp: ("left", "right"), ast.UnaryOp: ("operand",)}.get(type(node), ())
        return self._combined(node, [getattr(node, part) for part in parts], parts)

    def _named(self, node: ast.Name) -> ast.expr | None:
        if node.id == self.data:
            return ast.Name(self.entry, ast.Load())
        if node.id not in self.named:
            return None
        loop, value = self.named[node.id]
        if self.loop not in (None, loop):
            raise Refused("arrays of two loops over the data in one expression")
        self.loop = loop
        return ast.Name(value, ast.Load())

    def _combined(self, node: ast.expr, parts: list[ast.expr], names: tuple[str, ...]) -> ast.expr | None:
        made = [self._element(part) for part in parts]
        if all(part is None for part in made):
            return None
        for name, part, new in zip(names, parts, made, strict=True):
            foreign = any(mentions(part, column) for column in (self.data, self.rng, *self.named))
            if new is None and foreign and ast.unparse(part) != f"len({self.data})":
                raise Refused(f"{ast.unparse(part)} beside an array of the entries")
            setattr(node, name, self._once(part) if new is None else new)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):  # which raises nothing where numpy divides
            return ast.Call(ast.Name(DIVIDE, ast.Load()), [node.left, node.right], [])
        return node

    def _call(self, node: ast.Call) -> ast.expr | None:
        function = ast.unparse(node.func)
        module, _, name = function.rpartition(".")
        if module == self.rng and name in NOISES:
            return self._noise(node, NOISES[name])
        if module in ("np", "numpy") and name in ("array", "asarray") and len(node.args) == 1 and not node.keywords:
            return self._element(node.args[0])
        summed = node.args[0] if function in ("np.cumsum", "numpy.cumsum") and node.args else None
        if summed is None and name == "cumsum" and isinstance(node.func, ast.Attribute) and not node.args:
            summed = node.func.value
        if summed is not None and not node.keywords:
            made = self._element(summed)
            if made is None:
                return None
            running = self._name("running")
            self._opened().add(f"{running} = 0", f"{running} = {running} + {ast.unparse(made)}")
            return ast.Name(running, ast.Load())
        if name == "norm" and module in ("np.linalg", "numpy.linalg"):
            return self._norms(node)
        if name == "reshape" and ast.unparse(node).endswith("(-1, 1)") and isinstance(node.func, ast.Attribute):
            return self._element(node.func.value)
        if name == "sum" and [ast.unparse(each) for each in node.keywords] in BY_ROWS:
            return self._summed_rows(node)
        if module in ("np", "numpy") and name in ELEMENTWISE and not node.keywords:
            held = ast.Tuple(node.args, ast.Load())
            made_parts = [self._element(part) for part in node.args]
            if all(part is None for part in made_parts):
                return None
            node.args = [self._once(a) if new is None else new for a, new in zip(held.elts, made_parts, strict=True)]
            return node
        return None

    def _norms(self, node: ast.Call) -> ast.expr | None:
        """The norm of every record: np.linalg.norm(records, axis=1)."""
        kept = [each for each in node.keywords if each.arg == "ord"]
        others = [ast.unparse(each) for each in node.keywords if each.arg != "ord"]
        made = self._element(node.args[0]) if others in BY_ROWS and node.args else None
        if made is not None:
            node.args[0], node.keywords = made, kept
        return None if made is None else node

    def _summed_rows(self, node: ast.Call) -> ast.expr | None:
        """Of every record the sum of its entries, which is known of squares: (records ** 2).sum(axis=1)."""
        of_method = isinstance(node.func, ast.Attribute) and not node.args
        held = node.func.value if of_method else node.args[0]  # type: ignore[attr-defined]
        made = self._element(held)
        return None if made is None else _expression(f"({ast.unparse(made)}).sum()")

    def _noise(self, node: ast.Call, before: int) -> ast.expr | None:
        """One noise for each entry: the size is that of the data."""
        sizes = [k.value for k in node.keywords if k.arg == "size"] + node.args[before : before + 1]
        known = [f"len({self.data})", f"{self.data}.size", f"{self.data}.shape"]
        if len(sizes) != 1 or ast.unparse(sizes[0]) not in known:
            return None
        node.keywords = [k for k in node.keywords if k.arg != "size"]
        if ast.unparse(sizes[0]).endswith("shape"):  # of records one for every entry of each
            node.keywords.append(ast.keyword("size", ast.Name(DIMENSION, ast.Load())))
        node.args = node.args[:before]
        node.args = [self._once(part) for part in node.args]
        for keyword in node.keywords:
            keyword.value = self._once(keyword.value)
        return node

    def _of_length(self, node: ast.Call | ast.NamedExpr) -> bool:
        """A function of constants and len(data), which is the same whenever it is called (surroundings.py)."""
        if isinstance(node, ast.NamedExpr) or not isinstance(node.func, ast.Name) or node.keywords:
            return False
        return all(isinstance(given, ast.Constant) or ast.unparse(given) == f"len({self.data})" for given in node.args)

    def _once(self, part: ast.expr) -> ast.expr:
        """What is computed once for all entries, before the loop where it calls or sets something."""
        inner = [node for node in ast.walk(part) if isinstance(node, ast.Call | ast.NamedExpr)]
        if all(ast.unparse(node) == f"len({self.data})" or self._of_length(node) for node in inner):
            return part
        name = self._name("once")
        self._opened().add(f"{name} = {ast.unparse(part)}")
        return ast.Name(name, ast.Load())


def _expression(text: str) -> ast.expr:
    made = ast.parse(text).body[0]
    assert isinstance(made, ast.Expr)
    return made.value
