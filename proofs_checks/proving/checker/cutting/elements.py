"""What an array with something for every entry holds for one of them, as an expression of that entry."""

from __future__ import annotations

import ast
import copy

from ..refusals import Refused
from .statements import expression, mentions, parsed
from .sums import ELEMENTWISE, Renamed

DIVIDE, DIMENSION = "_dpcert_divide", "_dpcert_dimension"
BY_ROWS = (["axis=1"], ["axis=-1"], ["axis=1", "keepdims=True"], ["axis=-1", "keepdims=True"])
COLUMN = ("(slice(None, None, None), None)", ":, None", ":, np.newaxis", "(:, None)", "(:, np.newaxis)")
"""A number for every record as a column: norms[:, None]."""
NUMPY = "np", "numpy"
NOISES = {"laplace": 2, "gumbel": 2, "normal": 2, "exponential": 1}
"""How many arguments come before the size."""


class OpenLoop:
    """A loop over the data that is being written, at its place in the function."""

    def __init__(self) -> None:
        self.before: list[str] = []
        self.body: list[ast.stmt] = []

    def add(self, before: str, *body: str) -> None:
        self.before += [before] if before else []
        self.body += parsed(*body)


class Elements(ast.NodeTransformer):
    """Elements of arrays over the data: of those that have names, and of expressions. loop: where they are computed."""

    def __init__(self, data: str, rng: str, entry: str) -> None:
        self.data, self.rng, self.entry = data, rng, entry
        self.named: dict[str, tuple[OpenLoop, str]] = {}
        self.loop: OpenLoop | None = None
        self.count = 0

    def _opened(self) -> OpenLoop:
        if self.loop is None:
            self.loop = OpenLoop()
        return self.loop

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"_dpcert_{kind}{self.count}"

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
        if (
            isinstance(node, ast.Subscript)
            and ast.unparse(node.value) == self.data
            and (place := _column_of(node.slice))
        ):
            return expression(f"{self.entry}[{place}]")
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
        if module in NUMPY and name in ("array", "asarray") and len(node.args) == 1 and not node.keywords:
            return self._element(node.args[0])
        summed = node.args[0] if function in ("np.cumsum", "numpy.cumsum") and len(node.args) == 1 else None
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
        if module in NUMPY and name in ELEMENTWISE and not node.keywords:
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
        if not isinstance(node.func, ast.Attribute) or len(node.args) > 1:
            return None
        if node.args and ast.unparse(node.func.value) not in NUMPY:
            return None  # somebody's own function of that name
        held = node.args[0] if node.args else node.func.value
        made = self._element(held)
        return None if made is None else expression(f"({ast.unparse(made)}).sum()")

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
        """A function of constants and len(data), which is the same whenever it is called."""
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


def _column_of(place: ast.expr) -> str:
    """The number of the column, in data[:, 3]."""
    made = ast.unparse(place).removeprefix("(").removesuffix(")").partition(":, ")
    return made[2] if made[0] == "" and made[2].isdecimal() else ""
