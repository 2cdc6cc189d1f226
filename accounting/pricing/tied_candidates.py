"""Who wins among tied candidates with Laplace noise: events that neighbours of a noisy maximum show.

A few candidates are tied, and so are all others, at a gap from them. In z = e^y the distribution functions of both are
Laurent polynomials on each side of 1 and of e^gap, so that the integral over the best of the others is a sum.
"""

from __future__ import annotations

from flint import arb, ctx

Terms = dict[int, arb]
"""Coefficients by the power of z."""


_BITS = 256
"""And more where the lead is large: the terms cancel."""


def events(epsilon: float) -> list[tuple[arb, arb]]:
    """(P, Q) that one of the first ones wins, where their lead falls by epsilon: near the largest delta that a search
    over up to six candidates on either side finds, at epsilons from 0 to nine tenths; and near the largest ratio."""
    shapes = [
        (2, 2, epsilon / 2),
        (2, 3, epsilon / 2),
        (2, 3, 0.3 * epsilon),
        (1, 3, 0.25 + 0.35 * epsilon),
        (1, 3, 0.3 + 0.05 * epsilon),
        (1, 4, 0.1 + 0.3 * epsilon),
        (1, 6, 0.1 + 0.3 * epsilon),
        (1, 20, 0.0),
        (1, 1, -4.0 - 4.0 * epsilon),
    ]
    with ctx.workprec(_BITS + 16 * int(min(epsilon, 500.0))):
        return [
            (wins(ours, theirs, arb(lead)), wins(ours, theirs, arb(lead) - arb(epsilon)))
            for ours, theirs, lead in shapes
        ]


def wins(ours: int, theirs: int, lead: arb) -> arb:
    """P(one of `ours` tied candidates, ahead of `theirs` by the lead, has the largest score); noise of scale 1.

    1 - E[F(Y - lead)^ours], Y the best of the others' noise, of density theirs F^(theirs - 1) f.
    """
    at = lead.exp()
    cuts = [(arb(1), at), (at, arb(1))][0 if lead > 0 else 1]
    loses = _part(ours, theirs, at, False, False, None, cuts[0])
    loses += _part(ours, theirs, at, bool(lead > 0), not lead > 0, *cuts)
    return 1 - loses - _part(ours, theirs, at, True, True, cuts[1], None)


def _part(
    ours: int, theirs: int, at: arb, over_theirs: bool, over_ours: bool, start: arb | None, end: arb | None
) -> arb:
    """The integral of theirs F^(theirs - 1) f F(Y - lead)^ours over z from start (None: 0) to end (None: infinity).

    over_theirs, over_ours: whether z is above 1, and above `at`, where F(y) = 1 - 1/(2 z), else z/2.
    """
    half = arb(1) / 2
    density = {-1: theirs * half} if over_theirs else {1: theirs * half}
    of_theirs = {0: arb(1), -1: -half} if over_theirs else {1: half}
    of_ours = {0: arb(1), -1: -half * at} if over_ours else {1: half / at}
    for factor, times in ((of_theirs, theirs - 1), (of_ours, ours)):
        for _ in range(times):
            density = _product(density, factor)
    return sum((c * _power(k, start, end) for k, c in density.items()), arb(0))


def _product(first: Terms, second: Terms) -> Terms:
    found: Terms = {}
    for i, a in first.items():
        for j, b in second.items():
            found[i + j] = found.get(i + j, arb(0)) + a * b
    return found


def _power(k: int, start: arb | None, end: arb | None) -> arb:
    """The integral of z^k dz/z; what ends at 0 has positive powers only, what does not end negative ones."""
    if k == 0:
        assert start is not None
        assert end is not None
        return (end / start).log()
    upper, lower = (arb(0) if each is None else each**k / k for each in (end, start))
    return upper - lower
