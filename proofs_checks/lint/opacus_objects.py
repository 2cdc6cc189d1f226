"""Opacus: training with what make_private did not return, a new engine every round, a clip that bounds nothing."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from .finding import Slip
from .loaders import last_name
from .named_values import named_values
from .numbers import number
from .sampling_scheme import MAKE_PRIVATE, asks_for_epsilon
from .script import Script, dotted, keyword

ENGINES = ("PrivacyEngine", "RDPAccountant", "PRVAccountant", "GaussianAccountant")
ROUNDS = re.compile(r"round|epoch", re.IGNORECASE)
CLIENT_METHODS = ("fit", "train", "train_round", "local_train")
CLIPS = re.compile(r"^(max_grad_norm|l2_norm_clip|clip_norm|clipping_norm|max_norm)$", re.IGNORECASE)
NO_BOUND = 1e6

STALE = Slip(
    "this is from before make_private, which returned another one: nothing is sampled or noised as epsilon says",
    "go on with what make_private returned, model, optimizer and data loader",
)
RESTARTED = Slip(
    "a new engine or accountant in every round forgets the rounds before: its epsilon is of one round",
    "make it once, before the loop, or keep one record over all rounds",
)
UNBOUNDED = Slip(
    "the clipping norm bounds nothing: one example can change the sum by any amount, or the noise has no scale",
    "clip at a number in the range of the gradients' norms",
)


def used_before_private(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """The loader that is run over, or the optimizer that steps, after make_private returned others."""
    for call in script.calls:
        if script.tail(call) not in MAKE_PRIVATE:
            continue
        kept = _returned(script, call)
        after = script.position(call)[0]
        for name in ("data_loader", "optimizer"):
            given = keyword(call, name)
            if given is None or (old := dotted(given)) is None or old in kept:
                continue
            for node, used in _uses(script, old, name):
                if script.position(node)[0] > after and script.home(used) is script.home(given):
                    yield node, STALE


def _returned(script: Script, call: ast.Call) -> set[str | None]:
    parent = script.parents.get(call)
    targets = parent.targets if isinstance(parent, ast.Assign) else []
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


def engine_each_round(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """An engine made in a loop over rounds or epochs, or in a federated client's method for one round."""
    if not asks_for_epsilon(script):
        return
    for call in script.calls:
        if script.tail(call) in ENGINES and (_in_rounds(script, call) or _in_client(script, call)):
            yield call, RESTARTED


def _in_rounds(script: Script, call: ast.Call) -> bool:
    loops = (loop for loop in script.loops(call) if isinstance(loop, ast.For))
    names = (part.id for loop in loops for part in ast.walk(loop.target) if isinstance(part, ast.Name))
    return any(ROUNDS.search(name) for name in names)


def _in_client(script: Script, call: ast.Call) -> bool:
    method = script.scope(call)
    if not (isinstance(method, ast.FunctionDef) and method.name in CLIENT_METHODS):
        return False
    owner = script.parents.get(method)
    return isinstance(owner, ast.ClassDef) and any("Client" in last_name(base) for base in owner.bases)


def clip_bounds_nothing(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """max_grad_norm=inf, or as good as that."""
    for _, value in named_values(script, CLIPS):
        found = number(script, value)
        if found is not None and (math.isinf(found) or found >= NO_BOUND):
            yield value, UNBOUNDED
