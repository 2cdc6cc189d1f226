"""Single columns of records, and histograms as numpy counts them, for every number of entries."""

from __future__ import annotations

import numpy as np
import pytest

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.cutting.real_runs import same_outputs
from dpcert.proofs_checks.proving.checker.language import expressions, record_entries, records
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.checker.refusals import Refused
from dpcert.proofs_checks.proving.refutation import refute

ROWS = {"container": "rows"}
ADDED = {"relation": "add-remove"}


def clipped_column(data, rng):
    return np.clip(data[:, 1], 0, 1).sum() + rng.laplace(0, 1)


def mean_of_a_column(data, rng):
    return np.clip(data[:, 0], 0, 1).mean() + rng.laplace(0, 1 / len(data))


def by_a_loop(data, rng):
    total = 0.0
    for row in data:
        total += min(max(row[2], 0.0), 1.0)
    return total + rng.laplace(0, 1)


def counted(data, rng):
    return sum(row[0] > 0.5 for row in data) + rng.laplace(0, 1)


def column_by_bins(data, rng):
    counts, _ = np.histogram(data[:, 1], bins=[0, 1, 2])
    return counts + rng.laplace(0, 2, 2)


def entry_of_a_noisy_sum(data, rng):
    norms = np.linalg.norm(data, 1, axis=1)
    total = (data * np.minimum(1, 1 / (norms + 1e-9))[:, None]).sum(axis=0) + rng.laplace(0, 2, size=data.shape[1])
    return total[1], total


def bins_with_edges(data, rng):
    counts, edges = np.histogram(data, bins=2, range=(0.0, 1.0))
    return edges, counts + rng.laplace(0, 2, len(counts))


def bins_of_a_mechanism(data, rng, edges=(0, 0.25, 1)):
    return np.histogram(np.clip(data, 0, 0.5), bins=edges)[0] + rng.laplace(0, 2, size=2)


PRIVATE = {
    "clipped": (clipped_column, ROWS),
    "clipped, added": (clipped_column, ROWS | ADDED),
    "mean": (mean_of_a_column, ROWS),
    "loop": (by_a_loop, ROWS),
    "counted": (counted, ROWS | ADDED),
    "bins of a column": (column_by_bins, ROWS),
    "noisy entry": (entry_of_a_noisy_sum, ROWS),
    "bins": (bins_with_edges, {}),
    "bins of what is clipped": (bins_of_a_mechanism, {}),
}


LONG = {"bins of a column", "bins of what is clipped", "mean", "counted", "clipped, added"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.nightly] * (n in LONG)) for n in PRIVATE])
def test_it_is_proved_for_every_number_of_entries(name):
    function, options = PRIVATE[name]
    proof = prove(function, epsilon=1, up_to=2, **options)
    assert proof.every_size, str(proof)


@pytest.mark.parametrize("name", ["clipped", "loop", "noisy entry", "bins"])
def test_not_for_less(name):
    function, options = PRIVATE[name]
    assert not prove(function, epsilon=0.9, up_to=2, **options).proved


def test_the_least_epsilon_is_that_of_two_bins():
    assert prove(bins_with_edges, entries=1).epsilon == 1
    assert prove(bins_with_edges, entries=1, **ADDED).epsilon == 0.5


def another_column(data, rng):
    return np.clip(data[:, 1], 0, 1).sum() + rng.laplace(0, 1), data[0, 0] > 0


def not_clipped(data, rng):
    return data[:, 1].sum() + rng.laplace(0, 1)


def difference_of_columns(data, rng):
    """Were all columns one, this would be 0."""
    return (data[:, 0] - data[:, 1]).sum() + rng.laplace(0, 1)


def clipped_by_another(data, rng):
    return (data[:, 0] * np.minimum(1, 1 / (abs(data[:, 1]) + 1e-9))).sum() + rng.laplace(0, 1)


def norm_without_a_column(data, rng):
    """What is clipped is one entry, by the norm of another record."""
    norms = np.linalg.norm(data, 1, axis=1)
    return data[0, 1] * min(1, 1 / (norms[-1] + 1e-9)) + rng.laplace(0, 2)


def last_column(data, rng):
    return np.clip(data[:, -1], 0, 1).sum() + rng.laplace(0, 1)


def set_in_place(data, rng):
    for row in data:
        row[0] = 0.0
    return rng.laplace(0, 1)


def bins_by_data(data, rng):
    counts, _ = np.histogram(data[:, 0], bins=3)
    return counts + rng.laplace(0, 2, 3)


def edges_by_data(data, rng):
    counts, _ = np.histogram(data[:, 0], bins=[0, data[0, 0], 9])
    return counts + rng.laplace(0, 2, 2)


def one_noise_for_two_bins(data, rng):
    counts, _ = np.histogram(data[:, 0], bins=[0, 1, 2])
    return counts + rng.laplace(0, 2)


def shares(data, rng):
    counts, _ = np.histogram(data[:, 0], bins=[0, 1, 2], density=True)
    return counts + rng.laplace(0, 2, 2)


WRONG = [another_column, not_clipped, difference_of_columns, clipped_by_another, norm_without_a_column, last_column,
         set_in_place, bins_by_data, edges_by_data, one_noise_for_two_bins, shares]  # fmt: skip


BY_DAY = [(function, "replace-one") for function in WRONG[::2]]
BY_NIGHT = [(function, relation) for function in WRONG for relation in ("replace-one", "add-remove")]


@pytest.mark.parametrize(
    ("function", "relation"),
    [*BY_DAY, *[pytest.param(*case, marks=pytest.mark.nightly) for case in BY_NIGHT if case not in BY_DAY]],
)
def test_what_is_wrong_is_not_proved(function, relation):
    proof = prove(function, epsilon=1, up_to=2, relation=relation, **ROWS)
    assert proof.certificate is None, str(proof)


@pytest.mark.parametrize(
    ("function", "options"), [(clipped_column, {}), (not_clipped, {"epsilon": 1}), (clipped_column, ADDED)]
)
def test_neighbours_that_are_audited_have_so_many_columns(function, options):
    proof = prove(function, entries=2, **options, **ROWS)
    shown = [*proof.counterexamples] or [proof.dearest]
    assert shown
    assert {len(record) for each in shown for record in (*each.dataset, *each.neighbour)} == {2}
    assert refute(function, proof, trials=100, seed=1) is not None


@pytest.mark.parametrize(("place", "options"), [(0, {}), *[pytest.param(*case, marks=pytest.mark.nightly)
                                                          for case in ((0, ADDED), (1, {}), (1, ADDED))]])  # fmt: skip
def test_what_costs_more_is_refuted(place, options):
    def little_noise(data, rng):
        return np.clip(data[:, place], 0, 1).sum() + rng.laplace(0, 0.5)

    proof = prove(little_noise, epsilon=0.5, entries=1, **options, **ROWS)
    assert all(each.dataset != each.neighbour for each in proof.counterexamples)
    assert refute(little_noise, proof, trials=4000, seed=1).refuted
    least = prove(little_noise, entries=1, **options, **ROWS)
    assert refute(little_noise, least, trials=4000, seed=1).epsilon_lower(0) > 1


def test_records_without_a_column_that_is_read_are_not_spoken_of():
    """There an exception says that an entry is above 0."""

    def read_of_some(data, rng):
        total = 0.0
        for row in data:
            if row[0] > 0:
                row[5]
            total += min(max(row[0], 0), 1)
        return total + rng.laplace(0, 1)

    proof = prove(read_of_some, epsilon=1, up_to=1, **ROWS)
    assert "records of real numbers, of any length that holds the columns read by number" in str(proof)


def test_columns_that_were_taken_for_one_would_be_noticed(monkeypatch):
    """By real runs, of each of which the columns differ."""
    right = record_entries.entry
    for module in (record_entries, records, expressions):
        monkeypatch.setattr(module, "entry", lambda value, place: (right(value, place), right(value, 0))[1])
    proof = prove(difference_of_columns, epsilon=1, up_to=1, **ROWS)
    assert "rejects" in proof.reason
    assert "the real output is" in proof.reason


def test_a_permutation_that_is_flipped_is_written_otherwise():
    def flipped(scores, rng):
        best = np.max(scores)
        for place in rng.permutation(len(scores)):
            if rng.random() < np.exp((scores[place] - best) / 2):
                return int(place)
        return 0

    def alike(scores, rng):
        return int(np.argmax(scores + rng.exponential(2, len(scores))))

    assert "write np.argmax(scores + rng.exponential(" in prove(flipped, relation="answers", up_to=2).reason
    assert prove(alike, epsilon=1, relation="answers").every_size


def test_a_cut_that_counts_otherwise_would_be_noticed():
    """Histograms of the cut function are compared with those of the function itself."""
    from dpcert.proofs_checks.proving.checker.cutting.cut import cut

    def counted_otherwise(data, rng):
        return np.histogram(data, bins=2, range=(0.0, 0.5))[0] + rng.laplace(0, 2, 2)

    made = cut(counted_otherwise, "replace-one", "array")
    assert same_outputs(counted_otherwise, made, Setting()) > 0
    with pytest.raises(Refused, match="something else"):
        same_outputs(bins_with_edges, made, Setting())


class Otherwise:
    """Methods that are called like numpy's, and do otherwise for more entries than any run on real numbers has."""

    def sum(self, values, axis=None):
        return values.sum(axis=axis) if len(values) < 40 else 1000 * values.sum(axis=axis)

    def list(self, values):
        return list(values) if len(values) < 40 else list(1000 * values)


OTHERS = Otherwise()


def summed_by_others(data, rng):
    unused = data + rng.laplace(0, 2, len(data))
    return OTHERS.sum(data + 0 * unused) + rng.laplace(0, 2)


def listed_by_others(data, rng):
    return OTHERS.list(data + rng.laplace(0, 2, len(data)))


def rows_summed_by_others(grads, rng):
    norms = np.sqrt(OTHERS.sum(grads**2, axis=1))
    total = (grads / np.maximum(1.0, norms)[:, None]).sum(axis=0)
    return total + rng.normal(0, 4, size=total.shape)


@pytest.mark.parametrize(
    ("function", "options"),
    [(summed_by_others, {"epsilon": 0.5}), (listed_by_others, {}), (rows_summed_by_others, {"rho": 0.125, **ROWS})],
)
def test_methods_of_others_are_not_taken_for_numpy_s(function, options):
    """What they do is followed for each number of entries by itself; of every number nothing is said."""
    proof = prove(function, entries=2, **options)
    assert (proof.verdict, proof.every_size, proof.up_to) == ("proved up to N", False, 2)


def test_if_they_were_taken_for_numpy_s_it_would_be_noticed(monkeypatch):
    from dpcert.proofs_checks.proving.checker.cutting import columns, real_runs

    careful = columns.reduced

    def careless(node):
        held, kind = careful(node)
        return (node.args[0], kind) if held is None and kind == "sum" and len(node.args) == 1 else (held, kind)

    monkeypatch.setattr(columns, "reduced", careless)
    assert not prove(summed_by_others, epsilon=0.5, entries=2).every_size  # runs on more entries differ
    monkeypatch.setattr(real_runs, "larger_sizes", lambda _: [])
    assert prove(summed_by_others, epsilon=0.5, entries=2).every_size
