"""What shifts of noise cost: epsilon, or rho where all that is shifted is Gaussian."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from .alignment_pieces import Piece
from .farkas import Prover
from .forms import Form, Sign
from .noise import GAUSSIAN, KINDS, noise_of, support, weight
from .pairs import Data
from .refusals import Refused


def of_its_sort(piece: Piece, data: Data) -> None:
    """Records are shifted by records, and numbers by numbers; nothing else hangs on records. Raises Refused.

    A bound that hangs on no record is one for records, too: sum a_i v_i has at most the norm sum |a_i| |v_i|, which
    numbers v_i of the same sizes and the right signs attain.
    """
    noise = {f"n{k}" for k, (kind, _) in enumerate(piece.draws) if kind in KINDS and KINDS[kind].vector}
    records = data.vectors | noise | {f"abs:{name}" for name in data.vectors}
    for (kind, _), shift in zip(piece.draws, piece.shifts, strict=False):
        if kind in KINDS and KINDS[kind].vector:
            fits = shift.slopes.keys() <= data.vectors and not shift.at_zero
        else:
            fits = records.isdisjoint(shift.slopes)
        if not fits:
            raise Refused("noise of records that is shifted by numbers, or noise that is shifted by records")
    others = [*piece.bounds, *(sign.form for sign in (*piece.source, *piece.target))]
    if any(not records.isdisjoint(form.slopes) for form in others):
        raise Refused("a condition or bound that hangs on a record")


def drawn(piece: Piece) -> list[Sign]:
    """Noise lies where it has mass."""
    return [sign for k, draw in enumerate(piece.draws) for sign in support(*draw, Form.variable(f"n{k}"))]


def shifted(
    prover: Prover, known: list[Sign], piece: Piece, data: Data, bounds: Sequence[Form | Fraction], notion: str
) -> Iterator[tuple[int, str, str]]:
    """The noise that is paid for, each with its place, kind and scale: shown to be shifted by at most its bound.

    notion: "dp", in which Gaussian noise is not shifted, or "zcdp", in which no other is. Raises Refused.
    """
    if not len(piece.draws) == len(piece.shifts) == len(bounds):
        raise Refused("not one shift and one bound for every noise")
    for k, ((kind, scale), shift, bound) in enumerate(zip(piece.draws, piece.shifts, bounds, strict=True)):
        if kind not in KINDS:
            raise Refused(f"{kind} noise")
        _shiftable(kind, shift, piece, data)
        if not shift.slopes and not shift.at_zero:
            continue
        if (kind in GAUSSIAN) != (notion == "zcdp"):
            what = "no pure epsilon" if kind in GAUSSIAN else "of which rho is not known"
            raise Refused(f"{kind} noise is shifted: {what}")
        if KINDS[kind].priced:
            if not all(prover.entails(known, Sign(form, False)) for form in _limits(kind, shift, bound)):
                raise Refused(f"a shift may be larger than its bound, for the output {piece.key}")
            yield k, kind, scale


def costs(prover: Prover, pieces: list[Piece], data: Data, epsilon: Fraction) -> None:
    """Of each piece at most epsilon, wherever it applies. A part is a black box that is scale-DP, and puts out the same
    on the neighbour."""
    for piece in pieces:
        known = [*data.facts, *drawn(piece), *piece.source, *_sizes(piece, data)]
        parts = [Fraction(scale) for kind, scale in piece.draws if kind == "part"]
        total = Form(None, epsilon - sum(parts, Fraction(0)))
        for k, kind, scale in shifted(prover, known, piece, data, piece.bounds, "dp"):
            total = total.plus(piece.bounds[k], -weight(kind, Fraction(scale)))
        _affordable(prover, known, total, epsilon, piece)


def gaussian_costs(prover: Prover, pieces: list[Piece], data: Data, rho: Fraction) -> None:
    """Gaussian noise alone is shifted, by the same vector whatever the output: the mechanism is a function of noise
    N(0, scale^2), on the neighbour the same function of that noise moved, which is sum shift^2 / (2 scale^2)-zCDP (Bun,
    Steinke 2016, arXiv 1605.02065, Proposition 1.6 and Lemma 1.8). shift^2 <= cap * bound, both at least |shift|.
    """
    for one, other in itertools.combinations(pieces, 2):
        shifts = [noise_of(piece.draws, piece.shifts) for piece in (one, other)]
        alike = noise_of(one.draws, one.draws) == noise_of(other.draws, other.draws)
        alike = alike and all(a.same(b) for a, b in zip(*shifts, strict=True))
        elsewhere = [sign for sign in (*one.source, *other.source) if not sign.form.noisy]
        if not alike and not prover.contradictory([*data.facts, *elsewhere]):
            raise Refused(f"Gaussian noise is shifted otherwise for the outputs {one.key} and {other.key}")
    for piece in pieces:
        if any(shift.noisy for shift in piece.shifts):
            raise Refused("rho is proved of shifts that do not depend on noise")
        if len(piece.caps) != len(piece.draws) or any(kind == "part" for kind, _ in piece.draws):
            raise Refused("a piece without caps, or with a part of which rho is not known")
        of_data = [sign for sign in piece.source if not sign.form.noisy]
        known = [*data.facts, *of_data, *_sizes(piece, data)]
        total = Form(None, rho)
        for k, _, scale in shifted(prover, known, piece, data, piece.bounds, "zcdp"):
            if not prover.entails(known, Sign(piece.caps[k] - piece.bounds[k], False)):
                raise Refused(f"a bound that may be larger than its cap, for the output {piece.key}")
            total = total.plus(piece.bounds[k], -piece.caps[k] / (2 * Fraction(scale) ** 2))
        _affordable(prover, known, total, rho, piece)


def _affordable(prover: Prover, known: list[Sign], left: Form, budget: Fraction, piece: Piece) -> None:
    if not prover.entails(known, Sign(left, False)):
        raise Refused(f"the shifts may cost more than {budget}, for the output {piece.key}")


def step_cost(
    prover: Prover, data: Data, known: list[Sign], piece: Piece, bounds: Sequence[Fraction], scaled: bool, notion: str
) -> Form:
    """What one step of an induction costs: its shifted noise is possible noise, no shift is larger than its bound.

    scaled: N times that, so that noise with a scale proportional to N, the number of entries, has a constant price. Of
    zCDP it is shift^2 / (2 scale^2) (Bun, Steinke 2016, Proposition 1.6), and budgets that hang on what was released
    before add up (Feldman, Zrnic 2021, arXiv 2008.11193).
    """
    if any(bound < 0 for bound in bounds) or (scaled and notion == "zcdp"):
        raise Refused("a bound on a size that is negative, or a rho that is counted by entries")
    if any(kind == "part" for kind, _ in piece.draws):
        raise Refused("part noise in an induction")
    there, paid = [*known, *drawn(piece)], Form()
    for k, draw in enumerate(piece.draws):
        arrival = [piece.moved(sign.form) for sign in support(*draw, Form.variable(f"n{k}"))]
        if not all(prover.entails(there, Sign(form, False)) for form in arrival):
            raise Refused("a shift that leaves the noise's support")
    for k, kind, scale in shifted(prover, there if notion == "dp" else known, piece, data, bounds, notion):
        if notion == "dp":
            paid = paid + step_weight(kind, scale, scaled).scaled(bounds[k])
        else:
            paid = paid + bounds[k] ** 2 / (2 * Fraction(scale) ** 2)
    return paid


def _sizes(piece: Piece, data: Data) -> list[Sign]:
    """|x| is at least x and -x, at most its largest value; only said where a bound needs it."""
    found = []
    for name in sorted(data.ends):
        if any(f"abs:{name}" in bound.slopes for bound in piece.bounds):
            size, itself, (low, high) = Form.variable(f"abs:{name}"), Form.variable(name), data.ends[name]
            found += [size - itself, size + itself]
            found += [] if low is None or high is None else [max(-low, high) - size]
    return [Sign(form, False) for form in found]


def _shiftable(kind: str, shift: Form, piece: Piece, data: Data) -> None:
    """What may be shifted: integers by integers, whatever the data; and nothing by what is computed of noise."""
    if not KINDS[kind].shifted and (shift.slopes or shift.at_zero):
        raise Refused(f"what is no noise ({kind}) is shifted")
    integral = all(name in data.whole and slope.denominator == 1 for name, slope in shift.slopes.items())
    if KINDS[kind].whole and (not integral or shift.at_zero.denominator != 1):
        raise Refused("discrete noise is shifted by what need not be a whole number")
    computed = {f"n{k}" for k, (other, _) in enumerate(piece.draws) if not KINDS[other].shifted}
    if not computed.isdisjoint(shift.slopes):
        raise Refused("noise is shifted by what is computed of noise")


def step_weight(kind: str, scale: str, scaled: bool) -> Form:
    """What a shift by 1 costs, or N times that."""
    factor, hangs_on_entries, _ = scale.partition("*N")
    if hangs_on_entries and not scaled:
        raise Refused("noise that hangs on the number of entries, where costs do not")
    price = weight(kind, Fraction(factor)) if KINDS[kind].priced else Fraction(0)
    return Form({"N": price}) if scaled and not hangs_on_entries else Form(None, price)


def _limits(kind: str, shift: Form, bound: Form | Fraction) -> list[Form]:
    """What must not be negative for the bound to be one: of noise that is one-sided, shifts go up only."""
    upper = bound - shift
    limits = [upper] if KINDS[kind].one_sided else [upper, shift + bound]
    return [*limits, shift] if KINDS[kind].upwards else limits
