"""Planted bugs: broken mechanisms that an auditor must catch, each with a correct twin that it must not."""

from .additive import CASES as _ADDITIVE
from .case import Planted
from .choosing import CASES as _CHOOSING
from .clipping import CASES as _CLIPPING
from .dpfedmtl import CASES as _DPFEDMTL
from .floating_point import CASES as _FLOATING_POINT
from .local_reports import cases as _local_reports
from .private_selection import CASES as _PRIVATE_SELECTION
from .public_ranges import cases as _public_ranges
from .rounds import cases as _rounds
from .sparse_vector import CASES as _SPARSE_VECTOR


def catalogue() -> tuple[Planted, ...]:
    """All planted cases."""
    return (
        *_ADDITIVE,
        *_CLIPPING,
        *_SPARSE_VECTOR,
        *_rounds(),
        *_FLOATING_POINT,
        *_DPFEDMTL,
        *_CHOOSING,
        *_local_reports(),
        *_public_ranges(),
        *_PRIVATE_SELECTION,
    )


__all__ = ["Planted", "catalogue"]
