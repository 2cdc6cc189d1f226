"""Functions of which version 0.2.0 wrote certificates (tests/golden/proofs_of_0_2_0.json)."""

from __future__ import annotations

import numpy as np


def noisy_sum(data, rng):
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 2)


def sparse_vector(answers, rng):
    bound, out = rng.laplace(0, 2), []
    for answer in answers:
        above = bool(answer + rng.laplace(0, 4) >= bound)
        out.append(above)
        if above:
            break
    return out


def every_answer(answers, rng):
    bound = rng.laplace(0, 2)
    return [bool(answer + rng.laplace(0, 4) >= bound) for answer in answers]


def noisy_max(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2, len(answers))))


def tenths(data, rng):
    return data.sum() + rng.laplace(0, 0.1) + rng.laplace(0, 1 / 3)


def gaussian(data, rng):
    return data.sum() + rng.normal(0, 0.7)


def randomised_response(data, rng):
    return [x if rng.random() < 0.75 else 1 - x for x in data]


ANSWERS = {"relation": "answers"}
FUNCTIONS = {
    "noisy_sum": (noisy_sum, {}),
    "sparse_vector": (sparse_vector, {"epsilon": 1, **ANSWERS}),
    "every_answer": (every_answer, {"epsilon": 1.5, **ANSWERS}),
    "noisy_max": (noisy_max, {**ANSWERS}),
    "tenths": (tenths, {}),
    "gaussian": (gaussian, {"notion": "zcdp"}),
    "randomised_response": (randomised_response, {"values": [0, 1]}),
}
