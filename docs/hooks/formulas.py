"""For MkDocs: formulas as formulas.

`$…$` in a line and `$$…$$` on lines of its own become MathML, which browsers show by themselves: no script, no font, no
other server. What latex2mathml does not know is an error, so that no page shows a backslash. An underscore that
follows a bracket stands for itself, as in E_Q(w - u)_+, and begins no emphasis.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from latex2mathml.exceptions import ExtraLeftOrMissingRightError
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.util import ETX, STX

FORMULA = r"(?<![\\$\w])\$(?=\S)([^$]+?)(?<=\S)\$(?![\w$])"
DISPLAYED = r"(?<![\\$\w])\$\$([^$]+?)\$\$(?!\$)"
SIDES = {"l": "left", "r": "right"}
TAG = "{http://www.w3.org/1998/Math/MathML}"
SCRIPTED = (TAG + "msub", TAG + "msup", TAG + "msubsup")
SUBSCRIPT = r"(?<=[)\]}|'])_"

ElementTree.register_namespace("", TAG.strip("{}"))


class Formulas(Extension):
    """Between code, which comes before, and backslashes, which come after."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(Formula(DISPLAYED, md, "block"), "displayed formula", 186)
        md.inlinePatterns.register(Formula(FORMULA, md, "inline"), "formula", 185)
        md.inlinePatterns.register(Subscript(SUBSCRIPT, md), "subscript", 184)


class Subscript(InlineProcessor):
    """An underscore after a bracket, as it is."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:
        return f"{STX}{ord('_')}{ETX}", m.start(0), m.end(0)


class Formula(InlineProcessor):
    """One formula, kept from whatever reads the text afterwards. display: "inline" or "block"."""

    def __init__(self, pattern: str, md: Markdown, display: str) -> None:
        super().__init__(pattern, md)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:
        source = re.sub(r"\\([|])", r"\1", " ".join(m.group(1).split()))
        return self.md.htmlStash.store(mathml(source, self.display)), m.start(0), m.end(0)


def mathml(source: str, display: str = "inline") -> str:
    """A part of a printed formula may open a bracket that it does not close. ValueError: a command is unknown."""
    bars = re.sub(r"(?<!left)(?<!right)\\([lr])([vV]ert)\b", lambda m: f"\\{SIDES[m[1]]}\\{m[1]}{m[2]}", source)
    try:
        found = convert(bars, display=display)
    except ExtraLeftOrMissingRightError:
        found = convert(re.sub(r"\\(left|right)\b", "", source), display=display)
    if unknown := re.search(r"\\\w+|&(?=</mi>)", found):
        raise ValueError(f"{unknown[0]} in ${source}$ cannot be shown: write the formula in another way")
    return _spaced(found)


def _spaced(formula: str) -> str:
    """A name such as log is parted from what it is applied to, which browsers do not do by themselves."""
    root = ElementTree.fromstring(formula)
    for row in root.iter(TAG + "mrow"):
        for name, argument in reversed(list(pairwise(row))):
            base = name[0] if name.tag in SCRIPTED else name
            if base.tag == TAG + "mi" and len(base.text or "") > 1 and argument.tag not in (TAG + "mo", TAG + "mspace"):
                row.insert(list(row).index(argument), ElementTree.Element(TAG + "mspace", width="0.17em"))
    return ElementTree.tostring(root, encoding="unicode")


def on_config(config: Any) -> Any:
    config.markdown_extensions.append(Formulas())
    return config
