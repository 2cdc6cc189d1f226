"""Ends that cut off what is out of reach (docs/certificates.md, 3.3), against quadrature and closed forms."""

from __future__ import annotations

import mpmath as mp
import pytest
from cases import few
from flint import arb, ctx, fmpq
from forger import changed, told
from weakened_checker import weakened

from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.certificates.certificate import proved
from dpcert.proofs_checks.certificates.checker import bounds, transforms
from dpcert.proofs_checks.certificates.checker.format import End
from dpcert.proofs_checks.certificates.checker.pairs import Pair

MU, P, REACH = mp.mpf("1.5"), mp.mpf("0.01"), mp.mpf("2.5")


def number(ball: arb) -> mp.mpf:
    return mp.mpf(ball.mid().str(30, radius=False))


def density(x, shift, p=P):
    """Of (1 - p) N(0) + p N(shift), relative to N(0)."""
    return 1 - p + p * mp.exp(shift * x - shift**2 / 2)


def place(shift, reach):
    """Where that loss is."""
    return shift / 2 + mp.log((mp.exp(reach) - 1 + P) / P) / shift


def over(f, start, end):
    inner = [point for point in (-2, 0, MU / 2, 3 * MU / 2, 3, 4) if start < point < end]
    return mp.quad(lambda x: mp.npdf(x) * f(x), [start, *inner, end])


def moment(order, t, reach):
    """E_P[e^{tL}] of what is within reach, from section 3.2."""

    def remove(x):
        return density(x, MU) ** (1 + t)

    def add(x):
        return density(x, MU) ** -t

    reach, near = place(2 * MU, reach), place(MU, reach)
    if order in ("remove", "add"):
        return over(remove if order == "remove" else add, -near, near)
    if order == "replace":
        return over(lambda x: density(x, MU) ** (1 + t) * density(x, -MU) ** -t, -near, near)
    if order == "hybrid":
        atom = (1 - P) * (mp.ncdf(MU / 2) - mp.ncdf(-MU / 2))
        return atom + over(remove, MU / 2, near) + over(add, MU / 2, near)
    atom, far = (1 - P) * (mp.ncdf(MU / 2) - mp.ncdf(-3 * MU / 2)), 3 * MU / 2
    if order == "zeroed remove":
        twice = over(lambda x: density(x, 2 * MU) ** (1 + t) * density(x, MU) ** -t, far, reach)
        return atom + twice + over(add, MU / 2, near)
    once = over(lambda x: density(x, MU) ** (1 + t) * density(x, 2 * MU) ** -t, far, reach)
    return atom + once + over(remove, MU / 2, near)


ORDERS = ("remove", "add", "replace", "hybrid", "zeroed remove", "zeroed add")


def cut(order, reach=REACH, mu=MU, p=P):
    return transforms.cut_off(Pair(arb(str(mu)), order=order, p=arb(str(p))), arb(str(reach)))


@pytest.mark.parametrize("order", few(ORDERS, 4))
def test_the_transform_is_of_what_is_within_reach(order):
    with ctx.workprec(192):
        (on_axis, _), (off_axis, _) = transforms.line(cut(order), arb(3)).at(arb("0.5"), 2)
    assert abs(number(on_axis.real) - moment(order, mp.mpf(3), REACH)) < mp.mpf("1e-12")
    above = moment(order, mp.mpc(3, "0.5"), REACH)
    assert abs(mp.mpc(number(off_axis.real), number(off_axis.imag)) - above) < mp.mpf("1e-12")


@pytest.mark.parametrize("order", few(ORDERS, 4))
def test_what_is_cut_off_is_at_least_what_is_missing(order):
    missing = 1 - moment(order, mp.mpf(0), REACH)
    assert missing < number(cut(order).lost) < 5 * missing + mp.mpf("1e-12")


def test_beyond_the_axis_what_is_within_reach_stays_below_its_bound():
    with ctx.workprec(192):
        line = transforms.line(cut("remove"), arb(3))
        for s in (1, 4, 16):
            assert abs(moment("remove", mp.mpc(3, s), REACH)) <= number(line.beyond(arb(s)).upper())


def test_an_interval_without_anything_in_it_is_refused():
    with pytest.raises(ValueError, match="within reach"):
        transforms.line(cut("hybrid", mp.mpf("0")), arb(3))


RATE = mp.mpf("1e-4")


def once(epsilon):
    """delta of one round, at rate 1e-4: what the coin leaves of the Gaussian profile (Balle, Barthe, Gaboardi 2018)."""
    level = mp.log(1 + (mp.exp(epsilon) - 1) / RATE)
    return RATE * (mp.ncdf(MU / 2 - level / MU) - mp.exp(level) * mp.ncdf(-MU / 2 - level / MU))


def test_one_rare_round_lies_between_its_ends():
    product = {"x": [(Pair(arb("1.5"), order="remove", p=arb("1e-4")), 1)]}
    end = End("x", "inversion", fmpq(4), fmpq(1, 2), 150, fmpq(6), fmpq(7, 20), fmpq(5, 4))
    with ctx.workprec(192):
        low, high = (number(bounds.delta_bound(product, end, arb("0.4"), upper)) for upper in (False, True))
    truth = once(mp.mpf("0.4"))
    assert low < truth < high < 1.15 * low


def rare(reach, rounds=2000):
    """A bound at epsilon = 2 of 518,000 of 1e10 sequences in each round, noise multiplier .614."""
    product = {"x": [(Pair(1 / arb("0.614"), order="remove", p=arb("5.18e-5")), rounds)]}
    end = End("x", "chernoff", fmpq(11), fmpq(0), 0, fmpq(0), None, reach)
    with ctx.workprec(192):
        return number(bounds.delta_bound(product, end, arb(2), True))


def test_rare_rounds_have_a_moment_within_reach():
    assert rare(fmpq(12, 5)) < 1e-10
    assert rare(fmpq(12)) > 1
    assert rare(fmpq(4, 5)) > 1e-9, "what is cut off counts"
    assert rare(None) > 1


def statement(rounds):
    claim = {"title": "T", "source": "S", "unit": "client", "epsilon": "2", "epsilon_interval": None, "delta": "1e-10"}
    claim |= {"notion": "dp", "neighbouring": "add-remove", "participation": "hidden"}
    sampling = {"scheme": "poisson", "population": 10**10, "cohort": 518_000, "sampling_rate": None}
    phase = {"mechanism": {"kind": "gaussian", "noise_multiplier": "0.614"}, "sampling": sampling, "rounds": rounds}
    issued = {"dpcert": "0", "date": "2026-01-01", "claim_sha256": None}
    return {"format": "dpcert-certificate-2", "issued": issued, "claim": claim, "phases": [phase]}


def end(direction, **found):
    return {"direction": direction, "method": "chernoff", "h": "0", "terms": 0, "beyond": "0", "split": None, **found}


def sealed(epsilon, reach):
    """A certificate that epsilon is at most this, by Chernoff's bound of what is within reach."""
    document = told(
        statement(2000),
        ("0", epsilon),
        [end("add", c="18"), end("remove", c="11", reach=reach)],
        None,
        "holds",
        epsilon,
    )
    return document


def test_a_proof_about_rare_rounds_is_believed():
    assert checker.check(sealed("2", "2.4")).ok


@pytest.mark.nightly
def test_a_claim_about_rare_rounds_is_proved():
    """From both sides to a thousandth, where the accountants find [1.18379, 1.1838]."""
    document = proved(statement(2000), 1.18379, 1.1838)
    assert checker.check(document).ok
    assert float(document["interval"]["epsilon_lower"]) > 1.182
    assert float(document["interval"]["epsilon_upper"]) < 1.186
    for field, value in (("reach", "2.2"), ("reach", "8"), ("reach", None), ("c", "12"), ("terms", 900)):
        places = [each["direction"] for each in document["evidence"]["upper"]]
        changes = ("evidence", "upper", places.index("remove"), field), ("evidence", "lower", field)
        assert not any(checker.check(changed(document, path, value)).ok for path in changes)


def test_a_checker_that_forgets_what_is_cut_off_believes_too_much(tmp_path):
    """The truth is 1.1838."""
    false = sealed("1.1", "0.0003")
    assert weakened(tmp_path, {"lost=2 * sum(tails, ZERO)": "lost=ZERO"}).check(false).ok
    assert "not proved" in checker.check(false).reason


def test_a_checker_that_takes_what_is_cut_off_for_a_loss_refutes_too_much(tmp_path):
    proof = end("remove", c="0", reach="0.05") | {"method": "mixture", "phases": [0]}
    false = told(statement(2000), ("3", "inf"), [], proof, "refuted", "2")
    assert weakened(tmp_path, {"lost(product) if upper else ZERO": "lost(product)"}).check(false).ok
    assert "not proved" in checker.check(false).reason


def test_a_tail_of_the_unit_that_is_not_there_is_not_enough(tmp_path):
    faulty = weakened(tmp_path, {"pair.p * tail_of(r - mu)": "pair.p * tail_of(r)"})
    pair = faulty.pairs.Pair(arb("1.5"), order="remove", p=arb("0.01"))
    assert number(faulty.transforms.cut_off(pair, arb(str(REACH))).lost) < 1 - moment("remove", mp.mpf(0), REACH)
