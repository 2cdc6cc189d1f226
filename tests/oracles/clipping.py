"""Sums of records that are clipped by a norm, as people write them, and what is wrong in ways that are easily missed.

Records are rows of a 2-d array. PRIVATE: (function, sensitivity by the norm that the noise pays, whether that is for
one record that is replaced, noise's scale). WRONG: (function, the rho or epsilon that it claims to have).
"""

from __future__ import annotations

import math

import numpy as np

CLIP = 1.0


def abadi(grads, rng, clip=1.0, noise_multiplier=4.0):
    norms = np.linalg.norm(grads, axis=1)
    clipped = grads / np.maximum(1.0, norms / clip)[:, None]
    total = clipped.sum(axis=0)
    return (total + rng.normal(0, noise_multiplier * clip, size=total.shape)) / len(grads)


def by_a_loop(grads, rng, clip=1.0, noise_multiplier=4.0):
    total = np.zeros(grads.shape[1])
    for grad in grads:
        total += grad * min(1.0, clip / max(np.linalg.norm(grad), 1e-12))
    return total + rng.normal(0, noise_multiplier * clip, size=grads.shape[1])


def by_a_branch(grads, rng):
    total = np.zeros(grads.shape[1])
    for grad in grads:
        norm = np.linalg.norm(grad)
        if norm > CLIP:
            grad = grad * (CLIP / norm)
        total = total + grad
    return total + rng.normal(0, 4.0, size=len(total))


def as_opacus(grads, rng, clip=1.0):
    norms = np.sqrt((grads**2).sum(axis=1))
    factors = np.minimum(clip / (norms + 1e-6), 1.0)
    total = (grads * factors.reshape(-1, 1)).sum(axis=0)
    return total + rng.normal(0.0, 4.0, total.shape)


def by_where(grads, rng):
    norms = np.linalg.norm(grads, axis=1, keepdims=True)
    clipped = np.where(norms > CLIP, CLIP / norms, 1.0) * grads
    return np.mean(clipped, axis=0) + rng.normal(0, 4.0 / len(grads), size=grads.shape[1])


def clipped(vector, bound):
    norm = np.linalg.norm(vector)
    return vector if norm <= bound else vector * (bound / norm)


def by_a_helper(grads, rng):
    total = np.zeros(grads.shape[1])
    for grad in grads:
        total = total + clipped(grad, 1.0)
    return total + 4.0 * rng.standard_normal(size=grads.shape[1])


def in_a_list(grads, rng):
    kept = [grad / max(1.0, np.linalg.norm(grad)) for grad in grads]
    return np.sum(kept, axis=0) + rng.normal(0, 4.0, size=grads.shape[1])


def every_record(grads, rng):
    norms = np.linalg.norm(grads, axis=1, keepdims=True)
    return grads / np.maximum(norms, 1.0) + rng.normal(0, 4.0, size=grads.shape)


def by_absolute_values(records, rng):
    norms = np.linalg.norm(records, 1, axis=1)
    total = np.sum(records * np.minimum(1.0, 1.0 / (norms + 1e-9))[:, np.newaxis], axis=0)
    return total + rng.laplace(0, 4.0, size=total.shape)


def mean_by_sum_and_count(grads, rng):
    """The number of records is private."""
    norms = np.linalg.norm(grads, axis=1)
    total = (grads / np.maximum(1.0, norms)[:, None]).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])
    count = len(grads) + rng.normal(0, 4.0)
    return total / max(count, 1.0)


def normalised_after_the_noise(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    total = (grads / np.maximum(1.0, norms)[:, None]).sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])
    return total / max(1.0, np.linalg.norm(total)), np.linalg.norm(total)


PROCESSED = {
    "mean": (mean_by_sum_and_count, "add-remove", 1 / 16),
    "norm": (normalised_after_the_noise, "replace-one", 1 / 8),
}
"""What is computed of noisy records: (function, relation, rho)."""
PRIVATE = {
    "abadi": (abadi, "rho"),
    "loop": (by_a_loop, "rho"),
    "branch": (by_a_branch, "rho"),
    "opacus": (as_opacus, "rho"),
    "where": (by_where, "rho"),
    "helper": (by_a_helper, "rho"),
    "list": (in_a_list, "rho"),
    "every record": (every_record, "rho"),
    "absolute values": (by_absolute_values, "epsilon"),
}
"""Each moves by at most 2, with noise of scale 4: rho is 1/8, epsilon 1/2."""
BOTH_RELATIONS = ("loop", "branch", "opacus", "helper", "absolute values")


def total_of(kept, rng, scale=4.0):
    return kept.sum(axis=0) + rng.normal(0, scale, size=kept.shape[1])


def not_clipped(grads, rng):
    return total_of(grads, rng)


def larger_factor(grads, rng):
    return total_of(grads * np.maximum(1.0, CLIP / (np.linalg.norm(grads, axis=1) + 1e-6))[:, None], rng)


def divided_by_the_smaller(grads, rng):
    return total_of(grads / np.minimum(1.0, np.linalg.norm(grads, axis=1) + 1e-6)[:, None], rng)


def normalised_without_care(grads, rng):
    """A record that is 0 becomes nan, which is seen."""
    return total_of(grads / np.linalg.norm(grads, axis=1)[:, None], rng)


def infinite_at_zero(grads, rng):
    return total_of(grads * (CLIP / np.linalg.norm(grads, axis=1))[:, None], rng)


def another_norm_for_laplace(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    total = (grads / np.maximum(1.0, norms)[:, None]).sum(axis=0)
    return total + rng.laplace(0, 4.0, size=total.shape)


def largest_entry(grads, rng):
    norms = np.linalg.norm(grads, np.inf, axis=1)
    return total_of(grads / np.maximum(1.0, norms)[:, None], rng)


def entry_by_entry(grads, rng):
    """By how much that moves grows with the number of columns."""
    return total_of(np.clip(grads, -1, 1), rng)


def norms_of_columns(grads, rng):
    norms = np.linalg.norm(grads, axis=0)
    return total_of(grads / np.maximum(1.0, norms), rng)


def norm_of_all(grads, rng):
    return total_of(grads / max(1.0, np.linalg.norm(grads)), rng)


def factors_along_columns(grads, rng):
    return total_of(grads / np.maximum(1.0, np.linalg.norm(grads, axis=1)), rng)


def one_noise_for_all_columns(grads, rng):
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0)


def noise_of_another_size(grads, rng):
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=len(grads))


def noise_of_one_column(grads, rng):
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=1)


def summed_over_columns(grads, rng):
    kept = grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]
    return kept.sum(axis=1) + rng.normal(0, 4.0, size=len(grads))


def clipped_after_the_noise(grads, rng):
    total = grads.sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1])
    return total / max(1.0, np.linalg.norm(total))


def noise_before_clipping(grads, rng):
    total = np.zeros(grads.shape[1])
    for grad in grads:
        noisy = grad + rng.normal(0, 4.0, size=len(grad))
        total += noisy / max(1.0, np.linalg.norm(grad))
    return total


def divided_by_the_count(grads, rng):
    """Of noisy records a mean, but the number of records is not private."""
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0)
    noisy = total + rng.normal(0, 4.0, size=grads.shape[1])
    return noisy / max(1.0, np.linalg.norm(grads[0]))


def noisy_norm_of_what_is_not(grads, rng):
    noise = rng.normal(0, 4.0, size=grads.shape[1])
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0)
    return total + noise, np.linalg.norm(grads[0] + noise)


def noise_that_is_divided(grads, rng):
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0)
    return total + rng.normal(0, 4.0, size=total.shape) / 2


def noise_of_variance(grads, rng):
    total = (grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]).sum(axis=0)
    return total + math.sqrt(4.0) * rng.standard_normal(total.shape)


def the_same_noise_twice(grads, rng):
    kept = grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]
    noise = rng.normal(0, 4.0, size=grads.shape[1])
    return kept.sum(axis=0) + noise, 2.0 * kept.sum(axis=0) + noise


def twice_the_sum(grads, rng):
    return total_of(grads * (2.0 * np.minimum(1.0, 1.0 / (np.linalg.norm(grads, axis=1) + 1e-6)))[:, None], rng)


def clipped_at_two(grads, rng):
    return total_of(grads / np.maximum(1.0, np.linalg.norm(grads, axis=1) / 2.0)[:, None], rng)


def off_by_a_constant(grads, rng):
    """max(1, n - 1) lets 2 through."""
    total = np.zeros(grads.shape[1])
    for grad in grads:
        norm = np.linalg.norm(grad)
        total = total + grad / max(1.0, norm - 1.0)
    return total + rng.normal(0, 4.0, size=grads.shape[1])


def floor_above(grads, rng):
    """max(n, 2) keeps a record as large as it is below 2, times a bound of 2."""
    total = np.zeros(grads.shape[1])
    for grad in grads:
        total = total + grad * (2.0 / max(np.linalg.norm(grad), 2.0)) * 2.0
    return total + rng.normal(0, 4.0, size=grads.shape[1])


def the_other_side_of_the_test(grads, rng):
    total = np.zeros(grads.shape[1])
    for grad in grads:
        norm = np.linalg.norm(grad)
        if norm < CLIP:
            grad = grad / max(norm, 1e-9)
        total = total + grad
    return total + rng.normal(0, 4.0, size=grads.shape[1])


def by_the_former_norm(grads, rng):
    total, norm = np.zeros(grads.shape[1]), 1.0
    for grad in grads:
        total = total + grad / max(1.0, norm)
        norm = np.linalg.norm(grad)
    return total + rng.normal(0, 4.0, size=grads.shape[1])


def by_the_first_norm(grads, rng):
    factor = 1.0 / max(1.0, np.linalg.norm(grads[0]))
    total = sum(grad * factor for grad in grads)
    return total + rng.normal(0, 4.0, size=grads.shape[1])


def by_the_norm_of_another(grads, rng):
    shifted = grads - grads[0]
    return total_of(shifted / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None], rng)


def squares_for_norms(grads, rng):
    squares = (grads**2).sum(axis=1)
    return total_of(grads / np.maximum(1.0, squares / 4.0)[:, None], rng, 0.5)


def bound_by_the_data(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    return total_of(grads / np.maximum(max(norms), norms)[:, None], rng)


def divided_by_how_many_are_small(grads, rng):
    norms = np.linalg.norm(grads, axis=1)
    total = (grads / np.maximum(1.0, norms)[:, None]).sum(axis=0)
    return (total + rng.normal(0, 4.0, size=total.shape)) / (1 + (norms < 1).sum())


def norms_released(grads, rng):
    return np.linalg.norm(grads, axis=1)


def only_some_released(grads, rng):
    kept = grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]
    return kept.sum(axis=0) + rng.normal(0, 4.0, size=grads.shape[1]), kept[0]


def changed_where_it_is(grads, rng):
    kept = grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]
    total = kept.sum(axis=0)
    seen = total
    total += grads[0]
    return seen + rng.normal(0, 4.0, size=grads.shape[1])


def rows_changed_where_they_are(grads, rng):
    for grad in grads:
        grad *= 3.0
    return total_of(grads / np.maximum(1.0, np.linalg.norm(grads, axis=1) / 3.0)[:, None], rng)


def the_number_of_columns(grads, rng):
    if grads.shape[1] == 1:
        return total_of(grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None], rng)
    return total_of(grads, rng)


def a_column(grads, rng):
    return grads[:, 0].sum() + rng.normal(0, 4.0)


def compared_with_a_number(grads, rng):
    return bool(grads[0] == 0)


def a_truth_value(grads, rng):
    return 1 if grads[0] else 0


def flattened(grads, rng):
    return grads.ravel().sum() + rng.normal(0, 4.0)


def sum_without_an_axis(grads, rng):
    kept = grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None]
    return kept.sum() + rng.normal(0, 4.0)


def running_sums(grads, rng):
    kept = [grad / max(1.0, np.linalg.norm(grad)) for grad in grads]
    return np.cumsum(kept) + rng.normal(0, 4.0, size=grads.shape[1])


def products_of_records(grads, rng):
    kept = [grad / max(1.0, np.linalg.norm(grad)) for grad in grads]
    return kept[0] * kept[-1] + rng.normal(0, 4.0, size=grads.shape[1])


def a_number_added(grads, rng):
    kept = grads / np.maximum(1.0, np.linalg.norm(grads, axis=1))[:, None] + np.linalg.norm(grads[0])
    return total_of(kept, rng)


WRONG = [
    (function, 0.125)
    for function in (
        not_clipped, larger_factor, divided_by_the_smaller, normalised_without_care, infinite_at_zero,
        largest_entry, entry_by_entry, norms_of_columns, norm_of_all, factors_along_columns, one_noise_for_all_columns,
        noise_of_another_size, noise_of_one_column, summed_over_columns, clipped_after_the_noise, noise_before_clipping,
        noise_that_is_divided, noise_of_variance, the_same_noise_twice, twice_the_sum, clipped_at_two,
        off_by_a_constant, floor_above, the_other_side_of_the_test, by_the_former_norm, by_the_first_norm,
        by_the_norm_of_another, squares_for_norms, bound_by_the_data, divided_by_how_many_are_small, norms_released,
        only_some_released, changed_where_it_is, rows_changed_where_they_are, the_number_of_columns, a_column,
        compared_with_a_number, a_truth_value, flattened, sum_without_an_axis, running_sums, products_of_records,
        a_number_added, divided_by_the_count, noisy_norm_of_what_is_not,
    )
]  # fmt: skip


# Numbers, clipped by their size.


def scalar(grads, rng):
    return sum(g * min(1.0, CLIP / max(abs(g), 1e-12)) for g in grads) + rng.normal(0, 4.0)


def scalar_divided(grads, rng):
    return sum(g / max(1.0, abs(g) / CLIP) for g in grads) + rng.normal(0, 4.0)


def scalar_in_numpy(grads, rng):
    return (grads * np.minimum(1, CLIP / (np.abs(grads) + 1e-6))).sum() + rng.normal(0, 4.0)


def scalar_branch(grads, rng):
    total = 0.0
    for g in grads:
        if abs(g) > CLIP:
            g = g * (CLIP / abs(g))
        total += g
    return total + rng.normal(0, 4.0)


SCALAR = (scalar, scalar_divided, scalar_in_numpy, scalar_branch)


def only_above(grads, rng):
    """Of numbers below 0 nothing is clipped."""
    return sum(g * min(1.0, CLIP / max(g, 1e-12)) for g in grads) + rng.normal(0, 4.0)


def only_above_by_branches(grads, rng):
    total = 0.0
    for g in grads:
        size = max(g, 1e-12)
        if g > 0:
            total += g * min(1.0, CLIP / size)
        else:
            total += g * min(1.0, CLIP / size)
    return total + rng.normal(0, 4.0)


def size_of_another(grads, rng):
    size = max(abs(grads[0]), 1e-12)
    return sum(g * min(1.0, CLIP / size) for g in grads) + rng.normal(0, 4.0)


def moved_before(grads, rng):
    return sum((g + 3.0) * min(1.0, CLIP / max(abs(g), 1e-12)) for g in grads) + rng.normal(0, 4.0)


def twice(grads, rng):
    return sum(2.0 * g * min(1.0, CLIP / max(abs(g), 1e-12)) for g in grads) + rng.normal(0, 4.0)


def largest_of_both(grads, rng):
    return sum(g * max(1.0, CLIP / max(abs(g), 1e-12)) for g in grads) + rng.normal(0, 4.0)


def squared_factor(grads, rng):
    return sum(g * min(3.0, CLIP / max(abs(g), 1e-12)) * min(3.0, CLIP / max(abs(g), 1e-12)) for g in grads) + (
        rng.normal(0, 4.0)
    )


def negative_floor(grads, rng):
    return sum(g / max(-1.0, abs(g) - 2.0) for g in grads) + rng.normal(0, 4.0)


SCALAR_WRONG = (
    only_above, only_above_by_branches, size_of_another, moved_before, twice, largest_of_both, squared_factor,
    negative_floor,
)  # fmt: skip
