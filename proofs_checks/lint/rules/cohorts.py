"""Batches and cohorts that are accounted for as Poisson samples, and are none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..accounting import (
    ACCOUNTING,
    MAKE_PRIVATE,
    POISSON_ACCOUNTANTS,
    POISSON_SOURCES,
    accounts_for_poisson,
    asks_for_epsilon,
)
from ..loaders import HELD_OUT, last_name
from ..rule import Found, Rule, Slip
from ..script import Script, dotted, identifiers, is_constant

AS_FIXED = (
    "account for a cohort of a fixed size (SampledWithoutReplacementDpEvent; dpcert epsilon --sampling fixed-size)"
)
FIXED = Slip("Flower samples a fixed number of clients, and this accounts for Poisson sampling", AS_FIXED)
UNITS = re.compile(
    r"client|cohort|user|chosen|selected|sampled|sample|batch|idx|ind(ices|ex)|picked|participant|subset|members|rows|lot",
    re.IGNORECASE,
)
NOT_TRAINED_ON = re.compile(r"test|val|eval|plot|show|figure|public|holdout|held", re.IGNORECASE)
ORDERS = ("permutation", "randperm", "shuffle")


def fixed_cohort_as_poisson(script: Script) -> Found:
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
        yield node, Slip(f"this draws {how}, and line {line} accounts for Poisson sampling", AS_FIXED)


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
            if any(UNITS.search(name) for name in names) and not any(NOT_TRAINED_ON.search(name) for name in names):
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


FIXED_COHORT_AS_POISSON = Rule(
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
    find=fixed_cohort_as_poisson,
    bad="""import dp_accounting
import flwr as fl
strategy = fl.server.strategy.FedAvg(fraction_fit=0.1)
event = dp_accounting.PoissonSampledDpEvent(0.1, gaussian)  # slip
""",
    good="event = dp_accounting.SampledWithoutReplacementDpEvent(1000, 100, gaussian)",
)


CLIENTS = re.compile(r"client|federat|fed_?avg|cohort|participant|(^|_)users?(_|$)", re.IGNORECASE)
AS_DRAWN = (
    "draw every example independently at each step (Opacus: leave poisson_sampling at True, or use DPDataLoader), "
    "or account for the batches that you draw (dpcert epsilon --sampling shuffle or fixed-size)"
)
SWITCHED_OFF = Slip("epsilon is accounted for Poisson sampling, which poisson_sampling=False switches off", AS_DRAWN)


def poisson_accounting(script: Script) -> Found:
    """Where Opacus is told not to sample, or batches are shuffled next to an accountant for Poisson sampling."""
    yield from _switched_off(script)
    if _samples(script) or any(CLIENTS.search(name) for name in script.names):
        return  # the accountant may count clients, whose own batches need no sampling
    accounting = next((call for call in script.calls if accounts_for_poisson(script, call)), None)
    if accounting is None:
        return
    line = script.position(accounting)[0]
    for call in script.calls:
        how = _how_batched(script, call)
        if how is not None and not _is_held_out(script, call):
            yield call, Slip(f"these batches are {how}, and line {line} accounts for Poisson sampling", AS_DRAWN)


def _switched_off(script: Script) -> Found:
    """make_private(..., poisson_sampling=False), where an epsilon is then asked for (a benchmark does not)."""
    if not asks_for_epsilon(script) or _samples_by_itself(script):
        return
    for call in script.calls:
        given = script.keyword(call, "poisson_sampling")
        if given is not None and script.tail(call) in MAKE_PRIVATE and script.says(call, "poisson_sampling", False):
            loader = script.keyword(call, "data_loader")
            own = loader is not None and any(_loads_its_own_way(script, value) for value in script.values(loader))
            if not own and _accounts_by_default(script, call):
                yield (
                    (given if given in script.parents and script.parents[given] in call.keywords else call),
                    SWITCHED_OFF,
                )


def _accounts_by_default(script: Script, make_private: ast.Call) -> bool:
    """Accountants of other names (registered by the user, matrix mechanisms) may be right without Poisson sampling: is
    the engine of this call, or each of the file's where that is not known, one of those that know Poisson alone?"""
    behind = script.resolved(make_private.func.value) if isinstance(make_private.func, ast.Attribute) else None
    known = isinstance(behind, ast.Call) and script.tail(behind) == "PrivacyEngine"
    engines = [behind] if known else [call for call in script.calls if script.tail(call) == "PrivacyEngine"]
    for call in (*engines, make_private):
        assert isinstance(call, ast.Call)
        if script.keyword(call, "noise_mechanism_config") is not None:
            return False
        if any(named.arg is None and not script.is_known(named.value) for named in call.keywords):
            return False
        given = script.keyword(call, "accountant")
        name = None if given is None else script.resolved(given)
        if name is not None and not (isinstance(name, ast.Constant) and name.value in POISSON_ACCOUNTANTS):
            return False
    return True


def _loads_its_own_way(script: Script, value: ast.expr) -> bool:
    """A DataLoader with its own (batch) sampler may be a Poisson one already; one with all examples is no sampling."""
    if not (isinstance(value, ast.Call) and script.tail(value) == "DataLoader"):
        return False
    own = any(script.keyword(value, name) is not None for name in ("batch_sampler", "sampler"))
    return own or _is_whole_data_set(script, value)


def _is_whole_data_set(script: Script, loader: ast.Call) -> bool:
    size = script.argument(loader, 1, "batch_size")
    behind = None if size is None else script.resolved(size)
    return isinstance(behind, ast.Call) and dotted(behind.func) == "len"


def _samples(script: Script) -> bool:
    """Is there a source of Poisson batches: make_private (which replaces the loader), or a sampler by its name?"""
    private = [call for call in script.calls if script.tail(call) in MAKE_PRIVATE]
    return any(not script.says(call, "poisson_sampling", False) for call in private) or _samples_by_itself(script)


def _samples_by_itself(script: Script) -> bool:
    for call in script.calls:
        tail = script.tail(call)
        if tail in POISSON_SOURCES or script.origin(call.func).rsplit(".", 2)[-2:-1] == ["DPDataLoader"]:
            return True
        if "poisson" in tail.lower() and tail not in (*ACCOUNTING, "compute_mu_poisson"):
            return True
    return False


def _how_batched(script: Script, call: ast.Call) -> str | None:
    """What an accountant for Poisson sampling cannot know: "shuffled" or "cut ..."; None for everything else."""
    if script.tail(call) == "DataLoader":
        if _loads_its_own_way(script, call):
            return None
        if is_constant(script.keyword(call, "shuffle"), True):
            return "shuffled"
        return "of a fixed size, without the last one" if is_constant(script.keyword(call, "drop_last"), True) else None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "batch":
        return "shuffled" if _follows_shuffle(call.func.value) else None
    return None


def _follows_shuffle(receiver: ast.expr) -> bool:
    """dataset.map(f).shuffle(n).repeat() before .batch(...)."""
    while isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute):
        if receiver.func.attr == "shuffle":
            return True
        receiver = receiver.func.value
    return False


def _is_held_out(script: Script, call: ast.Call) -> bool:
    """Bound to a test or validation name, or made of a data set with one."""
    return any(HELD_OUT.search(last_name(part)) for part in (*script.bound_to(call), *call.args[:1]))


POISSON_ACCOUNTING = Rule(
    id="poisson-accounting",
    slip=(
        "Opacus with `poisson_sampling=False`, or an accountant for Poisson sampling next to "
        "`DataLoader(shuffle=True)`, `drop_last=True` or `.shuffle(...).batch(...)`"
    ),
    why=(
        "The accountant assumes that every example joins each batch independently. Shuffled batches need more "
        "noise for the same epsilon."
    ),
    instead="sample each example independently, or account for the batches that you draw",
    find=poisson_accounting,
    bad="""from opacus import PrivacyEngine
engine = PrivacyEngine()
engine.make_private(module=m, data_loader=d, poisson_sampling=False)  # slip
print(engine.get_epsilon(delta=1e-5))
""",
    good="engine.make_private(module=m, data_loader=d)",
)
