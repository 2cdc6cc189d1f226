"""The facade: claims, methods, witnesses, errors."""

import json

import numpy as np
import pytest
from planted.additive import gaussian_sum, laplace_sum

from dpcert.mechanisms import Gaussian, InputError
from dpcert.proofs_checks.auditing import approximate_dp, audit, audit_samples, from_arrays, gdp, torch_score
from dpcert.proofs_checks.auditing.audit import SHARES
from dpcert.proofs_checks.auditing.classifiers import boosted_trees, logistic, network
from dpcert.proofs_checks.auditing.outputs import Outputs
from dpcert.proofs_checks.auditing.simple_scores import Histogram
from dpcert.proofs_checks.auditing.torch_score import torch_network

PAIR = ([1.0, 1.0], [1.0])


@pytest.mark.parametrize("method", ["best", "curve", "event", "band", "eprocess"])
def test_every_method_refutes_half_of_the_noise_and_passes_the_whole(method):
    assert audit(laplace_sum(0.5), PAIR, epsilon=1.0, trials=4000, method=method).refuted
    assert not audit(laplace_sum(1.0), PAIR, epsilon=1.0, trials=4000, method=method).refuted


def test_a_described_mechanism_is_a_claim():
    assert audit(gaussian_sum(0.5), PAIR, claim=Gaussian(1.0), trials=3000).refuted
    assert not audit(gaussian_sum(1.0), PAIR, claim=Gaussian(1.0), trials=3000).refuted


def test_the_shares_never_spend_more_than_alpha():
    for method, shares in SHARES.items():
        assert sum(shares.values()) == pytest.approx(1.0), method
    result = audit(gaussian_sum(1.0), PAIR, claim=gdp(1.0), trials=2000, alpha=0.05, delta=1e-5)
    separate = {test.method: test.error for test in result.tests}
    separate |= {(bound.method, bound.error): bound.error for bound in result.bounds}
    assert sum(separate.values()) <= 0.05 * (1 + 1e-9)


def test_the_witness_can_be_read_and_replayed():
    result = audit(laplace_sum(0.5), PAIR, epsilon=1.0, trials=5000, method="curve", seed=3)
    again = audit(laplace_sum(0.5), PAIR, epsilon=1.0, trials=5000, method="curve", seed=3)
    assert result.witness == again.witness
    text = str(result.witness)
    for part in ("[1.0, 1.0]", "output >=", "right", "p-value", "seed 3", "trials=5000"):
        assert part in text
    assert result.witness.correct > np.e * result.witness.wrong


def test_json_is_plain():
    result = audit(laplace_sum(0.5), PAIR, epsilon=1.0, trials=2000)
    data = json.loads(json.dumps(result.to_json()))
    assert data["refuted"] is True
    assert data["witness"]["p_value"] <= 0.01


def test_without_a_claim_there_are_only_bounds():
    result = audit(gaussian_sum(1.0), PAIR, delta=1e-5, trials=20_000)
    assert not result.refuted
    assert result.tests == ()
    assert 1.5 < result.epsilon_lower(1e-5) < 4.3774
    assert 0.9 < result.mu_lower < 1.0


def test_discrete_objects_and_transcripts():
    def votes(dataset, rng):
        return "yes" if rng.random() < (0.9 if dataset else 0.1) else "no"

    def transcript(dataset, rng):
        rounds = [float(rng.normal())]
        while rng.random() < (0.7 if dataset else 0.3) and len(rounds) < 6:
            rounds.append(float(rng.normal()))
        return {"rounds": rounds}

    assert audit(votes, (True, False), epsilon=1.0, trials=500).refuted
    assert not audit(votes, (True, False), epsilon=2.3, trials=500).refuted
    assert audit(transcript, (True, False), epsilon=0.3, trials=1500).refuted


@pytest.mark.parametrize(
    ("make", "library"),
    [(logistic, "sklearn"), (boosted_trees, "sklearn"), (network, "sklearn"), (torch_network, "torch")],
)
def test_learned_scores(make, library):
    """Twice the separation that is claimed, along one direction of twenty; the twin has what is claimed."""
    pytest.importorskip(library)
    direction = np.random.default_rng(0).normal(size=20)
    direction /= np.linalg.norm(direction)

    def vector(dataset, rng, size):
        return dataset * direction + rng.normal(size=(size, 20))

    options = {"claim": gdp(1.0), "method": "curve", "scores": [make()]}
    assert audit(vector, (2.0, 0.0), trials=2500, **options).refuted
    assert not audit(vector, (1.0, 0.0), trials=1000, **options).refuted


@pytest.mark.parametrize("make", [logistic, boosted_trees, network])
def test_learned_scores_take_every_seed(make):
    """assert_private's seeds have 63 bits, of which scikit-learn takes 32."""
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    mine, other = (Outputs(rng.normal(shift, 1.0, (200, 3))) for shift in (1.0, 0.0))
    assert make().fit(mine, other, seed=2**63 - 1)(mine).mean() > make().fit(mine, other, seed=2**32)(other).mean()


def test_a_vector_audit_with_a_large_seed():
    def vector(dataset, rng):
        return dataset + rng.normal(size=3)

    assert not audit(vector, (0.1, 0.0), claim=gdp(1.0), trials=600, seed=5_000_000_000).refuted


def test_a_torch_score_keeps_the_callers_seed_and_repeats():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    mine, other = (Outputs(rng.normal(shift, 1.0, (200, 3))) for shift in (1.0, 0.0))
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first = torch_network(epochs=2).fit(mine, other, seed=1)(other)
    assert torch.rand(1) == expected
    assert np.array_equal(first, torch_network(epochs=2).fit(mine, other, seed=1)(other))
    assert first.mean() < torch_network(epochs=2).fit(mine, other, seed=1)(mine).mean()


def test_torch_scores_without_torch(monkeypatch):
    monkeypatch.setattr(torch_score, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"dpcert\[train\]"):
        audit(gaussian_sum(1.0), PAIR, epsilon=1.0, trials=500, scores=[torch_network()])
    with pytest.raises(InputError, match="hidden"):
        torch_network(hidden=0)


@pytest.mark.parametrize("bins", [2, 40, 300])
def test_bins_are_those_of_a_search(bins):
    """The counted bins of 40,000 outputs, ties with the edges included, against numpy's search on sorted edges."""
    rng = np.random.default_rng(0)
    some, other = np.round(rng.normal(size=(2, 4_000, 1)), 3), np.round(rng.normal(1.0, size=(2, 40_000, 1)), 3)
    scorer = Histogram(bins=bins).fit(Outputs(some[0]), Outputs(some[1]), 0)
    edges = np.unique(np.quantile(some, np.linspace(0, 1, bins)[1:-1])) if bins > 2 else np.empty(0)
    counts = [np.bincount(np.searchsorted(edges, side.ravel()), minlength=len(edges) + 1) for side in some]
    odds = np.log(counts[0] + 0.5) - np.log(counts[1] + 0.5)
    for side in other:
        np.testing.assert_array_equal(scorer(Outputs(side)), odds[np.searchsorted(edges, side.ravel())])


def test_given_outputs():
    rng = np.random.default_rng(0)
    samples = from_arrays(rng.laplace(1, 0.5, 4000), rng.laplace(0, 0.5, 4000))
    assert audit_samples(samples, claim=approximate_dp(1.0)).refuted
    assert not audit_samples(samples, claim=approximate_dp(2.0), method="best").refuted


def test_nan_and_infinite_outputs():
    def odd(dataset, rng, size):
        return np.where(rng.random(size) < 0.3, dataset, rng.normal(size=size))

    for value in (np.nan, np.inf, -np.inf):
        assert audit(odd, (value, 0.5), epsilon=1.0, trials=1000).refuted


def test_constant_outputs_refute_nothing():
    assert not audit(lambda dataset, rng: 7, PAIR, epsilon=0.0, trials=200).refuted


def test_very_few_trials_refute_nothing():
    for trials in (1, 2, 5, 20):
        assert not audit(laplace_sum(1.0), PAIR, epsilon=1.0, trials=trials).refuted


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": 1.0, "delta": 2.0}, "delta"),
        ({"epsilon": 1.0, "alpha": 0.0}, "alpha"),
        ({"epsilon": 1.0, "trials": 0}, "trials"),
        ({"epsilon": 1.0, "method": "magic"}, "method"),
        ({"epsilon": 1.0, "method": "likelihood"}, "loss"),
        ({"method": "curve"}, "claim"),
        ({"epsilon": 1.0, "claim": gdp(1.0)}, "claim"),
        ({"epsilon": 1.0, "max_seconds": 0.0}, "max_seconds"),
    ],
)
def test_bad_input_is_named_before_any_trial(arguments, field):
    def never(dataset, rng):
        raise AssertionError("was run")

    with pytest.raises(InputError) as caught:
        audit(never, PAIR, **arguments)
    assert caught.value.field == field


def test_a_pair_is_two_datasets():
    with pytest.raises(InputError, match="pair"):
        audit(laplace_sum(1.0), ([1.0],), epsilon=1.0)
