"""The rows on how the terms of Theorems 3 and 5 depend on each parameter; evidence: dependence.py."""

from __future__ import annotations

from ..row import Kind, Row, Statement
from . import dependence as evidence

_NOISE, _GAP, _START = "noise in the gradient", "noise in F - F*", "start"
_9 = "Section 4.3, Theorem 3, (9)"
_12 = "Section 4.3, Theorem 5, (12)"


def _says(term: str, parameter: str, value: float) -> str:
    if value == 0:
        return f"The {term} does not depend on {parameter}."
    return f"The {term} goes like ({parameter})^{value:g}."


def _row(
    name: str, place: str, term: str, parameter: str, printed: float, true: float | None = None, note: str = ""
) -> Row:
    """true: the exponent that is found, where the printed one is not. A stated exponent is spoilt by 0.05 or 5%."""
    where = {"term": term, "parameter": parameter}
    text = _says(term, parameter, printed) + (f" ({note})" if note else "")
    other = printed * 0.95 if printed else 0.05
    told = {
        "id": f"PMTL-{name}",
        "place": place,
        "printed": Statement(text, {"exponent": printed}, where),
    }
    if true is None:
        told["spoilt"] = Statement(_says(term, parameter, other), {"exponent": other}, where)
    else:
        told["repaired"] = Statement(_says(term, parameter, true), {"exponent": true}, where)
    return Row(paper="pmtl", kind=Kind.TRAINER, evidence=evidence.exponent, **told)  # type: ignore[arg-type]


ROWS = (
    _row("T3-T", f"{_9}: O(lambda/T)", _START, "T", -1),
    _row("T3-start-lambda", f"{_9}: O(lambda/T)", _START, "lambda", 1, note="eta in proportion to 1/(L + lambda)"),
    _row("T3-start-E", f"{_9}: O(lambda/T), T local steps", _START, "E", 0),
    _row("T3-start-m", "Appendix A.2, Theorem 6, (29): (1/m) sum (f_k - f_k*)", _START, "m", 0),
    _row("T6-31-start", "Appendix A.2, (31): first term, T proportional to m", _START, "m, T ~ m", -1),
    _row(
        "T6-29-p",
        "Appendix A.2, Theorem 6, (29): O(lambda/p^2) in the first term, at a step that does not depend on p",
        _START,
        "p",
        -2,
        -1,
        note="the theorem's own step is proportional to p",
    ),
    _row("T3-sigma", f"{_9}: O(d lambda sigma^2/E)", _NOISE, "sigma", 2),
    _row("T3-d", f"{_9}: O(d lambda sigma^2/E)", _NOISE, "d", 1),
    _row("T3-lambda", f"{_9}: O(d lambda sigma^2/E)", _NOISE, "lambda", 1, 2, note="for lambda above L; (29) has 2"),
    _row("T3-E", f"{_9}: O(d lambda sigma^2/E), with w~ reset to the mean", _NOISE, "E", -1),
    _row("T3-noise-T", f"{_9}: O(d lambda sigma^2/E), with w~ reset to the mean", _NOISE, "T", 0),
    _row(
        "T6-29-m",
        "Appendix A.2, Theorem 6, (29): O(.../(mE)) sigma^2",
        _NOISE,
        "m",
        -1,
        0,
        note="at fixed sigma: all clients read the same noise, as (9) and (76) have it",
    ),
    _row(
        "T6-29-noise-p",
        "Appendix A.2, Theorem 6, (29): O(d lambda^2/p^2) sigma^2, at a step that does not depend on p, E = 8",
        _NOISE,
        "p",
        -2,
        -1,
        note="the theorem's own step is proportional to p",
    ),
    _row(
        "T6-77",
        "Appendix A.2, (77), against (10) and (31): sigma by Theorem 1, T proportional to m",
        _NOISE,
        "m, T ~ m",
        0,
        -1,
    ),
    _row("conv-noise", "Section 4.3, after (11): more tasks, smaller bound", _NOISE, "m, T ~ m", -1),
    _row("conv-epsilon", "Section 4.3, after (11): inversely proportional to epsilon", _NOISE, "epsilon", -1, -2),
    _row("ALG-b", "Algorithm 1, line 8 as printed, against (9), (12): sigma fixed", _GAP, "T, as printed", 0, 1),
    _row("ALG-b-reset", "Algorithm 1 with w~ reset to the mean, against (9), (12): sigma fixed", _GAP, "T", 0),
    _row("T5-sigma", f"{_12}: O(d lambda sigma^2)", _GAP, "sigma", 2),
    _row("T5-d", f"{_12}: O(d lambda sigma^2)", _GAP, "d", 1),
    _row("T5-lambda", f"{_12}: O(d lambda sigma^2)", _GAP, "lambda", 1),
    _row("T5-E", f"{_12}: 2^E/(2^E - 1) for large E", _GAP, "E", 0),
    _row("T5-m", f"{_12}: O(d lambda sigma^2)", _GAP, "m", 0),
    _row("T5-13", "Section 4.3, Theorem 5, (13): sigma by Theorem 1, T proportional to m", _GAP, "m, T ~ m", -1),
    _row("T5-epsilon", "Section 4.3, Theorem 5, (13): log(1/delta)/epsilon^2", _GAP, "epsilon", -2),
    _row(
        "T5-start-m",
        f"{_12}: O(1/(2^T m)), against (79): Delta_0/m, a mean over clients",
        "start of F - F*",
        "m",
        -1,
        0,
    ),
    Row(
        id="PMTL-T5-T",
        paper="pmtl",
        place=f"{_12}: O(2^-T), T local steps",
        kind=Kind.TRAINER,
        evidence=evidence.shrinking,
        printed=Statement("F - F* halves in every local step.", {"factor": "2^-E"}),
        repaired=Statement(
            "It shrinks by (1 - b mu/(mu + lambda))^2 a round, b = 1 - (1 - eta (mu + lambda))^E, L = mu.",
            {"factor": "(1 - b mu/(mu + lambda))^2"},
        ),
    ),
)
"""The rows on exponents and rates."""
