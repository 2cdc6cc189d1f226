"""The norm bound on the code that trainers run: exact, for whatever a client sends."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from cases import few

from dpcert.mechanisms import InputError
from dpcert.trainers.engine import clipping
from dpcert.trainers.engine.clipping import SAFETY, ClippedSum, Grid, Layers
from dpcert.trainers.engine.contribution import Differences, SparseRows

CPU = torch.device("cpu")


def exact_square(integers):
    """The exact squared norm of a vector of integers."""
    return sum(int(value) ** 2 for value in integers.tolist() if value)


def clipped(contribution, clip_norm, sizes=None):
    """The integers, on which both ways of adding must agree but for the last bit of the norm."""
    grid = Grid.for_round(clip_norm, 1000, contribution.dtype)
    total = ClippedSum(1, len(contribution), Layers(sizes or (len(contribution),)), grid, CPU)
    total.add(contribution, 0)
    integers = total.total[0]
    at_once = ClippedSum(1, len(contribution), total.layers, grid, CPU)
    (others,) = at_once.add_all(contribution.unsqueeze(0), np.zeros(1, dtype=np.int64))
    assert exact_square(others) <= (clip_norm / grid.unit) ** 2
    torch.testing.assert_close(others, integers, rtol=3e-7, atol=2)
    assert torch.equal(at_once.total[0], others)
    return integers, grid


def adversarial(dimension, rng, kind, clip_norm):
    """Updates made to break a bound: boundary norms, one coordinate, huge and tiny scales, equal coordinates."""
    direction = rng.standard_normal(dimension)
    direction /= np.linalg.norm(direction)
    if kind == "boundary":
        return direction * clip_norm * (1 + rng.integers(-4, 5) * 2.0**-24)
    if kind == "equal":
        return np.full(dimension, clip_norm / math.sqrt(dimension) * (1 + rng.integers(-4, 5) * 2.0**-24))
    if kind == "single":
        return np.eye(dimension)[rng.integers(dimension)] * clip_norm * 10.0 ** rng.integers(-3, 30)
    if kind == "huge":
        return direction * 10.0 ** rng.uniform(5, 37)
    if kind == "tiny":
        return direction * 10.0 ** rng.uniform(-44, -30)
    return direction * clip_norm * 10.0 ** rng.uniform(-3, 3)


KINDS = ("random", "boundary", "equal", "single", "huge", "tiny")


@pytest.mark.parametrize("dtype", few([torch.float32, torch.float64], 4))
@pytest.mark.parametrize("sizes", [None, (3, 5, 9)])
def test_no_update_exceeds_the_clip_norm(dtype, sizes):
    """10,080 updates; the comparison is between integers, so it has no tolerance."""
    rng = np.random.default_rng(7)
    for trial in range(2520):
        clip_norm = float(rng.choice([1e-3, 0.2, 1.0, 3.7, 1e4]))
        update = adversarial(17, rng, KINDS[trial % len(KINDS)], clip_norm)
        integers, grid = clipped(torch.from_numpy(update).to(dtype), clip_norm, sizes)
        assert exact_square(integers) <= (clip_norm / grid.unit) ** 2
        assert torch.equal(integers, integers.trunc())


def test_bound_in_high_dimension():
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        update = torch.rand(100_003, generator=generator) * 10 ** (seed % 5 - 3)
        integers, grid = clipped(update, 0.2)
        assert exact_square(integers) <= (0.2 / grid.unit) ** 2
        if float(update.norm()) > 1:
            assert exact_square(integers) >= (0.2 * (1 - 1e-5) / grid.unit) ** 2


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_update_that_is_not_finite_counts_as_zero(bad, dtype):
    update = torch.ones(10, dtype=dtype)
    update[3] = bad
    for sizes in (None, (4, 6)):
        integers, _ = clipped(update, 1.0, sizes)
        assert torch.equal(integers, torch.zeros(10, dtype=torch.float64))


def test_zero_and_overflowing_norms():
    assert exact_square(clipped(torch.zeros(5), 1.0)[0]) == 0
    # In double precision the squared norm overflows: not finite, hence zero.
    assert exact_square(clipped(torch.full((5,), 1e300, dtype=torch.float64), 1.0)[0]) == 0


def test_small_updates_pass_unchanged_to_the_grid():
    update = torch.tensor([0.25, -0.125, 0.0])
    integers, grid = clipped(update, 1.0)
    assert torch.equal(integers, ClippedSum(1, 3, Layers((3,)), grid, CPU).alone(update))
    assert torch.equal(integers * grid.unit, update.double())


def test_truncation_is_towards_zero():
    integers, _ = clipped(torch.tensor([1.7, -1.7]).double() * 2.0**-40, 1.0)
    assert integers.tolist() == [1.0, -1.0]


def test_sums_are_exact_in_every_order():
    rng = np.random.default_rng(0)
    updates = [torch.from_numpy(rng.standard_normal(50)).float() for _ in range(200)]
    grid = Grid.for_round(0.3, 200, torch.float32)
    totals = []
    for order in (range(200), reversed(range(200)), rng.permutation(200)):
        total = ClippedSum(1, 50, Layers((50,)), grid, CPU)
        for place in order:
            total.add(updates[place], 0)
        totals.append(total.total)
    assert torch.equal(totals[0], totals[1])
    assert torch.equal(totals[0], totals[2])
    assert float(totals[0].abs().max()) < 2**53


def test_layers_share_the_clip_norm():
    update = torch.cat([torch.full((4,), 100.0), torch.full((9,), 1e-3)])
    integers, grid = clipped(update, 1.0, (4, 9))
    first, second = integers[:4] * grid.unit, integers[4:] * grid.unit
    assert float(first.norm()) == pytest.approx(math.sqrt(0.5), rel=1e-5)
    torch.testing.assert_close(second, update[4:].double(), rtol=1e-5, atol=1e-9)


def test_adding_at_once_leaves_the_updates_alone_and_sorts_them_into_blocks():
    rng = np.random.default_rng(3)
    blocks = np.array([0, 2, 2, 1, 0])
    for dtype in (torch.float32, torch.float64):
        updates = torch.from_numpy(rng.standard_normal((5, 9))).to(dtype)
        updates[1] *= 1e-3
        before = updates.clone()
        total = ClippedSum(3, 9, Layers((9,)), Grid.for_round(0.7, 5, dtype), CPU)
        added = total.add_all(updates, blocks)
        assert torch.equal(updates, before)
        assert (total.counts, total.within) == (5, 1)
        for block in range(3):
            assert torch.equal(total.total[block], added[blocks == block].sum(0))


def test_within_counts_updates_that_were_not_shortened():
    total = ClippedSum(2, 3, Layers((3,)), Grid.for_round(1.0, 10, torch.float32), CPU)
    for scale, block in ((0.1, 0), (0.5, 1), (10.0, 0)):
        total.add(torch.full((3,), scale), block)
    assert (total.counts, total.within) == (3, 2)
    assert float(total.total[1].sum()) * total.grid.unit == pytest.approx(1.5)


@pytest.mark.parametrize("clip_norm", [1e-6, 0.2, 1.0, 123.4])
@pytest.mark.parametrize("cohort", [1, 100, 10**6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_grid_holds_the_largest_sum(clip_norm, cohort, dtype):
    grid = Grid.for_round(clip_norm, cohort, dtype)
    assert math.frexp(grid.unit)[0] == 0.5  # a power of two: scaling by it is exact
    assert clip_norm / grid.unit * cohort <= 2**53
    assert clip_norm / grid.unit >= 2**20
    if dtype == torch.float32:
        assert clip_norm / grid.unit <= 2**30


def test_too_many_numbers_in_an_update():
    with pytest.raises(InputError, match="numbers in an update"):
        ClippedSum(1, 2**27 + 1, Layers((1,)), Grid(1.0, 1.0), CPU)


def test_safety_margin_covers_the_rounding_it_names():
    """The bound in clipping.py's text: 2^27 + 4 roundings of 2^-53 and two of 2^-24, against 2^-22."""
    assert (1 + 2.0**-24) ** 2 / (1 - (2**27 + 4) * 2.0**-53) * SAFETY < 1


def test_working_in_pieces_changes_nothing(monkeypatch):
    """Long updates are worked on in pieces: the integers and sums of one piece, the norm but for its last bits."""
    rng = np.random.default_rng(4)
    dense = torch.from_numpy(rng.standard_normal(200)).float()
    thin = SparseRows(torch.tensor([3, 0, 17, 8]), torch.from_numpy(rng.standard_normal((4, 10))).float())
    margin = SparseRows(torch.tensor([5, 1, 2, 0]), torch.from_numpy(rng.standard_normal((4, 10))).float(), True)
    found = []
    for size in (2**16, 16, 7):
        monkeypatch.setattr(clipping, "PIECE", size)
        total = ClippedSum(1, 200, Layers((200,)), Grid.for_round(1e9, 4, torch.float32), CPU)
        total.add(dense, 0)
        total.add(thin, 0)
        total.add(margin, 0)
        assert total.within == 3
        found.append(total.total)
        clipped(dense, 0.3, (100, 100))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def exceeded(rounds=600):
    """How many updates on the boundary come out above the clip norm."""
    rng = np.random.default_rng(8)
    found = 0
    for trial in range(rounds):
        clip_norm = float(rng.choice([0.2, 0.7, 3.7]))
        update = torch.from_numpy(adversarial(17, rng, ("random", "boundary", "equal")[trial % 3], clip_norm)).float()
        grid = Grid.for_round(clip_norm, 1000, torch.float32)
        total = ClippedSum(1, 17, Layers((17,)), grid, CPU)
        total.add(update, 0)
        found += exact_square(total.total[0]) > (clip_norm / grid.unit) ** 2
    return found


def test_a_bound_without_its_margin_or_rounded_to_nearest_is_caught(monkeypatch):
    assert exceeded() == 0
    with monkeypatch.context() as patch:
        patch.setattr(clipping, "SAFETY", 1 + 2.0**-22)
        assert exceeded() > 0
    with monkeypatch.context() as patch:
        patch.setattr(clipping, "SAFETY", 1.0)
        patch.setattr(
            ClippedSum, "_truncated", lambda self, part, factor: (part.double() * factor).round_().add_(part > 0)
        )
        assert exceeded() > 0


def test_updates_that_skip_the_check_for_infinity_are_caught(monkeypatch):
    monkeypatch.setattr(math, "isfinite", lambda value: True)
    update = torch.tensor([math.inf, 1.0])
    total = ClippedSum(1, 2, Layers((2,)), Grid.for_round(1.0, 10, torch.float32), CPU)
    total.add(update, 0)
    assert total.total.any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sparse_rows_are_clipped_like_the_vector_they_stand_for(dtype):
    rng = np.random.default_rng(2)
    for scale in (1e-3, 1.0, 1e3, 1e30):
        rows = torch.from_numpy(rng.choice(20, 5, replace=False))
        contribution = SparseRows(rows, torch.from_numpy(scale * rng.standard_normal((5, 3))).to(dtype))
        grid = Grid.for_round(0.7, 10, dtype)
        thin, thick = (ClippedSum(2, 63, Layers((63,)), grid, CPU) for _ in range(2))
        thin.add(contribution, 1)
        thick.add(contribution.dense(63), 1)
        added, reference = thin.total[1], thick.total[1]
        assert exact_square(added) <= (0.7 / grid.unit) ** 2
        # The two norms may differ by a rounding, and with them a truncated digit.
        assert float((added - reference).abs().max()) <= 2 + 1e-9 * float(reference.abs().max())
        assert thin.within == thick.within
    for bad in (math.nan, math.inf):
        total = ClippedSum(1, 63, Layers((63,)), grid, CPU)
        total.add(SparseRows(rows, torch.where(torch.arange(3) < 2, contribution.numbers, bad)), 0)
        assert not total.total.any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_background_is_clipped_like_the_vector_it_stands_for(dtype, monkeypatch):
    """Rows that are listed differ from a background which all others have; several in one sum, in two blocks."""
    rng = np.random.default_rng(12)
    for scale in (1e-3, 1.0, 1e3, 1e30):
        grid = Grid.for_round(0.7, 10, dtype)
        thin, thick = (ClippedSum(2, 60, Layers((60,)), grid, CPU) for _ in range(2))
        for block in (0, 1, 1):
            rows = torch.from_numpy(rng.choice(20, 5, replace=False))
            numbers = torch.from_numpy(scale * rng.standard_normal((6, 3))).to(dtype)
            contribution = SparseRows(torch.cat([rows, rows[:1]]), numbers, background=True)
            alone, vector = thin.alone(contribution), contribution.dense(60)
            assert exact_square(alone) <= (0.7 / grid.unit) ** 2
            assert torch.equal(vector.view(20, 3)[rows], numbers[:5])
            assert int((vector.view(20, 3) == numbers[5]).all(1).sum()) == 15
            thin.add(contribution, block)
            thick.add(vector, block)
        limit = 3 * (2 + 1e-9 * float(thick.total.abs().max()))
        assert float((thin.total - thick.total).abs().max()) <= limit
        assert thin.within == thick.within
        assert torch.equal(thin.total, thin.total)  # reading the sum completes it once
    total = ClippedSum(1, 60, Layers((60,)), grid, CPU)
    numbers[5, 1] = math.inf
    total.add(SparseRows(torch.cat([rows, rows[:1]]), numbers, background=True), 0)
    assert not total.total.any()


def test_a_background_that_is_not_counted_is_caught(monkeypatch):
    """Without its share of the norm the update comes out above the clip norm."""
    contribution = SparseRows(torch.tensor([2, 0]), torch.tensor([[0.1, 0.1, 0.1], [1.0, 1.0, 1.0]]), background=True)
    grid = Grid.for_round(0.7, 10, torch.float32)
    total = ClippedSum(1, 60, Layers((60,)), grid, CPU)
    assert exact_square(total.alone(contribution)) <= (0.7 / grid.unit) ** 2
    monkeypatch.setattr(clipping.torch, "dot", lambda left, right: (left * right).sum() * (len(left) > 3))
    assert exact_square(total.alone(contribution)) > (0.7 / grid.unit) ** 2


def test_rows_are_added_to_a_vector_like_the_vector_they_stand_for():
    rng = np.random.default_rng(5)
    rows, numbers = torch.from_numpy(rng.choice(20, 5, replace=False)), torch.from_numpy(rng.standard_normal((6, 3)))
    for contribution in (
        SparseRows(rows, numbers[:5]),
        SparseRows(torch.cat([rows, rows[:1]]), numbers, background=True),
    ):
        out = torch.from_numpy(rng.standard_normal(60))
        expected = out + contribution.dense(60)
        contribution.add_to(out)
        torch.testing.assert_close(out, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("others", [(4,), (3, 4)])
def test_differences_one_at_a_time_are_those_together(others):
    rng = np.random.default_rng(6)
    vectors, subtracted = torch.from_numpy(rng.standard_normal((3, 4))), torch.from_numpy(rng.standard_normal(others))
    differences = Differences(vectors, subtracted)
    assert torch.equal(torch.stack([each.clone() for each in differences]), vectors - subtracted)
    assert torch.equal(differences.together(), vectors - subtracted)
    kept = list(differences)  # not cloned: the last one overwrites them
    assert torch.equal(kept[0], kept[-1])
