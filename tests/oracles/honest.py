"""Forty private functions as people write them: statisticians, privacy engineers, deep-learning researchers.

Written before what proves them. HONEST: (function, options of `prove`, with its epsilon, rho, or epsilon and delta).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from dpcert.mechanisms.samplers import discrete_laplace

EPSILON = 0.5
CLIP = 1.0
EDGES = [0.0, 0.25, 0.5, 0.75, 1.0]


# As a statistician.


def private_mean(data, rng, epsilon=1.0, low=0.0, high=1.0):
    """Mean of clipped values; the number of people is public."""
    clipped = np.clip(data, low, high)
    return clipped.mean() + rng.laplace(0, (high - low) / (epsilon * len(data)))


def mean_by_sum_and_count(data, rng):
    """Both with noise, then divided: the number of people is private."""
    total = np.sum(np.clip(data, 0, 1)) + rng.laplace(scale=2)
    count = len(data) + rng.laplace(scale=2)
    return total / max(count, 1.0)


def variance_from_moments(data, rng):
    """E[x^2] - E[x]^2, from two noisy sums."""
    n = len(data)
    first = (np.sum(data) + rng.laplace(0, 2)) / n
    second = (np.sum(data**2) + rng.laplace(0, 2)) / n
    return max(second - first * first, 0.0)


def histogram_by_numpy(data, rng):
    counts, _ = np.histogram(data, bins=EDGES)
    return counts + rng.laplace(0, 2 / EPSILON, size=len(counts))


def histogram_as_shares(data, rng):
    counts = np.array([np.sum((data >= low) & (data < high)) for low, high in zip(EDGES[:-1], EDGES[1:])])  # noqa: B905, RUF007
    noisy = np.maximum(counts + rng.laplace(0, 2, len(counts)), 0)
    return noisy / max(noisy.sum(), 1e-9)


def proportion(data, rng):
    """Share of the values above a half, clamped to [0, 1]."""
    share = np.mean(data > 0.5) + rng.laplace(0, 1 / len(data))
    return min(max(share, 0.0), 1.0)


def noisy_count(data, rng):
    return int(sum(1 for x in data if x > 0.5)) + rng.laplace(0, 1)


def geometric_count(data, rng):
    """A whole number, with two-sided geometric noise."""
    count = int((data > 0.5).sum())
    return count + discrete_laplace(1.0)


def quantile_by_exponential(data, rng, candidates=(0.1, 0.3, 0.5, 0.7, 0.9), epsilon=1.0):
    """The exponential mechanism for a median, by Gumbel noise."""
    scores = [-abs(np.sum(data < c) - np.sum(data > c)) for c in candidates]
    noisy = [epsilon * s / 4 + rng.gumbel() for s in scores]
    return candidates[int(np.argmax(noisy))]


def randomized_response(data, rng):
    return [bool(x > 0.5) if rng.random() < 0.75 else bool(x <= 0.5) for x in data]


def debiased_response(data, rng, p=0.75):
    """Counts the answers and takes out the bias."""
    answers = [int(x > 0.5) if rng.random() < p else int(x <= 0.5) for x in data]
    return (sum(answers) - (1 - p) * len(answers)) / (2 * p - 1)


def rounded_release(data, rng):
    """What is published has two decimals."""
    return round(float(np.sum(data)) + rng.laplace(0, 1), 2)


def report(data, rng):
    """A sentence for a newspaper."""
    total = data.sum() + rng.laplace(0, 1)
    return f"The total is about {total:.1f}."


def clipped_total(data, rng):
    assert CLIP > 0, "a bound is needed"
    return sum(min(max(float(x), -CLIP), CLIP) for x in data) + rng.laplace(0, 2 * CLIP / EPSILON)


def sum_of_squares(data, rng):
    return float(np.square(data).sum()) + rng.laplace(0, 1)


def confidence_interval(data, rng):
    estimate = np.sum(data) + rng.laplace(0, 1)
    half = 1.96 * math.sqrt(2.0)
    return estimate - half, estimate + half


# As a privacy engineer.


@dataclass
class Config:
    epsilon: float = 1.0
    sensitivity: float = 1.0

    def scale(self) -> float:
        return self.sensitivity / self.epsilon


def configured(data, rng, config=Config(epsilon=0.5)):  # noqa: B008
    """Noise by a configuration."""
    return np.sum(data) + rng.laplace(0.0, config.scale())


@dataclass(frozen=True)
class Released:
    total: float
    count: float


def structured(data, rng) -> Released:
    total = float(data.sum()) + rng.laplace(0, 2)
    count = float((data > 0.5).sum()) + rng.laplace(0, 2)
    return Released(total=total, count=count)


def as_a_dict(data, rng) -> dict[str, float]:
    result = {}
    result["sum"] = data.sum() + rng.laplace(0, 2)
    result["large"] = (data > 0.9).sum() + rng.laplace(0, 2)
    return result


class LaplaceMechanism:
    """A class with plain methods."""

    def __init__(self, epsilon: float, sensitivity: float = 1.0) -> None:
        self.epsilon = epsilon
        self.sensitivity = sensitivity

    def noise(self, rng) -> float:
        return rng.laplace(0, self.sensitivity / self.epsilon)

    def release(self, data, rng) -> float:
        return float(np.sum(data)) + self.noise(rng)


def add_noise(value, scale, rng):
    return value + rng.laplace(0, scale)


def by_a_helper(data, rng):
    return add_noise(data.sum(), 1 / EPSILON, rng)


def scaled_sum(data, rng, *, scale):
    return np.sum(data) + rng.laplace(0, scale)


def threshold_test(data, rng):
    """Whether there are at least ten, with noise on the count."""
    return bool(len([x for x in data if x > 0.5]) + rng.laplace(0, 1) >= 10)


def above_threshold(answers, rng, threshold=5.0, epsilon=1.0):
    """Sparse vector: the first answer above, if any."""
    noisy_threshold = threshold + rng.laplace(0, 2 / epsilon)
    for i, answer in enumerate(answers):
        if answer + rng.laplace(0, 4 / epsilon) >= noisy_threshold:
            return i
    return None


def sparse_vector(answers, rng, threshold=5.0, most=2):
    out, count = [], 0
    bound = threshold + rng.laplace(0, 2)
    for answer in answers:
        above = bool(answer + rng.laplace(0, 4 * most) >= bound)
        out.append(above)
        if above:
            count += 1
            if count >= most:
                break
    return out


def report_noisy_max(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2 / EPSILON, size=len(answers))))


def exponential_mechanism(scores, rng):
    """By choice with weights."""
    weights = np.exp(0.5 * (scores - np.max(scores)))
    return int(rng.choice(len(scores), p=weights / weights.sum()))


def gumbel_max(scores, rng):
    noisy = 0.5 * np.asarray(scores) + rng.gumbel(0, 1, size=len(scores))
    return np.argmax(noisy)


def top_k_by_peeling(scores, rng, k=2):
    """The best is taken out, k times."""
    chosen = []
    left = list(range(len(scores)))
    for _ in range(min(k, len(scores))):
        noisy = [scores[i] + rng.gumbel(0, 2 * k) for i in left]
        best = int(np.argmax(noisy))
        chosen.append(left.pop(best))
    return chosen


def running_counts(data, rng):
    """A stream: after every entry the count so far."""
    total, out = 0.0, []
    for x in data:
        total += float(x > 0.5)
        out.append(total + rng.laplace(0, len(data)))
    return out


def two_queries(data, rng):
    first = np.sum(data > 0.3) + rng.laplace(0, 2)
    second = np.sum(data > 0.7) + rng.laplace(0, 2)
    return [first, second, first - second]


def adaptive_choice(data, rng):
    """A first look decides what is asked next."""
    size = np.sum(data) + rng.laplace(0, 2)
    if size > 10:
        return "large", np.sum(data > 0.9) + rng.laplace(0, 2)
    return "small", np.sum(data < 0.1) + rng.laplace(0, 2)


def difference_of_exponentials(data, rng):
    """Laplace noise, drawn in another way."""
    return np.sum(data) + rng.exponential(1) - rng.exponential(1)


def every_entry(data, rng):
    """Local noise."""
    return np.clip(data, 0, 1) + rng.laplace(0, 1 / EPSILON, size=data.shape)


# As a deep-learning researcher.


def clipped_gradient_sum(grads, rng):
    """Scalar gradients, clipped by their size."""
    clipped = [g * min(1.0, CLIP / max(abs(g), 1e-12)) for g in grads]
    return sum(clipped) + rng.normal(0, 2 * CLIP * 2.0)


def noisy_gradient_mean(grads, rng, clip=1.0, noise_multiplier=4.0):
    """A step's gradient with Gaussian noise, over a public number of examples."""
    total = np.clip(grads, -clip, clip).sum()
    return (total + rng.normal(0, noise_multiplier * clip)) / len(grads)


def gaussian_histogram(data, rng):
    counts, _ = np.histogram(data, bins=4, range=(0.0, 1.0))
    return counts + rng.normal(0, 4.0, size=4)


def gaussian_mean_and_square(data, rng):
    return np.array([data.sum(), (data**2).sum()]) + rng.normal(0, 4.0, size=2)


def learning_step(grads, rng, weight=1.0, rate=0.1):
    """The new weight: post-processing of a noisy sum."""
    noisy = np.clip(grads, -1, 1).sum() + rng.laplace(0, 2)
    return weight - rate * noisy / len(grads)


def accuracy(hits, rng):
    """Share of the predictions that are right, for model selection."""
    return float(np.mean(hits > 0.5)) + rng.laplace(0, 1 / len(hits))


def best_of_models(scores, rng):
    """Private selection, and the score of the winner anew."""
    winner = int(np.argmax(scores + rng.laplace(0, 4, len(scores))))
    return winner, scores[winner] + rng.laplace(0, 2)


ANSWERS = {"relation": "answers"}
ADDED = {"relation": "add-remove"}
HONEST = {
    "private mean": (private_mean, {"epsilon": 1}),
    "mean by sum and count": (mean_by_sum_and_count, {"epsilon": 1, **ADDED}),
    "variance from moments": (variance_from_moments, {"epsilon": 1}),
    "histogram by numpy": (histogram_by_numpy, {"epsilon": 0.5}),
    "histogram as shares": (histogram_as_shares, {"epsilon": 1}),
    "proportion": (proportion, {"epsilon": 1}),
    "noisy count": (noisy_count, {"epsilon": 1}),
    "geometric count": (geometric_count, {"epsilon": 1}),
    "quantile by exponential": (quantile_by_exponential, {"epsilon": 1}),
    "randomized response": (randomized_response, {"epsilon": 1.1}),
    "debiased response": (debiased_response, {"epsilon": 1.1}),
    "rounded release": (rounded_release, {"epsilon": 1}),
    "report": (report, {"epsilon": 1}),
    "clipped total": (clipped_total, {"epsilon": 0.5, "low": -5, "high": 5}),
    "sum of squares": (sum_of_squares, {"epsilon": 1}),
    "confidence interval": (confidence_interval, {"epsilon": 1}),
    "configured": (configured, {"epsilon": 0.5}),
    "structured": (structured, {"epsilon": 1}),
    "as a dict": (as_a_dict, {"epsilon": 1}),
    "a class": (LaplaceMechanism(0.5).release, {"epsilon": 0.5}),
    "by a helper": (by_a_helper, {"epsilon": 0.5}),
    "a partial": (functools.partial(scaled_sum, scale=2.0), {"epsilon": 0.5}),
    "a lambda": (lambda data, rng: np.sum(data) + rng.laplace(0, 1 / EPSILON), {"epsilon": 0.5}),
    "threshold test": (threshold_test, {"epsilon": 1}),
    "above threshold": (above_threshold, {"epsilon": 1, **ANSWERS}),
    "sparse vector": (sparse_vector, {"epsilon": 1, **ANSWERS}),
    "report noisy max": (report_noisy_max, {"epsilon": 0.5, **ANSWERS}),
    "exponential mechanism": (exponential_mechanism, {"epsilon": 1, **ANSWERS}),
    "gumbel max": (gumbel_max, {"epsilon": 1, **ANSWERS}),
    "top k by peeling": (top_k_by_peeling, {"epsilon": 1, **ANSWERS}),
    "running counts": (running_counts, {"epsilon": 1}),
    "two queries": (two_queries, {"epsilon": 1}),
    "adaptive choice": (adaptive_choice, {"epsilon": 1}),
    "difference of exponentials": (difference_of_exponentials, {"epsilon": 1}),
    "every entry": (every_entry, {"epsilon": 0.5}),
    "clipped gradient sum": (clipped_gradient_sum, {"rho": 0.125, "low": -10, "high": 10}),
    "noisy gradient mean": (noisy_gradient_mean, {"rho": 0.125, "low": -10, "high": 10}),
    "gaussian histogram": (gaussian_histogram, {"rho": 0.0625}),
    "gaussian mean and square": (gaussian_mean_and_square, {"rho": 0.0625}),
    "learning step": (learning_step, {"epsilon": 1, "low": -10, "high": 10}),
    "accuracy": (accuracy, {"epsilon": 1}),
    "best of models": (best_of_models, {"epsilon": 1, **ANSWERS}),
}
