"""Where the experiments' figures are drawn: without a screen, by matplotlib (the `report` extra)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...mechanisms.validate import lacks


def panels(*shape: int, **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, as matplotlib.pyplot.subplots has them. Raises InputError without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise lacks("Drawing", "matplotlib", "dpcert[report]") from error
    mpl.use("Agg")
    from matplotlib import pyplot

    found: tuple[Any, Any] = pyplot.subplots(*shape, **options)
    return found


def saved(figure: Any, file: Path, dpi: int, **layout: Any) -> Path:
    """Write the figure, and let go of it. layout: as for Figure.tight_layout."""
    from matplotlib import pyplot

    figure.tight_layout(**layout)
    figure.savefig(file, dpi=dpi)
    pyplot.close(figure)
    return file
