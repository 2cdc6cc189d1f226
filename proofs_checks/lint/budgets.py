"""Numbers of the claim: a delta that is too large, epochs that were not accounted, epsilons added up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .delta_from_batches import DELTA
from .finding import Slip
from .loaders import last_name
from .named_values import named_values
from .numbers import number
from .script import Script, keyword

COHORT = re.compile(
    r"cohort|clients_per_round|sampled_clients|per_round|batch_?size|lot_?size|min_fit_clients", re.IGNORECASE
)
POPULATION = re.compile(
    r"^(n|num|number_of|total)_(train|examples|samples|records|users|people|clients|rows)$|^(dataset|data|train|population)_size$"
    r"|^n_train$|^population$|^number_of_examples$",
    re.IGNORECASE,
)
EPOCHS_OF = {"make_private_with_epsilon": None, "compute_dp_sgd_privacy": 3, "compute_dp_sgd_privacy_statement": 2}
"""Functions that account for a number of epochs, and its position."""

PER_COHORT = Slip(
    "delta is 1 over the cohort or batch of one round, far above 1 over the number of people protected",
    "take delta well below 1 / (number of people or examples in the whole data)",
)
ADDED = Slip(
    "epsilons are added: get_epsilon already covers everything so far, and a sum of k runs holds at k times delta only",
    "keep one accountant over all runs on the same data, and ask it once",
)


def delta_from_cohort(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """delta = 1 / cohort."""
    for _, value in named_values(script, DELTA):
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and COHORT.search(last_name(value.right)):
            yield value, PER_COHORT


def delta_above_one_over_n(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """A stated delta above 1 over a stated number of examples."""
    sizes = [found for _, value in named_values(script, POPULATION) if (found := number(script, value)) is not None]
    if not sizes or len(set(sizes)) > 1 or sizes[0] < 1:
        return
    for _, value in named_values(script, DELTA):
        found = number(script, value)
        if found is not None and found > 1 / sizes[0]:
            said = f"delta is {found:g}, above 1 over the {sizes[0]:g} protected: one of them may be exposed"
            yield value, Slip(said, f"take delta well below {1 / sizes[0]:.2g}")


def other_epochs(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
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
        tail = script.tail(call)
        if tail in EPOCHS_OF:
            place = EPOCHS_OF[tail]
            given = keyword(call, "epochs") or keyword(call, "num_epochs")
            if given is None and place is not None and len(call.args) > place:
                given = call.args[place]
            if given is not None:
                yield given


def _run(script: Script, node: ast.AST) -> ast.expr | None:
    """The epochs of `for epoch in range(E)`, or of `model.fit(epochs=E)`."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and "epoch" in node.target.id.lower():
        call = node.iter
        while isinstance(call, ast.Call) and call.args and script.tail(call) == "tqdm":
            call = call.args[0]
        if isinstance(call, ast.Call) and script.tail(call) in ("range", "trange") and len(call.args) == 1:
            return call.args[0]
    if isinstance(node, ast.Call) and script.tail(node) == "fit":
        return keyword(node, "epochs")
    return None


def epsilon_added(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """total_epsilon += engine.get_epsilon(delta)."""
    for node in script.nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            behind = script.resolved(node.value)
            if isinstance(behind, ast.Call) and script.tail(behind) in ("get_epsilon", "get_privacy_spent"):
                yield node, ADDED
