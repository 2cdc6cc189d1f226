"""Worlds drawn at random, small enough to enumerate."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from worlds import ONE_SAMPLE, World

MOST_COINS = 300


def grouped(combination: tuple[str, ...], rng: random.Random) -> World:
    """A world of the combination in which neighbours differ in two clients, or three."""
    while True:
        world = drawn(combination, rng)
        units = rng.choice([2, 2, 3])
        if units <= world.clients and world.dimension == 1 and world.rounds <= max(2, _fewest(world.scheme)):
            return replace(world, units=units, stateful=False)


def drawn(combination: tuple[str, ...], rng: random.Random) -> World:
    """A world of the combination (noise, scheme, relation, sees, aggregation, state), small enough to enumerate."""
    noise, scheme, relation, sees, aggregation, state = combination
    while True:
        clients, rounds = rng.choice([2, 2, 3, 3, 4, 4]), rng.choice([1, 2, 2, 3])
        if scheme == "shuffled" and (clients % rounds or rounds == 1 or clients < 2 * rounds):
            continue
        if rounds < _fewest(scheme):
            continue
        if aggregation == "secure, dropouts" and clients < (4 if scheme in ("shuffled", "cyclic") else 3):
            continue
        if scheme == "cyclic" and (clients % rounds or clients < 2 * rounds):
            continue
        cohort = rng.randint(2 if aggregation == "secure, dropouts" else 1, max(1, clients - 1))
        coins = {"poisson": 2 ** (clients * rounds), "fixed-size": math.comb(clients, cohort) ** rounds}
        coins |= {"truncated": coins["poisson"], "shown poisson": coins["poisson"]}
        coins |= {"with-replacement": clients ** (cohort * rounds), "allocated": rounds**clients}
        if coins.get(scheme, 1) > MOST_COINS:
            continue
        dimension = 2 if rounds == 1 and noise == "gaussian" and rng.random() < 0.3 else 1
        if noise in ONE_SAMPLE and rounds > _fewest(scheme):
            continue
        return World(
            noise,
            scheme,
            relation,
            sees,
            aggregation or None,
            state == "stateful",
            clients,
            cohort,
            rounds,
            rng.choice([0.2, 0.5, 0.8]),
            0.6 if (noise, scheme) == ("two lattices", "shuffled") else rng.choice([0.6, 1.0, 2.0]),
            dimension,
            rng.choice([0.02, 0.1, 0.3]),
        )


def _fewest(scheme: str) -> int:
    """Rounds that the scheme needs."""
    return {"allocated, several": 3, "allocated": 2, "shuffled": 2, "cyclic": 2}.get(scheme, 1)
