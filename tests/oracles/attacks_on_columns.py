"""Columns of records and histograms that are released in ways that cost more than is claimed, by what each abuses.

ATTACKS: (function, options of prove), with a claim below the truth.
"""

# ruff: noqa
from __future__ import annotations
import numpy as np

ROWS = {"epsilon": 1, "container": "rows"}
BINS = {"epsilon": 1}
EDGES = [0.0, 0.5, 1.0]
CHANGING = [0.0, 0.5, 1.0]
ATTACKS = []


def of(options):
    def listed(function):
        ATTACKS.append((function, options))
        return function

    return listed


def unit(data):
    return data / np.maximum(1.0, np.linalg.norm(data, 1, axis=1))[:, None]


def one(x):
    return np.clip(x, 0, 1)


# Columns.


@of(ROWS)
def two_columns_one_noise(data, rng):
    noise = rng.laplace(0, 1)
    return one(data[:, 0]).sum() + noise, one(data[:, 1]).sum() + noise


@of(ROWS)
def two_columns_half_the_noise(data, rng):
    return one(data[:, 0]).sum() + rng.laplace(0, 1), one(data[:, 1]).sum() + rng.laplace(0, 1)


@of(ROWS)
def a_test_of_another_column(data, rng):
    total = one(data[:, 0]).sum() + rng.laplace(0, 1)
    return total if data[0, 1] > 0 else -total


@of(ROWS)
def clipped_as_another(data, rng):
    """A column that is clipped, and the record itself."""
    bounded = one(data[:, 0])
    return data[:, 0].sum() - bounded.sum() + rng.laplace(0, 1)


@of(ROWS)
def norm_of_one_bounds_no_other(data, rng):
    small = data[:, 1] * np.minimum(1, 1 / (np.abs(data[:, 0]) + 1e-9))
    return small.sum() + rng.laplace(0, 2)


@of(ROWS)
def difference_of_rows(data, rng):
    return (data[0, 0] - data[-1, 0]) * 0.001 + rng.laplace(0, 1)


@of(ROWS)
def changed_in_a_view(data, rng):
    column = data[:, 0]
    column[0] = 0.0
    return data[:, 0].sum() + rng.laplace(0, 1)


@of(ROWS)
def a_view_that_is_clipped(data, rng):
    column = data[:, 0]
    np.clip(column, 0, 1)
    return column.sum() + rng.laplace(0, 1)


@of(ROWS)
def by_a_transposed_array(data, rng):
    return data.T[0].sum() + rng.laplace(0, 1)


@of(ROWS)
def by_an_ellipsis(data, rng):
    return data[..., 0].sum() + rng.laplace(0, 1)


@of(ROWS)
def by_a_truth_value(data, rng):
    return one(data[:, True]).sum() + rng.laplace(0, 1)


@of(ROWS)
def by_a_list(data, rng):
    return one(data[:, [0, 1]]).sum() + rng.laplace(0, 1)


@of(ROWS)
def by_a_negative_number(data, rng):
    return one(data[:, -1]).sum() + one(data[:, 0]).sum() + rng.laplace(0, 1)


@of(ROWS)
def by_a_step(data, rng):
    return one(data[:, ::2]).sum() + rng.laplace(0, 1)


@of(ROWS)
def how_many_columns(data, rng):
    return one(data[:, 0]).sum() * data.shape[1] + rng.laplace(0, 1)


@of(ROWS)
def entries_of_a_running_sum(data, rng):
    total, out = np.zeros(data.shape[1]), []
    for row in data:
        total = total + row
        out.append(one(total[0]) + rng.laplace(0, 1))
    return out


@of(ROWS)
def kept_by_an_entry(data, rng):
    """Records that are large are kept where their first entry is small."""
    total = np.zeros(data.shape[1])
    for row in data:
        if row[0] < 1:
            total = total + row
    return total + rng.laplace(0, 2, size=data.shape[1])


@of(ROWS)
def an_entry_of_a_clipped_sum(data, rng):
    return unit(data).sum(axis=0)[0] + rng.laplace(0, 1)


@of(ROWS)
def a_noisy_entry_told_twice(data, rng):
    noisy = unit(data).sum(axis=0) + rng.laplace(0, 2, size=data.shape[1])
    return noisy[0], noisy[0] - unit(data).sum(axis=0)[0]


@of(ROWS)
def an_entry_as_a_place(data, rng):
    return one(data[int(data[0, 0]), 1]) + rng.laplace(0, 1)


@of(ROWS | {"relation": "add-remove"})
def a_mean_of_few(data, rng):
    return one(data[:, 0]).sum() / max(len(data), 1) + rng.laplace(0, 0.1)


@of({"rho": 0.1, "container": "rows"})
def gaussian_columns(data, rng):
    return one(data[:, 0]).sum() + rng.normal(0, 2), one(data[:, 1]).sum() + rng.normal(0, 2)


@of({"rho": 0.1, "container": "rows"})
def gaussian_by_an_entry(data, rng):
    if data[0, 0] > 0:
        return one(data[:, 1]).sum() + rng.normal(0, 4)
    return -one(data[:, 1]).sum() + rng.normal(0, 4)


# Histograms.


@of(BINS)
def too_little_for_two_bins(data, rng):
    return np.histogram(data, bins=EDGES)[0] + rng.laplace(0, 1.9, 2)


@of(BINS)
def edges_of_the_data(data, rng):
    counts, edges = np.histogram(data, bins=4)
    return edges, counts + rng.laplace(0, 2, 4)


@of(BINS)
def weights(data, rng):
    return np.histogram(data, bins=EDGES, weights=10 * data)[0] + rng.laplace(0, 2, 2)


@of(BINS)
def shares(data, rng):
    return np.histogram(data, bins=[0, 1e-9, 1], density=True)[0] + rng.laplace(0, 2, 2)


@of(BINS)
def an_edge_by_the_data(data, rng):
    return np.histogram(data, bins=[0, data[0], 2])[0] + rng.laplace(0, 2, 2)


@of(BINS)
def edges_with_noise(data, rng):
    counts, edges = np.histogram(data, bins=[0, 0.5 + 0 * rng.laplace(0, 1), 1])
    return counts + rng.laplace(0, 1, 2)


@of(BINS)
def edges_by_how_many(data, rng):
    counts, edges = np.histogram(np.repeat(data, len(data)), bins=[0, 0.5, 1])
    return counts + rng.laplace(0, 2, 2)


@of(BINS)
def counted_twice(data, rng):
    counts, _ = np.histogram(data, bins=EDGES)
    counts += counts
    return counts + rng.laplace(0, 2, 2)


@of(BINS)
def the_same_counts_in_two_names(data, rng):
    counts, _ = np.histogram(data, bins=EDGES)
    other = counts
    other += 3 * counts
    return counts + rng.laplace(0, 2, 2)


@of(BINS)
def one_noise_for_all_bins(data, rng):
    return np.histogram(data, bins=EDGES)[0] + rng.laplace(0, 2)


@of(BINS)
def beside_the_data(data, rng):
    counts, _ = np.histogram(data, bins=EDGES)
    return counts + rng.laplace(0, 2, 2), (data > 0.25).sum() + rng.laplace(0, 5)


@of(BINS)
def edges_that_change(data, rng):
    CHANGING[1] = 0.25
    return np.histogram(data, bins=CHANGING)[0] + rng.laplace(0, 2, 2)


@of(BINS)
def edges_that_are_set_by_a_walrus(data, rng):
    counts, _ = np.histogram(data, bins=(edges := [0, 0.5, 1]))
    edges[1] = float(data[0])
    return edges, counts + rng.laplace(0, 2, 2)


@of(BINS)
def the_largest_bin(data, rng):
    return int(np.argmax(np.histogram(data, bins=EDGES)[0])) + rng.laplace(0, 0.5)


@of({"rho": 0.06})
def gaussian_bins(data, rng):
    return np.histogram(data, bins=EDGES)[0] + rng.normal(0, 4, 2)


@of({"epsilon": 0.9, "relation": "add-remove"})
def a_bin_and_all(data, rng):
    counts, _ = np.histogram(data, bins=EDGES)
    return counts + rng.laplace(0, 2, 2), len(data) + rng.laplace(0, 2)
