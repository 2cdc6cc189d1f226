"""A cohort or batch of a fixed size that is accounted as if every unit had been drawn independently."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..accounting import ACCOUNTING
from ..rule import Found, Rule, Slip
from ..script import Script, identifiers

REMEDY = "account for a cohort of a fixed size (SampledWithoutReplacementDpEvent; dpcert epsilon --sampling fixed-size)"
FIXED = Slip("Flower samples a fixed number of clients, and this accounts for Poisson sampling", REMEDY)
UNITS = re.compile(
    r"client|cohort|user|chosen|selected|sampled|sample|batch|idx|ind(ices|ex)|picked|participant|subset|members|rows|lot",
    re.IGNORECASE,
)
HELD_OUT = re.compile(r"test|val|eval|plot|show|figure|public|holdout|held", re.IGNORECASE)
ORDERS = ("permutation", "randperm", "shuffle")


def find(script: Script) -> Found:
    """A Poisson accountant beside Flower's sampled clients, or beside a fixed number drawn by hand in each round."""
    accounting = [call for call in script.calls if _accounts(script, call)]
    if not accounting:
        return
    if any(origin.split(".")[0] == "flwr" for origin in script.imports.values()) and any(
        script.keyword(call, name) is not None
        for call in script.calls
        for name in ("fraction_fit", "num_sampled_clients")
    ):
        yield from ((call, FIXED) for call in accounting)
    if any(_flips_coins(script, node) for node in script.nodes):
        return
    line = script.position(accounting[0])[0]
    for node, how in _drawn_by_hand(script):
        yield node, Slip(f"this draws {how}, and line {line} accounts for Poisson sampling", REMEDY)


def _accounts(script: Script, call: ast.Call) -> bool:
    rate = script.keyword(call, "sample_rate") or script.keyword(call, "q")
    stepped = script.tail(call) in ("step", "compute_rdp") and rate is not None
    return script.tail(call) in ACCOUNTING or stepped or _is_our_poisson(script, call)


def _is_our_poisson(script: Script, call: ast.Call) -> bool:
    return script.origin(call.func) in ("dpcert.Poisson", "dpcert.mechanisms.Poisson")


def _flips_coins(script: Script, node: ast.AST) -> bool:
    """rng.random(n) < rate, rng.binomial(...), a Bernoulli draw or a Poisson sampler: the cohort may be those."""
    if isinstance(node, ast.Call):
        tail = script.tail(node)
        return tail in ("binomial", "bernoulli", "bernoulli_", "Bernoulli") or (
            "poisson" in tail.lower() and tail not in ACCOUNTING and not _is_our_poisson(script, node)
        )
    if not isinstance(node, ast.Compare):
        return False
    sides = (script.resolved(side) for side in (node.left, *node.comparators))
    return any(isinstance(side, ast.Call) and script.tail(side) in ("random", "rand", "uniform") for side in sides)


def _drawn_by_hand(script: Script) -> Iterator[tuple[ast.AST, str]]:
    """(what draws, how), for draws in a loop or a function, of what is called clients, users, batches or indices."""
    for call in script.calls:
        how = _how(script, call)
        if how is not None and (script.loops(call) or script.scope(call) is not script.tree):
            names = list(_names_around(script, call))
            if any(UNITS.search(name) for name in names) and not any(HELD_OUT.search(name) for name in names):
                yield call, how


def _how(script: Script, call: ast.Call) -> str | None:
    origin, tail = script.origin(call.func), script.tail(call)
    if tail == "sample" and len(call.args) + len(call.keywords) >= 2 and (origin == "random.sample" or "." in origin):
        return "a fixed number without replacement" if origin == "random.sample" else None
    if tail == "choices" and origin == "random.choices":
        return "a fixed number with replacement"
    if tail == "choice":
        size = script.argument(call, 1, "size", "shape")
        if size is None:
            return None
        return f"a fixed number {'without' if script.says(call, 'replace', False) else 'with'} replacement"
    parent = script.parents.get(call)
    cut = isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Slice) and parent.value is call
    return "the first of a random order, a fixed number" if tail in ORDERS and cut else None


def _names_around(script: Script, call: ast.Call) -> Iterator[str]:
    """The names in the call, of what it is bound to, and of what a loop over it is called."""
    yield from identifiers(call)
    node: ast.AST = call
    while isinstance(parent := script.parents.get(node), ast.expr | ast.comprehension):
        node = parent
    if isinstance(parent, ast.Assign):
        for target in parent.targets:
            yield from identifiers(target)
    elif isinstance(parent, ast.For):
        yield from identifiers(parent.target)


RULE = Rule(
    id="fixed-cohort-as-poisson",
    slip=(
        "Flower's sampled clients, `random.sample(clients, k)`, `rng.choice(n, k, replace=False)` or "
        "`permutation(n)[:k]` before an accountant for Poisson sampling"
    ),
    why=(
        "With a fixed number drawn without replacement one unit's presence displaces another. When a unit is "
        "replaced, the cost can be several times that of Poisson sampling."
    ),
    instead="`SampledWithoutReplacementDpEvent`, or draw every unit independently",
    find=find,
    bad="""import dp_accounting
import flwr as fl
strategy = fl.server.strategy.FedAvg(fraction_fit=0.1)
event = dp_accounting.PoissonSampledDpEvent(0.1, gaussian)  # slip
""",
    good="event = dp_accounting.SampledWithoutReplacementDpEvent(1000, 100, gaussian)",
)
