"""For MkDocs: formulas as formulas.

`$…$` in a line and `$$…$$` on lines of its own become MathML, which browsers show by themselves: no script, no font, no
other server. What latex2mathml does not know is an error, so that no page shows a backslash. An underscore that
follows a bracket stands for itself, as in E_Q(w - u)_+, and begins no emphasis.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from latex2mathml.exceptions import ExtraLeftOrMissingRightError
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.util import ETX, STX

FORMULA = r"(?<![\\$\w])\$(?=\S)([^$]+?)(?<=\S)\$(?![\w$])"
DISPLAYED = r"(?<![\\$\w])\$\$([^$]+?)\$\$(?!\$)"
SUBSCRIPT = r"(?<=[)\]}|'])_"


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
    try:
        found = convert(source, display=display)
    except ExtraLeftOrMissingRightError:
        found = convert(re.sub(r"\\(left|right)\b", "", source), display=display)
    if unknown := re.search(r"\\\w+|&(?=</mi>)", found):
        raise ValueError(f"{unknown[0]} in ${source}$ cannot be shown: write the formula in another way")
    return found


def on_config(config: Any) -> Any:
    config.markdown_extensions.append(Formulas())
    return config
