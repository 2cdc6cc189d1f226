"""--plot FILE: whether something can be drawn there, and the file once it is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..mechanisms import InputError
from ..mechanisms.validate import lacks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawable(path: Path) -> None:
    """InputError, before any work, where nothing could be drawn into that file."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise lacks("`--plot`", "matplotlib", "dpcert[report]") from None
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in known:
        raise InputError("--plot", str(path), "an image file: " + ", ".join("." + name for name in known))
    if not path.parent.is_dir():
        raise InputError("--plot", str(path), "a file in a folder that is there")


def saved(figure: Figure, path: Path) -> None:
    """The drawing, in its file."""
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as problem:
        raise InputError("--plot", str(path), f"an image file that can be written ({problem})") from None
