"""Privacy engines: several where one counts, and what runs before it is made private."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..accounting import MAKE_PRIVATE, asks_for_epsilon
from ..loaders import last_name
from ..rule import Found, Rule, Slip
from ..script import Loop, Script, dotted, identifiers

ENGINES = ("PrivacyEngine", "RDPAccountant", "PRVAccountant", "GaussianAccountant")
ROUNDS = re.compile(r"round|epoch", re.IGNORECASE)
CLIENT_METHODS = ("fit", "train", "train_round", "local_train")
RESTARTED = Slip(
    "a new engine or accountant in every round forgets the rounds before: its epsilon is of one round",
    "make it once, before the loop, or keep one record over all rounds",
)


def engine_each_round(script: Script) -> Found:
    """An engine made in a loop over rounds or epochs, or in a federated client's method for one round."""
    if not asks_for_epsilon(script):
        return
    for call in script.calls:
        again = _in_rounds(script, call) or _in_client(script, call) or _goes_on_with_a_model(script, call)
        if script.tail(call) in ENGINES and again:
            yield call, RESTARTED


def _in_rounds(script: Script, node: ast.AST, depth: int = 3) -> bool:
    """In a loop over rounds or epochs, or in a function of this file that such a loop calls."""
    if any(_is_over_rounds(loop) for loop in script.loops(node)):
        return True
    function = script.scope(node)
    if depth == 0 or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    if _is_handed_out(script, node, function):
        return False
    calls = (call for call in script.calls if (dotted(call.func) or "").rpartition(".")[2] == function.name)
    return any(_in_rounds(script, call, depth - 1) for call in calls)


def _goes_on_with_a_model(script: Script, engine: ast.Call) -> bool:
    """In a loop, whatever it counts, in which model = ... make_private(module=model) takes what it gave before."""
    for loop in script.loops(engine):
        body = list(ast.walk(loop))
        for assigned in (node for node in body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            assert isinstance(assigned.value, ast.Call)
            model = script.keyword(assigned.value, "module")
            if script.tail(assigned.value) not in MAKE_PRIVATE or not isinstance(model, ast.Name):
                continue
            bound = [node for node in body if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
            if [node.id for node in bound].count(model.id) == 1 and model.id in _names_in(assigned.targets):
                return True
    return False


def _names_in(targets: list[ast.expr]) -> set[str]:
    """All names that are bound."""
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def _is_over_rounds(loop: Loop) -> bool:
    if isinstance(loop, ast.While):
        return any(ROUNDS.search(name) for name in identifiers(loop.test))
    return any(ROUNDS.search(name) for part in (loop.target, loop.iter) for name in identifiers(part))


def _is_handed_out(script: Script, node: ast.AST, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """make_engine() returns what it makes: whoever calls it may keep it."""
    names = [dotted(target) for target in script.bound_to(node)]
    returned = [part for part in ast.walk(function) if isinstance(part, ast.Return) and part.value is not None]
    return any(node in ast.walk(part) or dotted(part.value) in names for part in returned if part.value is not None)


def _in_client(script: Script, call: ast.Call) -> bool:
    method = script.scope(call)
    if not (isinstance(method, ast.FunctionDef) and method.name in CLIENT_METHODS):
        return False
    owner = script.parents.get(method)
    return isinstance(owner, ast.ClassDef) and any("Client" in last_name(base) for base in owner.bases)


ENGINE_EACH_ROUND = Rule(
    id="engine-each-round",
    slip="a new `PrivacyEngine` or accountant in every round or epoch, or in a client's `fit`",
    why="A new accountant forgets the rounds before, so its epsilon is that of one round.",
    instead="one record over all rounds",
    find=engine_each_round,
    bad="""from opacus import PrivacyEngine
for epoch in range(10):
    engine = PrivacyEngine()  # slip
    print(engine.get_epsilon(delta=1e-5))
""",
    good="""from opacus import PrivacyEngine
engine = PrivacyEngine()
for epoch in range(10):
    print(engine.get_epsilon(delta=1e-5))
""",
)


Key = tuple[object, str]
APART = Slip(
    "two privacy engines train on the same data, and each counts its own steps only: what both models reveal together "
    "costs more than either epsilon",
    "use one engine for both, give the second one the first one's accountant, or compose both runs",
)


def two_engines(script: Script) -> Found:
    """engine.make_private(data_loader=loader), and the same with another engine, both of which may run."""
    if not asks_for_epsilon(script) or _is_shared(script):
        return
    seen: list[tuple[ast.Call, ast.Call, Key]] = []
    for call in sorted((call for call in script.calls if script.tail(call) in MAKE_PRIVATE), key=script.position):
        engine, data = _engine(script, call), _data(script, call)
        if engine is None or data is None:
            continue
        before = [other for other, made, its in seen if made is not engine and its == data]
        if any(not _exclude_each_other(script, other, call) for other in before):
            yield call, APART
        seen.append((call, engine, data))


def _is_shared(script: Script) -> bool:
    """second.accountant = first.accountant."""
    stored = (node for node in script.nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return any(node.attr == "accountant" for node in stored)


def _engine(script: Script, call: ast.Call) -> ast.Call | None:
    """The PrivacyEngine(...) of which the method is called: the last one before it that the name is bound to."""
    if not isinstance(call.func, ast.Attribute):
        return None
    owner = call.func.value
    made = [owner] if isinstance(owner, ast.Call) else script.values(owner)
    engines = [each for each in made if isinstance(each, ast.Call) and script.tail(each) == "PrivacyEngine"]
    return max((each for each in engines if each.lineno <= call.lineno), key=script.position, default=None)


def _data(script: Script, call: ast.Call) -> Key | None:
    """What is trained on: the loader's data set where the file makes the loader, else the loader's own name."""
    loader = script.keyword(call, "data_loader")
    if loader is None:
        return None
    made = [loader] if isinstance(loader, ast.Call) else script.values(loader)
    loaders = [each for each in made if isinstance(each, ast.Call) and script.tail(each) == "DataLoader"]
    if len(loaders) == 1:
        given = script.argument(loaders[0], 0, "dataset")
        loader = loader if given is None else given
    name = dotted(loader)
    return None if name is None else (script.home(loader), name)


def _exclude_each_other(script: Script, earlier: ast.AST, later: ast.AST) -> bool:
    """Whether at most one of them runs: they are in different branches, or the earlier one's branch returns."""
    first, second = _branches(script, earlier), _branches(script, later)
    if any(parent in second and second[parent] is not branch for parent, branch in first.items()):
        return True
    together = script.scope(earlier) is script.scope(later)
    left = [branch for parent, branch in first.items() if parent not in second and together]
    return any(isinstance(branch[-1], ast.Return | ast.Raise) for branch in left)


def _branches(script: Script, node: ast.AST) -> dict[ast.If, list[ast.stmt]]:
    """The branch that the node is in, of each `if` around it."""
    found: dict[ast.If, list[ast.stmt]] = {}
    while (parent := script.parents.get(node)) is not None:
        if isinstance(parent, ast.If) and node is not parent.test:
            found[parent] = parent.body if node in parent.body else parent.orelse
        node = parent
    return found


TWO_ENGINES = Rule(
    id="two-engines",
    slip="`first.make_private(data_loader=loader)`, then `second.make_private(data_loader=loader)`",
    why=(
        "An engine's accountant knows the steps of its own optimizer. Two models that are trained on the same people "
        "and are both released cost what both runs cost together."
    ),
    instead="one engine, or a shared accountant, for all that is released of the same data",
    find=two_engines,
    bad="""from opacus import PrivacyEngine
first, second = PrivacyEngine(), PrivacyEngine()
a, oa, la = first.make_private(module=a, optimizer=oa, data_loader=loader)
b, ob, lb = second.make_private(module=b, optimizer=ob, data_loader=loader)  # slip
print(first.get_epsilon(1e-5), second.get_epsilon(1e-5))
""",
    good="""from opacus import PrivacyEngine
engine = PrivacyEngine()
a, oa, la = engine.make_private(module=a, optimizer=oa, data_loader=loader)
b, ob, lb = engine.make_private(module=b, optimizer=ob, data_loader=loader)
print(engine.get_epsilon(1e-5))
""",
)


STALE = Slip(
    "this is from before make_private, which returned another one: nothing is sampled or noised as epsilon says",
    "go on with what make_private returned, model, optimizer and data loader",
)


def used_before_private(script: Script) -> Found:
    """The loader that is run over, or the optimizer that steps, after make_private returned others."""
    for call in script.calls:
        if script.tail(call) not in MAKE_PRIVATE:
            continue
        kept = _returned(script, call)
        after = script.position(call)[0]
        for name in ("data_loader", "optimizer"):
            given = script.keyword(call, name)
            if given is None or (old := dotted(given)) is None or old in kept:
                continue
            for node, used in _uses(script, old, name):
                if script.position(node)[0] > after and script.home(used) is script.home(given):
                    yield node, STALE


def _returned(script: Script, call: ast.Call) -> set[str | None]:
    targets = script.bound_to(call)
    return {dotted(part) for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])}


def _uses(script: Script, old: str, kind: str) -> Iterator[tuple[ast.AST, ast.expr]]:
    """(what uses it, its name there)"""
    for node in script.nodes:
        called = node.func if kind == "optimizer" and isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and dotted(called) == f"{old}.step":
            yield node, called.value
        if kind == "data_loader" and isinstance(node, ast.For):
            over = node.iter.args[0] if isinstance(node.iter, ast.Call) and node.iter.args else node.iter
            if dotted(over) == old:
                yield node, over


USED_BEFORE_PRIVATE = Rule(
    id="used-before-private",
    slip="running over the loader, or stepping the optimizer, from before `make_private`",
    why=(
        "make_private returns a new model, optimizer and loader; the old ones neither sample nor add noise as "
        "epsilon says."
    ),
    instead="what `make_private` returned",
    find=used_before_private,
    bad="""from opacus import PrivacyEngine
model, private_optimizer, loader = PrivacyEngine().make_private(
    module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0)
optimizer.step()  # slip
""",
    good="""from opacus import PrivacyEngine
model, optimizer, loader = PrivacyEngine().make_private(
    module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0)
optimizer.step()
""",
)
