"""The engine: what it draws, adds, describes, refuses; on the code path that trainers run."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from dpcert.accounting.epsilon import epsilon
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Poisson, Repeat
from dpcert.trainers.data.synthetic import mean_estimation, related_tasks
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.engine.cohort import CohortSampler
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.settings import AdaptiveClip, LocalSteps, Settings, next_clip_norm, update_noise_multiplier
from dpcert.trainers.engine.streams import Streams, new_seed
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.federated import DpFedAvg, LocalOnly, Pmtl

torch.set_num_threads(1)
FEDERATION = related_tasks(population=12, features=4, classes=3, samples=12, seed=5)
LOCAL = LocalSteps(learning_rate=0.3, batch_size=3)


def settings(**changed):
    base = {"rounds": 4, "cohort": 6, "noise_multiplier": 1.5, "clip_norm": 0.5, "local": LOCAL, "seed": 11}
    return Settings(**(base | changed))


def train(algorithm=None, goal=PrivacyGoal(), model="logistic", **changed):  # noqa: B008 - frozen
    board = RecordingBillboard()
    trainer = Trainer(FEDERATION, algorithm or Pmtl(0.5), model, settings(**changed), goal, billboard=board)
    return trainer, trainer.run(), board


# Randomness


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sampling", ["poisson", "fixed-size", "full"])
def test_runs_are_reproducible_to_the_bit(dtype, sampling):
    one, other = (train(dtype=dtype, sampling=sampling)[2] for _ in range(2))
    for left, right in zip(one.billboard + one.outputs, other.billboard + other.outputs, strict=True):
        assert left.tobytes() == right.tobytes()


def test_seeds_matter_and_are_secret_by_default():
    assert train(seed=1)[2].billboard[-1].tobytes() != train(seed=2)[2].billboard[-1].tobytes()
    assert train(seed=None)[2].billboard[-1].tobytes() != train(seed=None)[2].billboard[-1].tobytes()
    assert len({new_seed() for _ in range(100)}) == 100
    assert max(new_seed() for _ in range(50)) > 2**100


def noise_of_a_run(rounds=60, **changed):
    """(rounds, d) noise in units of clip_norm, of a run whose updates are real."""
    board = train(rounds=rounds, **changed)[2]
    return np.stack([noise.ravel() for noise in board.noise[1:]]) / changed.get("clip_norm", 0.5)


def test_noise_has_the_stated_scale_and_is_independent():
    """Fixed seed; each test below has a level of 1e-6 under the hypothesis of right noise."""
    for clip_norm, multiplier in ((0.5, 1.5), (4.0, 0.7)):
        noise = noise_of_a_run(clip_norm=clip_norm, noise_multiplier=multiplier)
        count = noise.size
        square = float((noise**2).sum()) / multiplier**2
        assert stats.chi2.ppf(5e-7, count) < square < stats.chi2.ppf(1 - 5e-7, count)
        assert stats.kstest(noise.ravel() / multiplier, "norm").pvalue > 1e-6
        # Between rounds and between coordinates: sample correlations of independent columns are N(0, 1/n).
        for table in (noise, noise.T):
            correlation = np.corrcoef(table)[np.triu_indices(len(table), 1)]
            bound = stats.norm.isf(5e-7 / len(correlation)) / math.sqrt(table.shape[1])
            # Fisher's transform makes the bound valid for small samples too.
            fisher = np.abs(np.arctanh(correlation)) * math.sqrt(max(table.shape[1] - 3, 1) / table.shape[1])
            assert fisher.max() < bound * 1.05


def test_wrong_noise_scale_is_caught():
    """The scale test's power: noise 10% too small falls far outside the interval."""
    noise = noise_of_a_run(noise_multiplier=0.9 * 1.5)
    assert float((noise**2).sum()) / 1.5**2 < stats.chi2.ppf(5e-7, noise.size)


def test_noise_does_not_depend_on_the_data():
    other = related_tasks(population=12, features=4, classes=3, samples=12, seed=6)
    boards = []
    for federation in (FEDERATION, other):
        boards.append(RecordingBillboard())
        Trainer(federation, Pmtl(0.5), "logistic", settings(), billboard=boards[-1]).run()
    for left, right in zip(boards[0].noise, boards[1].noise, strict=True):
        assert left.tobytes() == right.tobytes()
    assert boards[0].pre_noise[1].tobytes() != boards[1].pre_noise[1].tobytes()


def test_release_is_the_sum_of_the_messages_plus_noise():
    _, _, board = train(noise_multiplier=0.3, clip_norm=0.01)
    for round_index in range(4):
        messages = [message for (t, _), message in board.messages.items() if t == round_index]
        assert all(np.linalg.norm(message) <= 0.01 for message in messages)
        np.testing.assert_array_equal(np.sum(messages, axis=0), board.pre_noise[round_index + 1][0])
        np.testing.assert_array_equal(
            board.pre_noise[round_index + 1] + board.noise[round_index + 1], board.billboard[round_index + 1]
        )


# Cohorts


def test_cohorts_follow_their_scheme():
    streams = Streams(3)
    fixed = CohortSampler(settings(sampling="fixed-size"), 12)
    poisson = CohortSampler(settings(sampling="poisson"), 12)
    draws = [fixed.draw(streams, 0, t) for t in range(2000)]
    assert all(len(set(cohort.tolist())) == 6 for cohort in draws)
    for sampler in (fixed, poisson):
        counts = np.bincount(np.concatenate([sampler.draw(streams, 0, t) for t in range(2000)]), minlength=12)
        # Each count is Binomial(2000, 1/2); level 1e-6 over the 12 clients.
        assert np.abs(counts - 1000).max() < stats.norm.isf(1e-6 / 24) * math.sqrt(500) + 1
    sizes = [len(poisson.draw(streams, 0, t)) for t in range(2000)]
    assert abs(np.var(sizes) - 3) < 1
    assert min(sizes) < 3 < 9 < max(sizes)
    full = CohortSampler(settings(sampling="full"), 12)
    assert full.draw(streams, 0, 0).tolist() == list(range(12))


def test_poisson_sums_are_divided_by_the_expected_cohort():
    """Doubling the realised cohort doubles the step: the denominator never moves with who came."""
    trainer, _, board = train(DpFedAvg(), noise_multiplier=0.0, rounds=1)
    step = board.billboard[1][0] / 6
    np.testing.assert_allclose(trainer.shared[0].numpy() - board.billboard[0][0], step, rtol=0, atol=0)
    assert len(board.messages) != 6 or train(DpFedAvg(), seed=12)[2].messages.keys() != board.messages.keys()


def test_an_empty_cohort_is_a_round_of_pure_noise():
    federation = related_tasks(population=200, features=2, classes=2, samples=4)
    board = RecordingBillboard()
    Trainer(federation, DpFedAvg(), settings=settings(cohort=1, rounds=8), billboard=board).run()
    empty = [t for t in range(8) if not any(t == key[0] for key in board.messages)]
    assert empty
    assert all((board.pre_noise[t + 1] == 0).all() and (board.noise[t + 1] != 0).any() for t in empty)


# Description and cost


def test_mechanism_descriptions():
    def described(**changed):
        return Trainer(FEDERATION, Pmtl(), settings=settings(**changed)).mechanism()

    assert described() == Repeat(Poisson(Gaussian(1.5), 0.5), 4)
    assert described(sampling="fixed-size") == Repeat(FixedSize(Gaussian(1.5), 12, 6), 4)
    assert described(sampling="full") == Repeat(Gaussian(1.5), 4)
    assert described(cohort=12) == Repeat(Gaussian(1.5), 4)
    assert described(clipping="per-layer") == Repeat(Poisson(Gaussian(1.5), 0.5), 4)
    adaptive = AdaptiveClip(count_noise=2.0)
    assert described(clipping="adaptive", adaptive=adaptive) == Repeat(Poisson(Gaussian(1.5), 0.5), 4)
    assert described(noise_multiplier=0.0) is None


def test_privacy_is_the_accountants():
    goal = PrivacyGoal(delta=1e-4, neighbouring="zero-out")
    _, outcome, _ = train(goal=goal)
    run = Repeat(Poisson(Gaussian(1.5), 0.5), 4)
    assert outcome.privacy == epsilon(run, 1e-4, "zero-out", notion="billboard")
    assert outcome.mechanism == run
    assert outcome.spent == outcome.rounds == 4
    assert train(noise_multiplier=0.0)[1].privacy is None
    local = train(LocalOnly())[1]
    assert local.privacy is not None
    assert local.privacy.upper == 0


def test_fixed_cohorts_earn_no_amplification_against_the_coalition():
    fixed = train(sampling="fixed-size")[1].privacy
    poisson = train(sampling="poisson")[1].privacy
    assert fixed is not None
    assert poisson is not None
    assert fixed.lower > poisson.upper


def test_budget_is_never_exceeded_and_used_up():
    goal = PrivacyGoal(delta=1e-3, budget=3.0)
    _, outcome, _ = train(goal=goal, rounds=1000, noise_multiplier=3.0)
    assert outcome.stopped_by_budget
    assert outcome.privacy is not None
    assert outcome.privacy.upper <= 3.0
    one_more = epsilon(Repeat(Poisson(Gaussian(3.0), 0.5), outcome.spent + 1), 1e-3, "replace-one", notion="billboard")
    assert one_more.upper > 3.0


def test_budget_below_one_round_trains_nothing():
    _, outcome, board = train(goal=PrivacyGoal(delta=1e-5, budget=0.01))
    assert (outcome.rounds, outcome.spent, outcome.stopped_by_budget) == (0, 0, True)
    assert len(board.billboard) == 1


def test_adaptive_clipping_splits_the_noise():
    """1/z^2 = 1/z_update^2 + 1/(2 sigma_b)^2, the cost of both releases in units of their sensitivities."""
    told = settings(clipping="adaptive", adaptive=AdaptiveClip(count_noise=2.0))
    update = update_noise_multiplier(told, 6)
    assert 1 / update**2 + 1 / (2 * 2.0) ** 2 == pytest.approx(1 / 1.5**2, rel=1e-14)
    assert update > 1.5
    with pytest.raises(InputError, match="half the noise multiplier"):
        update_noise_multiplier(settings(clipping="adaptive", adaptive=AdaptiveClip(count_noise=0.75)), 6)


@pytest.mark.parametrize(("multiplier", "members"), [(2.0, 4), (16.0, 50), (0.5, 100)])
def test_adaptive_clipping_of_small_cohorts_needs_no_setting(multiplier, members):
    """By default there is noise enough on the count, and both together cost what one release would."""
    told = settings(clipping="adaptive", noise_multiplier=multiplier)
    update, steers = update_noise_multiplier(told, members), max(members / 20, multiplier)
    assert update**-2 + (2 * steers) ** -2 == pytest.approx(multiplier**-2, rel=1e-14)
    assert multiplier < update <= 1.16 * multiplier


def test_adaptive_clipping_finds_the_quantile():
    told = AdaptiveClip(quantile=0.5, count_noise=1.0)
    trainer, _, board = train(DpFedAvg(), rounds=60, clipping="adaptive", adaptive=told, clip_norm=50.0, cohort=12)
    norms = [np.linalg.norm(message) for (t, _), message in board.messages.items() if t > 40]
    assert trainer.clip_norm is not None
    assert 0.2 < np.mean(np.array(norms) < trainer.clip_norm * 0.999) < 0.8
    assert board.sensitivity[1:3] == [100.0, 1.0]
    counts = np.array([value[0] for value in board.noise[2::2]])
    assert 0.4 < counts.std() < 1.8  # chi-square with 60 degrees of freedom: beyond 9 standard errors
    assert (
        next_clip_norm(settings(clipping="adaptive"), 1.0, 6.0, 6)
        < 1.0
        < next_clip_norm(settings(clipping="adaptive"), 1.0, -6.0, 6)
    )


def test_clients_that_diverge_contribute_nothing():
    board = RecordingBillboard()
    told = settings(local=LocalSteps(learning_rate=1e30, epochs=30), noise_multiplier=0.0, rounds=2, solver="loop")
    Trainer(mean_estimation(population=12), DpFedAvg(), settings=told, billboard=board).run()
    assert len(board.messages) > 0
    assert all((message == 0).all() for message in board.messages.values())
    assert np.isfinite(board.billboard[1]).all()


# Bad input


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"cohort": 13}, "at most the number of clients"),
        ({"clip_norm": None}, "protects nothing without a bound"),
        ({"clip_norm": None, "noise_multiplier": 0.0, "clipping": "adaptive"}, "adaptive clipping"),
        ({"noise_multiplier": -1.0}, "at least 0"),
        ({"noise_multiplier": math.nan}, "finite"),
        ({"rounds": 0}, "at least 1"),
        ({"device": "tpu"}, "one of auto, cpu, cuda"),
        ({"dtype": "float16"}, "one of float32, float64"),
        ({"sampling": "random"}, "one of poisson"),
        ({"seed": -1}, "at least 0"),
        ({"solver": "magic"}, "one of auto"),
    ],
)
def test_bad_settings(changed, expected):
    with pytest.raises(InputError, match=expected):
        train(**changed)


def test_models_that_do_not_fit():
    with pytest.raises(InputError, match="3 outputs"):
        train(model=torch.nn.Linear(4, 5))
    with pytest.raises(InputError, match="features of shape"):
        train(model=torch.nn.Linear(7, 3))
    with pytest.raises(InputError, match="one of cnn, logistic, mlp"):
        train(model="transformer")
    with pytest.raises(InputError, match="16 x 16"):
        Trainer(FEDERATION, Pmtl(), "cnn", settings())
    with pytest.raises(InputError, match="dual"):
        train(model="mlp", solver="dual")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_where_there_is_none():
    with pytest.raises(InputError, match="no CUDA device"):
        train(device="cuda")


def test_budget_needs_noise():
    with pytest.raises(InputError, match="noise multiplier"):
        train(goal=PrivacyGoal(budget=1.0), noise_multiplier=0.0)


def test_any_module_trains():
    module = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Dropout(0.2), torch.nn.Linear(6, 3))
    before = [value.clone() for value in module.parameters()]
    _, outcome, _ = train(DpFedAvg(), model=module, noise_multiplier=0.0, clip_norm=None, rounds=15)
    assert outcome.final["test_accuracy"] > 0.5
    assert all(torch.equal(left, right) for left, right in zip(before, module.parameters(), strict=True))
