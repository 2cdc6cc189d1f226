"""Whether PMTL's Algorithm 1 as printed diverges, predicted before training.

In a direction of curvature a of the local losses, one client's E gradient steps of size eta on
l_k + (lambda/2) ||w - w~||^2 move it a share b = 1 - (1 - eta (a + lambda))^E of the way to its minimiser, which
follows w~ with the factor rho = lambda / (a + lambda). Averaged over cohorts of rate p = q/m, the distances of w~ and
of the mean model v from the optimum then obey
    w~ <- w~ + b (rho w~ - v),      v <- v + p b (rho w~ - v),
a matrix with the eigenvalues 1 (every w~ has its own fixed point: nothing ties w~ to the mean model) and
1 + b (rho - p). So the printed form diverges, on average, where rho > p: in flat directions always, unless q = m.
The published code's form (Pmtl) replaces the first equation by w~ <- b rho w~ + (1 - b) v, which is stable where local
training is. `growth_matrix` has all three forms.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, count, nonnegative, positive, rate

Form = Literal["as-printed", "reference", "increments"]
FORMS: tuple[Form, ...] = ("as-printed", "reference", "increments")


def growth_matrix(
    form: Form, *, curvature: float, strength: float, learning_rate: float, steps: int, sampling_rate: float
) -> Floats:
    """The (2, 2) matrix by which the mean distances (w~, v) from the optimum are multiplied in a round.

    curvature: of the local losses in the direction looked at. steps: local steps in a round, E.
    No clipping; noise and the spread of the clients only add to it.
    """
    choice("form", form, FORMS)
    a, pull = nonnegative("curvature", curvature), nonnegative("lambda", strength)
    p = rate("sampling_rate", sampling_rate)
    moved = 1 - (1 - positive("learning_rate", learning_rate) * (a + pull)) ** count("steps", steps)
    follows = pull / (a + pull) if pull else 0.0
    mean_row = [p * moved * follows, 1 - p * moved]
    if form == "as-printed":
        return np.array([[1 + moved * follows, -moved], mean_row])
    if form == "increments":
        return np.array([[1 + p * moved * follows, -p * moved], mean_row])
    return np.array([[moved * follows, 1 - moved], mean_row])


def growth_factor(
    form: Form, *, curvature: float, strength: float, learning_rate: float, steps: int, sampling_rate: float
) -> float:
    """The spectral radius of the growth matrix: above 1 the run diverges, by this factor a round in the end.

    curvature: of the local losses, above 0. steps: local steps in one round.
    """
    matrix = growth_matrix(
        form,
        curvature=curvature,
        strength=strength,
        learning_rate=learning_rate,
        steps=steps,
        sampling_rate=sampling_rate,
    )
    return float(np.abs(np.linalg.eigvals(matrix)).max())
