"""Where a script draws noise that it adds to an answer or an update: not initial weights, not made-up data.

And which calls make or seed a generator of random numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .loaders import last_name
from .numbers import number
from .privacy_words import LIBRARIES
from .script import Script, mentions

KEYS = ("PRNGKey", "key")
SEEDED = ("default_rng", "RandomState", "Generator", "manual_seed", "Random")
SEEDS = ("manual_seed", "seed", "set_seed", "set_random_seed", "seed_everything")
GLOBALS = {"torch": "torch.manual_seed", "numpy": "numpy.random.seed", "random": "random.seed"}
"""What seeds the generator that a library's own functions draw from."""
SEED_ALL = ("set_seed", "seed_everything", "fix_seed", "fix_seeds")


def seeded_globally(script: Script, call: ast.Call) -> bool:
    """torch.randn_like(g) after torch.manual_seed(0): the seed is that of every draw without a generator."""
    library = script.origin(call.func).partition(".")[0]
    if library not in GLOBALS or script.keyword(call, "generator") is not None:
        return False
    return any(
        (name := script.origin(seeding.func)) == GLOBALS[library] or name.rpartition(".")[2] in SEED_ALL
        for seeding in script.calls
        if literally_seeded(script, seeding)
    )


def literally_seeded(script: Script, call: ast.Call) -> bool:
    """Is the first argument a number that the script states?"""
    given = [*call.args, *(named.value for named in call.keywords)]
    return bool(given) and number(script, given[0]) is not None


DRAWS = (
    *("randn_like", "randn", "normal", "normal_", "normal_like", "standard_normal"),
    *("gauss", "normalvariate", "laplace"),
)
DISTRIBUTIONS = ("Normal", "Laplace", "norm")
"""Of torch, TensorFlow Probability and SciPy: noise is what is drawn from them, by a method."""
FROM = ("sample", "rsample", "rvs")
ADDS = ("add", "add_", "iadd")


MADE = (
    *DRAWS,
    *("rand", "random", "uniform", "randint", "integers", "choice", "permutation", "poisson", "exponential"),
    "binomial",
    *("linspace", "arange", "range", "zeros", "ones", "full", "eye", "meshgrid", "sin", "cos", "exp", "stack", "dot"),
    *("concatenate", "array", "asarray", "tensor", "reshape", "make_regression", "make_classification", "make_blobs"),
)
"""Calls whose results are numbers that the script makes up, where their arguments are too."""
SCALES = r"eps|sens|sigma|noise|clip|delta|priv|budget|max_grad|^b$|^scale$"
LOSSES = re.compile(r"loss|mse|criterion|generator|decoder|model|^net|denois|unet|^G$", re.IGNORECASE)
DATA_TAKERS = ("TensorDataset", "DataLoader", "fit", "from_tensor_slices", "DataFrame")


def noise_draws(script: Script) -> Iterator[ast.Call]:
    """The calls that draw noise which is added to something or called noise, in the tree's order."""
    for call in script.calls:
        if is_a_draw(script, call) and _is_added(script, call) and not _makes_data(script, call):
            yield call


def is_a_draw(script: Script, call: ast.Call) -> bool:
    """randn(...), Normal(0, scale).sample(), norm.rvs(0, scale)."""
    return script.tail(call) in DRAWS or distribution(script, call) is not None


def distribution(script: Script, call: ast.Call) -> ast.Call | None:
    """The call with the parameters of what is drawn from: Normal(0, scale); of norm.rvs(0, scale) itself."""
    if script.tail(call) not in FROM or not isinstance(call.func, ast.Attribute):
        return None
    of = script.resolved(call.func.value)
    if isinstance(of, ast.Call):
        return of if script.tail(of) in DISTRIBUTIONS else None
    return call if last_name(of) in DISTRIBUTIONS else None


def _is_added(script: Script, call: ast.Call) -> bool:
    """Is what is drawn added to something, or called noise? Initial weights and test data are not."""
    node: ast.AST = call
    while isinstance(parent := script.parents.get(node), ast.expr | ast.keyword):
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
            return True
        if isinstance(parent, ast.Call) and node in parent.args and script.tail(parent) in ADDS:
            return True  # g.add_(noise)
        node = parent
    if isinstance(parent, ast.AugAssign):
        return isinstance(parent.op, ast.Add)
    named = [target for target in script.bound_to(node) if mentions(target, r"nois|answer|release")]
    return bool(named) and not any(_is_an_input(script, target) for target in named)


def _is_an_input(script: Script, target: ast.expr) -> bool:
    """noise = randn(...) that a network is given, or is trained to find again, and that is added to no answer."""
    name = last_name(target)
    taken = [call for call in script.calls if any(_is_named(part, name) for part in call.args)]
    added = any(_adds(node, name) for node in script.nodes)
    return bool(taken) and (not added or any(LOSSES.search(script.tail(call)) for call in taken))


def _adds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return any(_is_named(part, name) for part in ast.walk(node))
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        return any(_is_named(part, name) for part in ast.walk(node.value))
    added = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("add_", "add")
    return added and any(_is_named(part, name) for part in ast.walk(node))


def _is_named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and last_name(node) == name


def _makes_data(script: Script, call: ast.Call) -> bool:
    """Noise that belongs to the data: in a function that says that it makes some (make_synthetic_dataset), added to
    numbers that are made up themselves (y = 3 x + noise), or in what a library is then given as its data."""
    scope = script.scope(call)
    name = scope.name if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) else ""
    if re.match(r"_*(load|make|generate|create|get|synthetic|toy)\w*(data|examples|synthetic)", name) is not None:
        return True
    if any(mentions(argument, SCALES) for argument in (*call.args, *(given.value for given in call.keywords))):
        return False
    whole = _expression(script, call)
    others = [part for part in ast.walk(whole) if isinstance(part, ast.Name) and part not in set(ast.walk(call))]
    if all(_is_made_up(script, part) for part in others) and any(_is_drawn(script, part) for part in others):
        return True
    return any(_is_given_as_data(script, target) for target in script.bound_to(whole))


def _expression(script: Script, node: ast.expr) -> ast.expr:
    """The largest expression around the node."""
    while isinstance(parent := script.parents.get(node), ast.expr):
        node = parent
    return node


def _is_made_up(script: Script, name: ast.Name, depth: int = 6) -> bool:
    """A module, or a name for draws, ranges, literals and what is computed of these alone."""
    if name.id in script.imports or name.id in ("len", "range", "int", "float"):
        return True
    values = script.values(name)
    if not values or depth == 0 or all(mentions(value, f"^{re.escape(name.id.lower())}$") for value in values):
        return False
    return all(_all_made_up(script, value, name, depth - 1) for value in values)


def _is_drawn(script: Script, name: ast.Name) -> bool:
    """Bound to draws or a range, not to one number."""
    calls = [part for value in script.values(name) for part in ast.walk(value) if isinstance(part, ast.Call)]
    return any(script.tail(call) in MADE for call in calls)


def _all_made_up(script: Script, value: ast.expr, name: ast.Name, depth: int) -> bool:
    calls = [part for part in ast.walk(value) if isinstance(part, ast.Call)]
    if any(script.tail(call) not in (*MADE, "default_rng", "RandomState", "Generator") for call in calls):
        return False
    names = (part for part in ast.walk(value) if isinstance(part, ast.Name) and part.id != name.id)
    return all(_is_made_up(script, part, depth) for part in names)


def _is_given_as_data(script: Script, target: ast.expr) -> bool:
    name = last_name(target)
    for call in script.calls:
        if any(_is_named(part, name) for part in call.args):
            library = script.origin(call.func).split(".")[0] in LIBRARIES
            if library or script.tail(call) in DATA_TAKERS:
                return True
    return False
