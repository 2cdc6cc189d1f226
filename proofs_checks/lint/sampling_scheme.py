"""Accounting for Poisson sampling while the batches are shuffled, or their last one is dropped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .finding import Slip
from .loaders import HELD_OUT, last_name
from .script import Script, dotted, is_constant, keyword

MAKE_PRIVATE = ("make_private", "make_private_with_epsilon")
ASK_EPSILON = ("get_epsilon", "get_privacy_spent", "make_private_with_epsilon")
POISSON_ACCOUNTANTS = ("rdp", "prv", "gdp")
ACCOUNTING = (
    "PoissonSampledDpEvent",
    "compute_dp_sgd_privacy",
    "PoissonSubsampledGaussianMechanism",
    "compute_eps_poisson",
)
POISSON_SOURCES = (
    "DPDataLoader",
    "from_data_loader",
    "UniformWithReplacementSampler",
    "DistributedUniformWithReplacementSampler",
)
CLIENTS = re.compile(r"client|federat|fed_?avg|cohort|participant|(^|_)users?(_|$)", re.IGNORECASE)
REMEDY = (
    "draw every example independently at each step (Opacus: leave poisson_sampling at True, or use DPDataLoader), "
    "or account for the batches that you draw (dpcert epsilon --sampling shuffle or fixed-size)"
)
SWITCHED_OFF = Slip("epsilon is accounted for Poisson sampling, which poisson_sampling=False switches off", REMEDY)


def poisson_accounting_of_other_batches(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """Where Opacus is told not to sample, or batches are shuffled next to an accountant for Poisson sampling."""
    if _samples(script):
        return
    yield from _switched_off(script)
    if any(CLIENTS.search(name) for name in script.names):
        return  # the accountant may count clients, whose own batches need no sampling
    accounting = next((call for call in script.calls if _accounts_for_poisson(script, call)), None)
    if accounting is None:
        return
    line = script.position(accounting)[0]
    for call in script.calls:
        how = _how_batched(script, call)
        if how is not None and not _is_held_out(script, call):
            yield call, Slip(f"these batches are {how}, and line {line} accounts for Poisson sampling", REMEDY)


def asks_for_epsilon(script: Script) -> bool:
    """Does the script ask an accountant for an epsilon?"""
    return any(script.tail(call) in ASK_EPSILON for call in script.calls)


def _switched_off(script: Script) -> Iterator[tuple[ast.AST, Slip]]:
    """make_private(..., poisson_sampling=False), where an epsilon is then asked for (a benchmark does not)."""
    if not asks_for_epsilon(script) or not _default_accountants_only(script):
        return
    for call in script.calls:
        given = keyword(call, "poisson_sampling")
        if script.tail(call) in MAKE_PRIVATE and is_constant(given, False):
            loader = keyword(call, "data_loader")
            if loader is None or not any(_loads_its_own_way(script, value) for value in script.values(loader)):
                yield given or call, SWITCHED_OFF


def _default_accountants_only(script: Script) -> bool:
    """Accountants of other names (registered by the user, matrix mechanisms) may be right without Poisson sampling."""
    for call in script.calls:
        given = keyword(call, "accountant")
        if script.tail(call) == "PrivacyEngine" and given is not None:
            name = script.resolved(given)
            if not (isinstance(name, ast.Constant) and name.value in POISSON_ACCOUNTANTS):
                return False
        if any(named.arg in ("noise_mechanism_config", None) for named in call.keywords) and (
            script.tail(call) in ("PrivacyEngine", *MAKE_PRIVATE)
        ):
            return False
    return True


def _loads_its_own_way(script: Script, value: ast.expr) -> bool:
    """A DataLoader with its own (batch) sampler may be a Poisson one already; one with all examples is no sampling."""
    if not (isinstance(value, ast.Call) and script.tail(value) == "DataLoader"):
        return False
    own = any(keyword(value, name) is not None for name in ("batch_sampler", "sampler"))
    return own or _is_whole_data_set(script, value)


def _is_whole_data_set(script: Script, loader: ast.Call) -> bool:
    size = keyword(loader, "batch_size") or (loader.args[1] if len(loader.args) > 1 else None)
    behind = None if size is None else script.resolved(size)
    return isinstance(behind, ast.Call) and dotted(behind.func) == "len"


def _samples(script: Script) -> bool:
    """Is there a source of Poisson batches: make_private (which replaces the loader), or a sampler by its name?"""
    for call in script.calls:
        tail = script.tail(call)
        if tail in MAKE_PRIVATE and not is_constant(keyword(call, "poisson_sampling"), False):
            return True
        if tail in POISSON_SOURCES or script.origin(call.func).rsplit(".", 2)[-2:-1] == ["DPDataLoader"]:
            return True
        if "poisson" in tail.lower() and tail not in (*ACCOUNTING, "compute_mu_poisson"):
            return True
    return False


def _accounts_for_poisson(script: Script, call: ast.Call) -> bool:
    """Not where the rate is 1: then all batches are the whole data set, however they are drawn."""
    tail = script.tail(call)
    if tail in ACCOUNTING:
        return True
    rate = keyword(call, "q") or keyword(call, "sample_rate")
    if rate is not None and is_constant(script.resolved(rate), 1.0):
        return False
    if tail == "compute_rdp":
        library = script.origin(call.func).split(".")[0] in ("opacus", "tensorflow_privacy", "dp_accounting")
        return library or rate is not None
    return tail == "step" and rate is not None and keyword(call, "noise_multiplier") is not None


def _how_batched(script: Script, call: ast.Call) -> str | None:
    """What an accountant for Poisson sampling cannot know: "shuffled" or "cut ..."; None for everything else."""
    if script.tail(call) == "DataLoader":
        if _loads_its_own_way(script, call):
            return None
        if is_constant(keyword(call, "shuffle"), True):
            return "shuffled"
        return "of a fixed size, without the last one" if is_constant(keyword(call, "drop_last"), True) else None
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
    parent = script.parents.get(call)
    names = [last_name(target) for target in parent.targets] if isinstance(parent, ast.Assign) else []
    names += [last_name(argument) for argument in call.args[:1]]
    return any(HELD_OUT.search(name) for name in names)
