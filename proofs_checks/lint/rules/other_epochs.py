"""An accountant that is told other epochs than the loop runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..numbers import number
from ..rule import Found, Rule, Slip
from ..script import Script

EPOCHS_OF = {"make_private_with_epsilon": None, "compute_dp_sgd_privacy": 3, "compute_dp_sgd_privacy_statement": 2}
"""Functions that account for a number of epochs, and its position."""


def find(script: Script) -> Found:
    """An accountant is told other epochs than the loop runs, both being stated numbers."""
    told = {found: node for node in _accounted(script) if (found := number(script, node)) is not None}
    if len(told) != 1:
        return
    ((epochs, _),) = told.items()
    for node in script.nodes:
        runs = _run(script, node)
        found = None if runs is None else number(script, runs)
        if runs is not None and found is not None and found > epochs:
            said = f"{found:g} epochs run, and the accountant was told {epochs:g}: epsilon is of a part of the training"
            yield runs, Slip(said, "give both the same name")


def _accounted(script: Script) -> Iterator[ast.expr]:
    for call in script.calls:
        if (tail := script.tail(call)) in EPOCHS_OF:
            given = script.argument(call, EPOCHS_OF[tail], "epochs", "num_epochs")
            yield from () if given is None else (given,)


def _run(script: Script, node: ast.AST) -> ast.expr | None:
    """The epochs of `for epoch in range(E)`, or of `model.fit(epochs=E)`."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and "epoch" in node.target.id.lower():
        call = node.iter
        while isinstance(call, ast.Call) and call.args and script.tail(call) == "tqdm":
            call = call.args[0]
        if isinstance(call, ast.Call) and script.tail(call) in ("range", "trange") and len(call.args) == 1:
            return call.args[0]
    if isinstance(node, ast.Call) and script.tail(node) == "fit":
        return script.keyword(node, "epochs")
    return None


RULE = Rule(
    id="other-epochs",
    slip="more epochs run than the accountant was told",
    why="Epsilon is then that of a part of the training.",
    instead="one name for both",
    find=find,
    bad="""from opacus import PrivacyEngine
PrivacyEngine().make_private_with_epsilon(module=m, epochs=3, target_epsilon=1)
for epoch in range(5):  # slip
    train()
""",
    good="""from opacus import PrivacyEngine
PrivacyEngine().make_private_with_epsilon(module=m, epochs=5, target_epsilon=1)
for epoch in range(5):
    train()
""",
)
