"""For MkDocs: mathematics that is typed as plain text is shown as mathematics on the pages about papers.

The papers' registers are read in a terminal, too, so their texts say `w_(M+1)^t`, `||grad f||^2 <= 1e-5` and
`(2*C/K)**2`. Here these become subscripts, superscripts and letters. Code, formulas, the targets of links, and the
names of statements, files and variables stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from html.entities import html5
from typing import Any

PAGES = ("papers/", "trainers/findings.md", "dpfedmtl.md")
APART = re.compile(r"<(code|pre|math|script|style)\b.*?</\1>|<[^>]+>", re.DOTALL)
NAME = re.compile(r"https?://\S+|[\w./-]+\.(?:py|md|json|toml|csv|txt)\b|\b[A-Z][A-Z0-9]+(?:-[\w.]+)+")
"""An address, a file, or a statement such as DPFEDMTL-L4.2-box."""

NO_WORD = "alpha|beta|gamma|zeta|eta|theta|kappa|lambda|lam|mu|nu|xi|rho|sigma|tau|phi|chi|psi|omega"
NO_WORD += "|Gamma|Delta|Theta|Pi|Sigma|Phi|Omega"
ANY = f"{NO_WORD}|epsilon|delta"
"""Names of letters; in prose epsilon and delta stay as they are."""

SUB, BUS, SUP, PUS = SCRIPTS = "\ue000\ue001\ue002\ue003"
TAGS = str.maketrans(dict(zip(SCRIPTS, ["<sub>", "</sub>", "<sup>", "</sup>"], strict=True)))


def _letter(name: re.Match[str]) -> str:
    return html5["lambda;" if name[1] == "lam" else f"{name[1]};"]


def _power(number: re.Match[str]) -> str:
    factor, sign, exponent = number.groups()
    return f"{factor + '·' if factor else ''}10{SUP}{sign.strip('+')}{exponent}{PUS}"


END = rf"\w)\]}}|'{BUS}{PUS}"
BASE = rf"(?P<base>(?<![A-Za-z0-9_])(?:[A-Za-z]|df|{ANY}|sum|max|min|grad)|[)\]}}|~*'{BUS}{PUS}])"
INNER = "[^(){}]*"
for _depth in range(4):
    INNER = rf"(?:[^(){{}}]|[({{]{INNER}[)}}])*"
BELOW = rf"\+|-?(?:max|min|bar|heads|{ANY}|\d\d?|[A-Za-z]{{1,2}})(?!\w)(?:'(?!s))?"
ABOVE = r"[+-]?(?:\d+(?:\.\d+)?|[A-Za-z][A-Za-z0-9]*)"
LOW = re.compile(rf"{BASE}_(?:[({{](?P<bracket>{INNER})[)}}]|(?P<token>{BELOW}))")
HIGH = re.compile(rf"(?<=[{END}~*])(?: \*\* |\*\*|\^)(?:[({{](?P<bracket>{INNER})[)}}]|(?P<token>{ABOVE}))")
SIGNS: list[tuple[str, Any]] = [
    (r"(?<![\w.])(?:1|(\d+(?:\.\d+)?))e([+-])0*(\d+)(?!\w|\.\d)", _power),
    (r"\|\|", "‖"),
    *zip(("<=", ">=", "!=", "=="), "≤≥≠=", strict=True),
    (rf"(?<=[{END}]) \* (?=[\w(-])", " · "),
    (rf"(?<=[{END}])\*(?=\w|\((?=[^),]*(?:[-+/(]|\*\w)))", "·"),  # in g*(y) the star is part of the name
    (r"(?<!\w)sqrt(?:\((\w+)\)| ?(?=[\w(]))", lambda m: "√" + (m[1] or "")),
    (rf"(?<!\w)sum(?={SUB})", "∑"),
    (r"([A-Za-z])~(?!\w)", "\\1\u0303"),
    (rf"([A-Za-z]){SUB}bar{BUS}", "\\1\u0304"),
    (rf"([{SUB}{SUP}])-", "\\1\N{MINUS SIGN}"),
    (rf"(?<![A-Za-z0-9_])({NO_WORD})(?!\w|-square)", _letter),
    (r"(?<!\w)lambda(\d)(?!\w)", f"λ{SUB}\\1{BUS}"),
    (r"(?<=epsilon, )delta(?=\))|delta(?=\)-)", "δ"),
    (rf"(?<![A-Za-z0-9_])(epsilon|delta)(?=[{SCRIPTS}(+/·=<>≤≥]| [=<>≤≥/·+] |-DP)", _letter),
    (rf"(?:(?<=[{SUB}{SUP}+/·√≤≥=<>])|(?<=[/·≤≥=<>] )|(?<=/\d ))(epsilon|delta)(?!\w)", _letter),
    (r"(?:(?<=[\w/·]\()|(?<=\()(?=\w+[,;)]))(epsilon|delta)(?!\w)", _letter),
]
"""How it is typed and how it is shown, after subscripts and superscripts."""


def typed(text: str) -> str:
    """HTML of a text without tags."""
    before, text = "", unescape(text)
    while text != before:  # what is in a bracket comes after the bracket
        before = text
        text = LOW.sub(lambda m: f"{m['base']}{SUB}{m[m.lastgroup or 0]}{BUS}", text)
        text = HIGH.sub(lambda m: f"{SUP}{m[m.lastgroup or 0]}{PUS}", text)
    for pattern, sign in SIGNS:
        text = re.sub(pattern, sign, text)
    return escape(text, quote=False).translate(TAGS)


def _between(kept: re.Pattern[str], change: Callable[[str], str], text: str) -> str:
    """The text, changed wherever it is not kept."""
    start, parts = 0, []
    for found in [*kept.finditer(text), None]:
        end = found.start() if found else len(text)
        parts += [change(text[start:end]), found[0] if found else ""]
        start = found.end() if found else end
    return "".join(parts)


def shown(html: str) -> str:
    """HTML whose text shows its mathematics."""
    return _between(APART, lambda text: _between(NAME, typed, text), html)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    return shown(html) if page.file.src_uri.startswith(PAGES) else html
