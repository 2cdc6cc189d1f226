"""State machines: sparse vector and its like, stopping rules, retries. (12 broken, 10 sound)"""

from __future__ import annotations

from .case import Case, twins

ANSWERS = ([0.0, 1.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0, 1.0, 1.0])


def sparse_vector(first, other, most=1, *, again=False, value=False):
    """Above threshold: noise of scale `first` on the threshold, of scale `other` on the answers, at most `most` yes."""

    def mechanism(data, rng):
        bound, out, yes = rng.laplace(0, first), [], 0
        for answer in data:
            noisy = answer + (rng.laplace(0, other) if other else 0.0)
            if noisy >= bound:
                out.append(round(noisy, 3) if value else 1)
                yes += 1
                if yes == most:
                    break
                if again:
                    bound = rng.laplace(0, first)
            else:
                out.append(0)
        return out

    return mechanism


def until_above(scale):
    """Adds noise anew until the result is positive: which runs are kept depends on the data."""

    def mechanism(data, rng):
        for _ in range(40):
            noisy = sum(data) + rng.laplace(0, scale)
            if noisy > 2.5:
                return noisy
        return -1.0

    return mechanism


def counted_retries(data, rng):
    """The number of tries is told as well."""
    for tries in range(60):
        if sum(data) + rng.laplace(0, 2) > 5:
            return tries
    return 60


def clamped(scale):
    return lambda data, rng: max(2.5, sum(data) + rng.laplace(0, scale))


def binary_search(scale):
    """A median by five noisy comparisons, with noise of this scale each."""

    def mechanism(data, rng):
        low, high = 0.0, 1.0
        for _ in range(5):
            middle = (low + high) / 2
            above = sum(1 if value > middle else -1 for value in data) + rng.laplace(0, scale)
            low, high = (middle, high) if above > 0 else (low, middle)
        return low

    return mechanism


def prefix_sums(scale, reused):
    """Counts over time; `reused`: each count's increment is noised with the same noise again."""

    def mechanism(data, rng):
        total, out, noise = 0.0, [], rng.laplace(0, scale)
        for value in data:
            total += value
            out.append(round(total + noise, 6))
            if not reused:
                noise += rng.laplace(0, scale)
        return out

    return mechanism


def propose_test_release(noisy_test):
    """Releases exactly where the data are stable; `noisy_test`: whether the test for it is private."""

    def mechanism(data, rng):
        distance = sum(1 for value in data if value > 0.5)
        noise = rng.laplace(0, 1) if noisy_test else 0.0
        return 1 if distance + noise > 3.5 else 0

    return mechanism


def budget_by_data(data, rng):
    """More noise where the first answer was small: but the first answer is looked at without noise."""
    scale = 1.0 if sum(data) > 1.5 else 1.5
    return sum(data) + rng.laplace(0, scale)


def two_steps(data, rng):
    """The same choice, made by a noisy answer."""
    first = sum(data) + rng.laplace(0, 2)
    return (round(first, 3), sum(data) + rng.laplace(0, 2))


def sticky(rate):
    """Ten coins; once it is heads it stays so at the data's word."""

    def mechanism(data, rng):
        state, out = 0, []
        for _ in range(10):
            state = int(rng.random() < (rate if state == data[0] else 0.5))
            out.append(state)
        return out

    return mechanism


CASES: tuple[Case, ...] = (
    *twins("sparse vector, no noise on answers", ANSWERS, 1.0, sparse_vector(2, 0), sparse_vector(2, 4)),
    *twins("sparse vector, answers' noise halved twice", ANSWERS, 1.0, sparse_vector(2, 1)),
    *twins("sparse vector, three yes for the price of one", ANSWERS, 1.0, sparse_vector(2, 4, 6),
           sparse_vector(2, 12, 3)),
    *twins("sparse vector with its values", ([1.0] * 12, [0.0] * 12), 1.0, sparse_vector(2, 4, value=True)),
    *twins("new thresholds for nothing", ANSWERS, 1.0, sparse_vector(2, 2, 6, again=True),
           sparse_vector(12, 24, 6, again=True)),
    *twins("noise until it is positive", ([1.0, 1.0], [1.0, 0.0]), 0.5, until_above(1.0),
           clamped(2.0)),
    *twins("number of tries told", ([1.0, 1.0], [1.0, 0.0]), 0.3, counted_retries, clamped(4.0)),
    *twins("binary search at one step's price", ([0.2] * 2 + [0.9] * 3, [0.2] * 3 + [0.9] * 2), 1.0,
           binary_search(2.0), binary_search(10.0)),
    *twins("prefix sums with one noise", ([1.0, 0.0, 1.0], [1.0, 1.0, 1.0]), 1.0, prefix_sums(1.0, True),
           prefix_sums(1.0, False)),
    *twins("test without noise", ([1.0] * 4, [1.0] * 3 + [0.0]), 1.0, propose_test_release(False),
           propose_test_release(True)),
    *twins("noise chosen by the data", ([1.0, 0.0], [1.0, 1.0]), 1.0, budget_by_data, two_steps),
    *twins("a sticky coin", ([1], [0]), 1.0, sticky(0.6), sticky(0.525)),
)  # fmt: skip
