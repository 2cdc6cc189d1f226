"""A new privacy engine or accountant in every round."""

from __future__ import annotations

import ast
import re

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


def find(script: Script) -> Found:
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


RULE = Rule(
    id="engine-each-round",
    slip="a new `PrivacyEngine` or accountant in every round or epoch, or in a client's `fit`",
    why="A new accountant forgets the rounds before, so its epsilon is that of one round.",
    instead="one record over all rounds",
    find=find,
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
