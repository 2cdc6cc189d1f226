"""All rows, paper by paper."""

from __future__ import annotations

from ...mechanisms import InputError
from .row import Paper, Row

PAPERS: dict[Paper, str] = {
    "pmtl": "Hu, Wu, Smith: Private Multi-Task Learning (TMLR 2023)",
    "pmtl-jdp": "Private Multi-Task Learning (the earlier version under review, joint differential privacy)",
    "dpfedmtl": "Wu, Chen, Wang: A Theoretical Perspective on Differentially Private Federated Multi-task Learning",
    "mocha": "Smith, Chiang, Sanjabi, Talwalkar: Federated Multi-Task Learning (MOCHA, NeurIPS 2017)",
}


def register(paper: str | None = None, only: str | None = None) -> tuple[Row, ...]:
    """The rows of one paper, one row by its id (in any case), or all. Raises InputError for unknown names."""
    rows = _all_rows()
    if paper is not None:
        if paper not in PAPERS:
            raise InputError("--paper", paper, "one of " + ", ".join(PAPERS))
        rows = tuple(row for row in rows if row.paper == paper)
    if only is None:
        return rows
    found = tuple(row for row in rows if row.id.casefold() == only.casefold())
    if not found:
        raise InputError("--only", only, _ids_like(only, rows))
    return found


def _all_rows() -> tuple[Row, ...]:
    from . import dpfedmtl, mocha, pmtl

    return (*pmtl.rows(), *dpfedmtl.rows(), *mocha.rows())


def _ids_like(asked: str, rows: tuple[Row, ...]) -> str:
    import difflib

    close = difflib.get_close_matches(asked.casefold(), [row.id.casefold() for row in rows], n=3, cutoff=0.4)
    ids = [row.id for row in rows if row.id.casefold() in close]
    return "an id of the register" + (", such as " + ", ".join(ids) if ids else "; `dpcert papers` lists them")
