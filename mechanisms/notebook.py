"""Results in notebooks: as they are printed."""

from __future__ import annotations

from html import escape


class InNotebook:
    """A result that a notebook shows as `print` does, in place of its fields.

    >>> from dpcert import convert
    >>> convert("mu", 0.376, "epsilon", delta=1e-5)._repr_html_()[:12]
    '<pre>mu = 0.'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
