"""An epsilon that is none of the run: estimated, added up, or after a choice by the data."""

from __future__ import annotations

import ast

from ..accounting import asks_for_epsilon
from ..rule import Found, Rule, Slip
from ..script import Script, is_constant, mentions

CALIBRATIONS = ("get_noise_multiplier", "make_private_with_epsilon")
ESTIMATE = Slip(
    "the GDP accountant's number rests on the central limit theorem: an estimate that can be below the true epsilon",
    'report an upper bound (Opacus: accountant="prv" or "rdp"; else a PLD or RDP accountant), or call it an estimate',
)


def clt_epsilon(script: Script) -> Found:
    """Where a GDP-CLT accountant answers for an epsilon."""
    asked = asks_for_epsilon(script)
    for call in script.calls:
        answers = asked or script.tail(call) in CALIBRATIONS
        if (answers and _is_clt_accountant(script, call)) or _is_clt_conversion(script, call):
            yield call, ESTIMATE


def _is_clt_accountant(script: Script, call: ast.Call) -> bool:
    """Opacus: PrivacyEngine(accountant="gdp"), create_accountant("gdp"), GaussianAccountant()."""
    tail = script.tail(call)
    if tail == "GaussianAccountant":
        return script.origin(call.func).startswith("opacus.")
    if tail == "create_accountant":
        given = script.argument(call, 0, "mechanism")
    elif tail in ("PrivacyEngine", *CALIBRATIONS):
        given = script.keyword(call, "accountant")
    else:
        return False
    return given is not None and is_constant(script.resolved(given), "gdp")


def _is_clt_conversion(script: Script, call: ast.Call) -> bool:
    """tensorflow_privacy's gdp_accountant.compute_eps_*, and eps_from_mu of its compute_mu_*.

    Only where the import says GDP: others give the same names to bounds. A mu reported as a mu is no slip, and
    eps_from_mu of an exact mu is exact.
    """
    origin, tail = script.origin(call.func), script.tail(call)
    if "gdp" not in origin.lower():
        return False
    if tail in ("compute_eps_uniform", "compute_eps_poisson"):
        return True
    return tail == "eps_from_mu" and any(
        isinstance(behind := script.resolved(given), ast.Call)
        and script.tail(behind) in ("compute_mu_uniform", "compute_mu_poisson")
        for given in (*call.args, *(named.value for named in call.keywords))
    )


CLT_EPSILON = Rule(
    id="clt-epsilon",
    slip=(
        'Opacus `accountant="gdp"`, TF-Privacy\'s `gdp_accountant.compute_eps_*`: estimates by the central limit '
        "theorem"
    ),
    why=(
        "The number is an estimate that can be below the true epsilon, for small sampling rates and little noise "
        "by a third and more."
    ),
    instead='an upper bound (`"prv"`, `"rdp"`), or call it an estimate',
    find=clt_epsilon,
    bad="""from opacus import PrivacyEngine
engine = PrivacyEngine(accountant='gdp')  # slip
print(engine.get_epsilon(delta=1e-5))
""",
    good="engine = PrivacyEngine(accountant='prv')",
)


CHOSEN = Slip(
    "training stops on a score of the private data, which is released by when it stops and not accounted for",
    "stop after a number of steps fixed beforehand, on public data, or on a noisy score that is accounted",
)


def early_stopping(script: Script) -> Found:
    """Keras's EarlyStopping on training scores or on a split of the training data; a patience that ends a loop."""
    split = any(
        script.tail(call) == "random_split" or script.keyword(call, "validation_split") is not None
        for call in script.calls
    )
    for call in script.calls:
        if script.tail(call) == "EarlyStopping":
            monitor = script.argument(call, 0, "monitor")
            own = isinstance(monitor, ast.Constant) and not str(monitor.value).startswith("val_")
            if own or split:
                yield call, CHOSEN
    for node in script.nodes if split else ():
        patient = isinstance(node, ast.If) and mentions(node.test, r"patience|no_improve|early_stop|bad_epochs")
        if patient and any(isinstance(part, ast.Break) for part in ast.walk(node)):
            yield node, CHOSEN


EARLY_STOPPING = Rule(
    id="early-stopping",
    slip=(
        "`EarlyStopping` on training scores or a split of the private data; a patience that ends the loop, with "
        "`random_split`"
    ),
    why="When training stops tells something of the private data, which is not accounted for.",
    instead="a number of steps fixed beforehand",
    find=early_stopping,
    bad="""import dp_accounting
model.fit(x, y, validation_split=0.1, callbacks=[EarlyStopping()], noise_multiplier=1.0)  # slip
""",
    good="model.fit(x, y, callbacks=[TensorBoard()], noise_multiplier=1.0)",
)


ADDED = Slip(
    "epsilons are added: get_epsilon already covers everything so far, and a sum of k runs holds at k times delta only",
    "keep one accountant over all runs on the same data, and ask it once",
)


def epsilon_added(script: Script) -> Found:
    """total_epsilon += engine.get_epsilon(delta)."""
    for node in script.nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            behind = script.resolved(node.value)
            if isinstance(behind, ast.Call) and script.tail(behind) in ("get_epsilon", "get_privacy_spent"):
                yield node, ADDED


EPSILON_ADDED = Rule(
    id="epsilon-added",
    slip="`total += engine.get_epsilon(delta)`",
    why=("get_epsilon already covers everything so far; and a sum of k runs' epsilons holds at k times delta only."),
    instead="one accountant, asked once",
    find=epsilon_added,
    bad="""from opacus import PrivacyEngine
total += engine.get_epsilon(delta)  # slip
""",
    good="total = engine.get_epsilon(delta)",
)
