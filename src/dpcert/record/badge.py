"""A badge: a small picture of a verdict, for a README. It says holds, refuted or undecided, and nothing more."""

from __future__ import annotations

from html import escape

from ..proofs_checks.verification.verdict import COLOURS, Verdict

CHARACTER, MARGIN = 6.6, 9.0


def badge(claimed: str, verdict: Verdict, evidence: str) -> str:
    """An SVG of its own, without fonts or pictures from elsewhere.

    claimed: the number as printed, "epsilon 3". evidence: where a click leads, the certificate or the claim's page.

    >>> picture = badge("epsilon 3", "holds", "../certificates/a.json")
    >>> "holds" in picture and 'href="../certificates/a.json"' in picture and "private" not in picture
    True
    """
    left, right = (CHARACTER * len(text) + 2 * MARGIN for text in (claimed, verdict))
    width = left + right
    words = escape(f"{claimed}: {verdict}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="20" role="img" aria-label="{words}">'
        f'<title>{words}</title><a href="{escape(evidence)}">'
        f'<rect width="{width:.0f}" height="20" rx="3" fill="#3b4350"/>'
        f'<path d="M{left:.0f} 0h{right - 3:.0f}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3:.0f}z"'
        f' fill="{COLOURS[verdict]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:.1f}" y="14">{escape(claimed)}</text>'
        f'<text x="{left + right / 2:.1f}" y="14">{verdict}</text></g></a></svg>\n'
    )
