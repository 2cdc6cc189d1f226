"""The largest convex function below finitely many points."""

from __future__ import annotations

import numpy as np

from ...mechanisms.arrays import Floats


def below(points: Floats, at: Floats) -> Floats:
    """Its values at `at`. points: shape (n, 2), sorted; from the smallest abscissa that is asked for to the largest."""
    hull: list[Floats] = []
    for point in points:
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    curve = np.array(hull)
    return np.asarray(np.interp(at, curve[:, 0], curve[:, 1]))


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
