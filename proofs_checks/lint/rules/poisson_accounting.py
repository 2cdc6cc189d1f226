"""Accounting for Poisson sampling while the batches are shuffled, or their last one is dropped."""

from __future__ import annotations

import ast
import re

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
from ..script import Script, dotted, is_constant

CLIENTS = re.compile(r"client|federat|fed_?avg|cohort|participant|(^|_)users?(_|$)", re.IGNORECASE)
REMEDY = (
    "draw every example independently at each step (Opacus: leave poisson_sampling at True, or use DPDataLoader), "
    "or account for the batches that you draw (dpcert epsilon --sampling shuffle or fixed-size)"
)
SWITCHED_OFF = Slip("epsilon is accounted for Poisson sampling, which poisson_sampling=False switches off", REMEDY)


def find(script: Script) -> Found:
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
            yield call, Slip(f"these batches are {how}, and line {line} accounts for Poisson sampling", REMEDY)


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


RULE = Rule(
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
    find=find,
    bad="""from opacus import PrivacyEngine
engine = PrivacyEngine()
engine.make_private(module=m, data_loader=d, poisson_sampling=False)  # slip
print(engine.get_epsilon(delta=1e-5))
""",
    good="engine.make_private(module=m, data_loader=d)",
)
