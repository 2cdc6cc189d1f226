"""Numbers of the central limit theorem (GDP accountants) reported as epsilon: estimates, which can be too small."""

from __future__ import annotations

import ast

from ..accounting import asks_for_epsilon
from ..rule import Found, Rule, Slip
from ..script import Script, is_constant

CALIBRATIONS = ("get_noise_multiplier", "make_private_with_epsilon")
SLIP = Slip(
    "the GDP accountant's number rests on the central limit theorem: an estimate that can be below the true epsilon",
    'report an upper bound (Opacus: accountant="prv" or "rdp"; else a PLD or RDP accountant), or call it an estimate',
)


def find(script: Script) -> Found:
    """Where a GDP-CLT accountant answers for an epsilon."""
    asked = asks_for_epsilon(script)
    for call in script.calls:
        answers = asked or script.tail(call) in CALIBRATIONS
        if (answers and _is_clt_accountant(script, call)) or _is_clt_conversion(script, call):
            yield call, SLIP


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


RULE = Rule(
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
    find=find,
    bad="""from opacus import PrivacyEngine
engine = PrivacyEngine(accountant='gdp')  # slip
print(engine.get_epsilon(delta=1e-5))
""",
    good="engine = PrivacyEngine(accountant='prv')",
)
