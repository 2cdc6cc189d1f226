"""check_billboard on trainers that keep to their billboard, and on bad input."""

from dataclasses import replace

import numpy as np
import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.billboard.example_trainers import PersonalMeans, SharedOptimiserState
from dpcert.proofs_checks.billboard.replay import RunRecord, TrainerProtocol, check_billboard


def federation(clients=8, dimension=3, seed=11):
    rng = np.random.default_rng(seed)
    return [rng.normal(k % 3, 1.0, (int(rng.integers(2, 9)), dimension)) for k in range(clients)]


@pytest.mark.parametrize("randomised", [False, True])
@pytest.mark.parametrize("i", [0, 3, 7])
def test_correct_trainer_passes(randomised, i):
    trainer = PersonalMeans(randomised_clients=randomised)
    report = check_billboard(trainer, federation(), i, np.full((4, 3), 50.0))
    assert report.holds
    assert report.leaks == ()
    assert report.compared >= 7
    assert 0 < report.largest_move <= 1 + 1e-12


@settings(max_examples=many(25), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    altered=st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=5),
    i=st.integers(0, 7),
)
def test_correct_trainer_passes_whatever_the_data(seed, altered, i):
    # Full participation, so that client i is heard; + 2e6 so that the data differ from the original.
    trainer = PersonalMeans(randomised_clients=True, cohort=8)
    assert check_billboard(trainer, federation(), i, np.array(altered) + 2e6, seed=seed).holds


def test_the_declared_sensitivity_is_attained_and_no_more():
    # One round, everybody takes part, client 0 jumps from one side of the clipping ball to the other: 2 clip / q.
    clients = [np.full((1, 3), 100.0), *federation()[1:]]
    report = check_billboard(PersonalMeans(rounds=1, cohort=8), clients, 0, np.full((1, 3), -100.0))
    assert report.holds
    assert report.largest_move == pytest.approx(1.0, abs=1e-12)


def test_protocols_are_structural():
    trainer = PersonalMeans()
    assert isinstance(trainer, TrainerProtocol)
    assert isinstance(trainer.run(federation(), 0), RunRecord)


def test_single_precision_rounding_is_not_called_a_leak():
    class Single(PersonalMeans):
        def _publish(self, record, billboard, value, noise, sensitivity):
            value, noise = value.astype(np.float32), noise.astype(np.float32)
            return PersonalMeans._publish(self, record, billboard, value, noise, sensitivity)

    clients = [np.full((1, 3), 100.0), *federation()[1:]]
    assert check_billboard(Single(rounds=1, cohort=8), clients, 0, np.full((1, 3), -100.0)).holds


class Wrapped:
    """A correct trainer whose record is tampered with."""

    def __init__(self, change):
        self.change = change

    def run(self, clients, seed, billboard=None):
        record = PersonalMeans(cohort=8).run(clients, seed, billboard)
        return self.change(record, billboard) or record


def drop_noise(record, billboard):
    record.noise = record.noise[:-1]


def publish_something_else(record, billboard):
    record.billboard[-1] = record.billboard[-1] + 1e-9


def ignore_the_recording(record, billboard):
    record.billboard = [a + b for a, b in zip(record.pre_noise, record.noise, strict=True)]
    record.billboard[0] = record.billboard[0] + (0.0 if billboard is None else 1.0)


def forget_a_client(record, billboard):
    record.outputs = record.outputs[:-1]


def unknown_client(record, billboard):
    record.messages[0, 99] = np.zeros(3)


def no_record(record, billboard):
    return {"billboard": []}


def negative_sensitivity(record, billboard):
    record.sensitivity[1] = -1.0


def not_numbers(record, billboard):
    record.outputs[2] = object()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (drop_noise, "record.noise"),
        (publish_something_else, "record.billboard[6]"),
        (ignore_the_recording, "record.billboard"),
        (forget_a_client, "record.outputs"),
        (unknown_client, "record.messages"),
        (no_record, "trainer"),
        (negative_sensitivity, "record.sensitivity[1]"),
        (not_numbers, "record"),
    ],
)
def test_a_broken_protocol_is_one_clear_error(change, field):
    with pytest.raises(InputError) as caught:
        check_billboard(Wrapped(change), federation(), 0, np.full((4, 3), 50.0))
    assert caught.value.field == field


def test_randomness_that_cannot_be_replayed():
    stream = np.random.default_rng(0)

    class OneStream(PersonalMeans):
        def _cohort(self, clients, models, seed, t):
            return sorted(int(k) for k in stream.choice(len(clients), self.cohort, replace=False))

    with pytest.raises(InputError, match="randomness that can be replayed"):
        check_billboard(OneStream(), federation(), 0, np.full((4, 3), 50.0))


def test_data_that_change_nothing_prove_nothing():
    clients = federation()
    with pytest.raises(InputError, match="change some message of client 2"):
        check_billboard(PersonalMeans(), clients, 2, clients[2].copy())


@pytest.mark.parametrize(
    ("clients", "i", "field"),
    [(federation(), 8, "i"), (federation(), -1, "i"), (federation(), 1.5, "i"), (federation()[:1], 0, "clients")],
)
def test_bad_arguments(clients, i, field):
    with pytest.raises(InputError) as caught:
        check_billboard(replace(PersonalMeans(), cohort=1), clients, i, np.zeros((1, 3)))
    assert caught.value.field == field


def test_no_trainer_at_all():
    with pytest.raises(InputError) as caught:
        check_billboard(lambda clients: clients, federation(), 0, np.zeros((1, 3)))
    assert caught.value.field == "trainer"


class Finishing(SharedOptimiserState):
    """Leaks by its optimiser's state; each client's model ends with its own mean, whether it took part or not."""

    def run(self, clients, seed, billboard=None):
        record = super().run(clients, seed, billboard)
        record.outputs = [output + np.mean(own, axis=0) for output, own in zip(record.outputs, clients, strict=True)]
        return record


def test_a_client_that_takes_no_part_shows_nothing():
    """Its own model changed, so that the replay was no copy; and nothing that it might have leaked was there to see."""
    clients = [np.full((4, 2), float(k)) for k in range(6)]
    trainer = Finishing(rounds=2, cohort=2)
    took_part = {client for _, client in trainer.run(clients, 0).messages}
    absent = next(client for client in range(6) if client not in took_part)
    with pytest.raises(InputError, match="a client that takes part"):
        check_billboard(trainer, clients, absent, clients[absent] + 50.0)
    assert not all(check_billboard(trainer, clients, k, clients[k] + 50.0).holds for k in took_part)
