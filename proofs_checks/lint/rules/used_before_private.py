"""Opacus: training with what make_private did not return."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..accounting import MAKE_PRIVATE
from ..rule import Found, Rule, Slip
from ..script import Script, dotted

STALE = Slip(
    "this is from before make_private, which returned another one: nothing is sampled or noised as epsilon says",
    "go on with what make_private returned, model, optimizer and data loader",
)


def find(script: Script) -> Found:
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


RULE = Rule(
    id="used-before-private",
    slip="running over the loader, or stepping the optimizer, from before `make_private`",
    why=(
        "make_private returns a new model, optimizer and loader; the old ones neither sample nor add noise as "
        "epsilon says."
    ),
    instead="what `make_private` returned",
    find=find,
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
