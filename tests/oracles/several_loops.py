"""Several loops over the data, arrays made of it without a loop, scales that hang on its length, and loops about which
something is said: private mechanisms with their least epsilon for every number of entries, and such that leak."""

from __future__ import annotations

import math

import numpy as np

from dpcert.proofs_checks.proving import prove

LATE = 8


def in_numpy(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2, len(answers))))


def by_name(answers, rng):
    noisy = answers + rng.gumbel(scale=2, size=len(answers))
    where = np.argmax(noisy)
    return int(where)


def by_comprehension(answers, rng):
    return int(np.argmax(np.array([x + rng.exponential(2) for x in answers])))


def smallest(answers, rng):
    return (answers + rng.laplace(0, 2, answers.size)).argmin()


def from_the_second_on(answers, rng):
    best, where = answers[0] + rng.laplace(0, 2), 0
    for i in range(1, len(answers)):
        value = answers[i] + rng.laplace(0, 2)
        if value > best:
            best, where = value, i
    return where


def prefix_sums(data, rng):
    return np.cumsum(data) + rng.laplace(0, len(data), len(data))


def prefix_sums_by_a_loop(data, rng):
    total, out = 0, []
    for x in data:
        total = total + x
        out.append(total + rng.laplace(0, len(data)))
    return out


def sums_of_noisy_entries(data, rng):
    return np.cumsum(data + rng.laplace(0, 1, len(data)))


def each(data, rng):
    return [x + rng.laplace(0, 1) for x in data]


def clipped_by_name(data, rng):
    clipped = np.clip(data, 0, 0.5)
    return clipped.sum() + rng.laplace(0, 1)


def select_then_test(answers, rng):
    where = np.argmax(answers + rng.laplace(0, 4, len(answers)))
    bound, out = rng.laplace(0, 4), []
    for answer in answers:
        above = bool(answer + rng.laplace(0, 8) >= bound)
        out.append(above)
        if above:
            break
    return int(where), out


def first_then_select(answers, rng):
    noisy = 0
    for answer in answers:
        noisy = noisy + answer + rng.laplace(0, 4)
        break
    best, where = -math.inf, -1
    for i, answer in enumerate(answers):
        value = answer + rng.laplace(0, 4)
        if value > best:
            best, where = value, i
    return noisy, where


def sum_then_each(data, rng):
    total = 0
    for x in data:
        total += min(x, 1)
    noisy, out = total + rng.laplace(0, 2), []
    for x in data:
        out.append(x + rng.laplace(0, 2))
    return noisy, out


def sum_then_count(data, rng):
    total = sum(data) + rng.laplace(0, 2)
    above = 0
    for x in data:
        if x > 0.5:
            above += 1
    return total, above + rng.laplace(0, 2)


def up_to_a_hundred(scale, said, share):
    """Sparse vector; said: how many are above at most before a step; share: of 1/200, what each is said to cost."""

    def above_the_threshold(answers, rng):
        bound, out, count = rng.laplace(0, 2), [], 0
        for answer in answers:
            prove.invariant(count <= said, spent=0.5 + count * share / 200)
            above = bool(answer + rng.laplace(0, scale) >= bound)
            out.append(above)
            if above:
                count += 1
                if count == 100:
                    break
        return out

    return above_the_threshold


hundred_above = up_to_a_hundred(400, said=99, share=1)
false_fact = up_to_a_hundred(40, said=9, share=10)
false_spending = up_to_a_hundred(40, said=99, share=0)


def forty_above(answers, rng):
    bound, out, count = rng.laplace(0, 2), [], 0
    for answer in answers:
        prove.invariant(count < 40)
        above = bool(answer + rng.laplace(0, 160) >= bound)
        out.append(above)
        if above:
            count += 1
            if count == 40:
                break
    return out


def exact_sum_in_the_second(data, rng):
    total = 0
    for x in data:
        total += x
    out = []
    for _x in data:
        out.append(total + rng.laplace(0, 1))
    return out


def late_in_the_second(data, rng):
    count, out = 0, []
    for _x in data:
        count = count + 1
    for x in data:
        out.append(x if count > LATE else x + rng.laplace(0, 1))
    return out


def long_data(data, rng):
    scale = 1 / 1024 if len(data) > LATE else 1
    return sum(data) + rng.laplace(0, scale)


def prefix_sums_of_too_little(data, rng):
    return np.cumsum(data) + rng.laplace(0, 1, len(data))


def one_noise(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2)))


def many_selections(answers, rng):
    return [int(np.argmax(answers + rng.laplace(0, 2, len(answers)))) for _ in range(9)]


def its_value(answers, rng):
    noisy = answers + rng.laplace(0, 2, len(answers))
    return int(np.argmax(noisy)), noisy[0]


def noise_used_twice(data, rng):
    noisy = data + rng.laplace(0, 1, len(data))
    return noisy, (noisy - data).sum()


def ended_early(data, rng):
    """How far the first loop came is told by what the second does."""
    left = 0
    for x in data:
        if x > 0.5:
            break
        left = left + 1
    out = []
    for x in data:
        out.append(x + left + rng.laplace(0, 1))
    return out


def set_again(data, rng):
    """The array that is returned is another one where the sum is larger than any that is tried."""
    total = 0
    for x in data:
        total += x
    noisy = data + rng.laplace(0, 1, len(data))
    if total + rng.laplace(0, 1) > 100:
        noisy = total
    return noisy


def added_to(data, rng):
    noisy = data + rng.laplace(0, 1, len(data))
    if len(data) > LATE:
        noisy += 1 / 1024
    return noisy


def one_scale_for_all(data, rng):
    return data + rng.laplace(0, 1 + rng.exponential(), len(data))


def matched(data, rng):
    total = 0
    for x in data:
        total += x
    noisy = data + rng.laplace(0, 1, len(data))
    match [total]:
        case [noisy] if total > 100:
            pass
    return noisy


def parameter_again(data, rng):
    first = (lambda data: sum(data))([LATE if len(data) > LATE else 0])
    return sum(data) * (1 - first) + rng.laplace(0, 1)


def one_more(values):
    """A sum of few values, of many the first."""
    return values[0] if len(values) > LATE else sum(values)


def sum_by_another_name(sum):
    """A sum that is none."""

    def exact(data, rng):
        return sum(data) + rng.laplace(0, 1)

    return exact


class Remembering:
    """Looks like what a mechanism may know, and carries something between steps."""

    invariant = prove.invariant
    count = 0


SEEN = Remembering()


def late_by_an_annotation(data, rng):
    out = []
    for entry in data:
        SEEN.invariant(entry >= 0)
        out.append(entry if SEEN.count > LATE else entry + rng.laplace())
    return out


ANSWERS = {"relation": "answers"}
PRIVATE = (
    (in_numpy, 1.0, ANSWERS),
    (by_name, 1.0, ANSWERS),
    (by_comprehension, 1.0, ANSWERS),
    (smallest, 1.0, ANSWERS),
    (from_the_second_on, 1.0, ANSWERS),
    (prefix_sums, 1.0, {}),
    (prefix_sums, 2.0, {"high": 2}),
    (prefix_sums_by_a_loop, 1.0, {}),
    (sums_of_noisy_entries, 1.0, {}),
    (each, 1.0, {}),
    (clipped_by_name, 0.5, {}),
    (select_then_test, 1.0, ANSWERS),
    (first_then_select, 0.75, ANSWERS),
    (sum_then_each, 1.0, {}),
    (sum_then_count, 1.0, {}),
    (sum_then_count, 1.0, {"relation": "add-remove"}),
    (hundred_above, 1.0, ANSWERS),
    (forty_above, 1.0, ANSWERS),
)
"""Mechanism, the least epsilon for every number of entries, the relation."""
LEAKING = (
    (exact_sum_in_the_second, {}),
    (late_in_the_second, {}),
    (long_data, {}),
    (prefix_sums_of_too_little, {}),
    (prefix_sums, {"relation": "add-remove"}),
    (one_noise, ANSWERS),
    (many_selections, ANSWERS),
    (its_value, ANSWERS),
    (noise_used_twice, {}),
    (ended_early, {}),
    (false_fact, ANSWERS),
    (false_spending, ANSWERS),
    (late_by_an_annotation, {}),
    (set_again, {}),
    (added_to, {}),
    (one_scale_for_all, {}),
    (matched, {}),
    (parameter_again, {}),
    (sum_by_another_name(one_more), {}),
)
