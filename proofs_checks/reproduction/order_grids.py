"""The lists of Renyi orders that tools try.

Historical grids, with where they stood: TF-Privacy 0.5 `compute_dp_sgd_privacy_lib.py`; Opacus 0.9 to 1.x
`RDPAccountant.DEFAULT_ALPHAS` (the same list in TF-Privacy's MNIST tutorials); dp-accounting 0.6
`DEFAULT_RDP_ORDERS`; JAX-Privacy `accounting/analysis.py`, `_DEFAULT_RDP_ORDERS` (2023, 2025); Abadi et al. 2016,
moments up to 32, that is orders 2 to 33.
"""

from __future__ import annotations

from collections.abc import Mapping

_TENTHS = [1 + x / 10 for x in range(1, 100)]
GRIDS: dict[str, tuple[float, ...]] = {
    "moments accountant's integer orders": tuple(float(a) for a in range(2, 34)),
    "TF-Privacy's orders": (
        1.25,
        1.5,
        1.75,
        2.0,
        2.25,
        2.5,
        3.0,
        3.5,
        4.0,
        4.5,
        *map(float, range(5, 64)),
        128,
        256,
        512,
    ),
    "Opacus's orders": (*_TENTHS, *map(float, range(12, 64))),
    "dp-accounting's orders": (*_TENTHS, *map(float, range(11, 64)), 128, 256, 512, 1024),
    "JAX-Privacy's orders": (
        *(1.01 + k * (8 - 1.01) / 49 for k in range(49)),
        *map(float, range(8, 64)),
        *(float(int(65 + k * (512 - 65) / 9)) for k in range(10)),
    ),
}

SOURCE_S = "the source's orders"


def with_source_orders(orders: tuple[float, ...] | None) -> Mapping[str, tuple[float, ...]]:
    """The known grids, and the list of orders that the source names, if it does."""
    return GRIDS if orders is None else {SOURCE_S: tuple(sorted(orders)), **GRIDS}
