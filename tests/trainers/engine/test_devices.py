"""What is for GPUs, on a CPU: Philox in torch, noise drawn on the device, chunks from free memory, bfloat16."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from torch.utils._python_dispatch import TorchDispatchMode

from dpcert.mechanisms import InputError
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.engine import device, device_noise, noisy_sum
from dpcert.trainers.engine.clipping import LARGEST_DIMENSION, ClippedSum
from dpcert.trainers.engine.device import chunk_of, gpu_chunk
from dpcert.trainers.engine.device_noise import DeviceNoise
from dpcert.trainers.engine.noise import HostNoise
from dpcert.trainers.engine.noisy_sum import round_noise
from dpcert.trainers.engine.processes import Processes
from dpcert.trainers.engine.settings import AdaptiveClip
from dpcert.trainers.engine.streams import Streams
from dpcert.trainers.federated import DpFedAvg, LocalSteps, NaiveJoint, Pmtl, Settings, Trainer
from dpcert.trainers.solvers import together

CPU, UNIT = torch.device("cpu"), 2.0**-30
PLACES = [("noise", 0, 0, 0), ("noise", 3, 2**40, 0), ("client-noise", 1, 7, 2**31 + 5)]


def drawn(streams, place, blocks):
    counter = streams.counter(*place)
    found = device_noise.words(streams.key, (torch.arange(1, blocks + 1), *counter[1:]), CPU)
    return torch.stack(found, dim=1).numpy().view(np.uint64).ravel()


@pytest.mark.parametrize("place", PLACES)
def test_words_are_numpy_s(place):
    streams = Streams(2**100 + 7)
    expected = np.random.Philox(key=streams._key, counter=streams.counter(*place)).random_raw(4000)
    assert np.array_equal(drawn(streams, place, 1000), expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ROUNDS", 9), ("MULTIPLIERS", (device_noise.MULTIPLIERS[0] + 2, device_noise.MULTIPLIERS[1])), ("WEYL", (1, 1))],
)
def test_other_constants_would_be_noticed(monkeypatch, name, value):
    monkeypatch.setattr(device_noise, name, value)
    streams = Streams(5)
    expected = np.random.Philox(key=streams._key, counter=streams.counter(*PLACES[0])).random_raw(40)
    assert not np.array_equal(drawn(streams, PLACES[0], 10), expected)


def test_noise_of_a_device_is_normal_on_the_grid():
    """Kolmogorov and Smirnov's test at 1e-6; noise of 1.05 times the deviation fails it at this size."""
    found = DeviceNoise(Streams(11), CPU).on_sum(0, 4, (2, 20_000), 3.0, UNIT)
    assert found.shape == (2, 20_000)
    assert torch.equal(found / UNIT, (found / UNIT).round())
    values = found.flatten().numpy()
    assert stats.kstest(values, stats.norm(scale=3.0).cdf).pvalue > 1e-6
    assert stats.kstest(values, stats.norm(scale=3.0 / 1.05).cdf).pvalue < 1e-6
    assert not DeviceNoise(Streams(11), CPU).on_sum(0, 4, (2, 5), 0.0, UNIT).any()


def test_the_furthest_number_is_said():
    word = torch.tensor([0])
    assert float(device_noise.normals((word, word, word, word)).abs().max()) == pytest.approx(8.57, abs=0.01)
    assert device_noise.normals((word - 1, word, word - 1, word)).tolist() == [[0.0, 0.0, 0.0, 0.0]]


def test_noise_does_not_depend_on_pieces_or_on_who_draws_which_client_s(monkeypatch):
    whole = DeviceNoise(Streams(1), CPU)
    sums, clients = whole.on_sum(2, 3, (3, 70), 1.0, UNIT), whole.of_clients(2, 3, list(range(9)), 30, 1.0, UNIT)
    shared = [whole.of_clients(2, 3, list(range(first, 9, 3)), 30, 1.0, UNIT) for first in range(3)]
    assert torch.equal(sum(shared), clients)
    monkeypatch.setattr("dpcert.trainers.engine.device_noise.PIECE", 64)
    assert torch.equal(whole.on_sum(2, 3, (3, 70), 1.0, UNIT), sums)
    assert torch.equal(whole.of_clients(2, 3, list(range(9)), 30, 1.0, UNIT), clients)
    for other in ((1, 3), (2, 4)):
        assert not torch.equal(whole.on_sum(*other, (3, 70), 1.0, UNIT), sums)
    assert len(torch.unique(sums)) == sums.numel()


def test_a_long_sum_s_pieces_have_streams_of_their_own_whoever_draws_them(monkeypatch):
    """Kolmogorov and Smirnov's test at 1e-6, of all pieces together and of the differences between them."""
    shape = (3, 20_000)
    whole = HostNoise(Streams(3), CPU).on_sum(2, 5, shape, 1.0, UNIT).clone()
    monkeypatch.setattr("dpcert.trainers.engine.noise.PIECE", 15_000)
    found = HostNoise(Streams(3), CPU).on_sum(2, 5, shape, 1.0, UNIT).clone()
    assert torch.equal(found.flatten()[:15_000], whole.flatten()[:15_000])
    pieces = found.flatten().numpy().reshape(4, 15_000)
    assert stats.kstest(pieces.ravel(), stats.norm.cdf).pvalue > 1e-6
    assert stats.kstest(np.diff(pieces, axis=0)[::2].ravel(), stats.norm(scale=2**0.5).cdf).pvalue > 1e-6
    noise = HostNoise(Streams(3), CPU)
    begun = [noise.begin(2, index, shape, 1.0, UNIT) for index in (4, 5)]  # the first is never asked for
    assert torch.equal(begun[1](), found)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert torch.equal(HostNoise(Streams(3), CPU).on_sum(2, 5, shape, 1.0, UNIT), found)
    monkeypatch.setattr(Streams, "generator", lambda self, *place: np.random.default_rng(place[1:3]))  # planted
    again = HostNoise(Streams(3), CPU).on_sum(2, 5, shape, 1.0, UNIT).flatten().numpy().reshape(4, 15_000)
    assert stats.kstest(np.diff(again, axis=0).ravel(), stats.norm(scale=2**0.5).cdf).pvalue < 1e-6


def test_noise_that_is_drawn_beside_the_clients_work_is_that_drawn_after_it(monkeypatch):
    monkeypatch.setattr("dpcert.trainers.engine.noise.PIECE", 100)
    beside = trained("logistic", NaiveJoint(0.5))
    assert beside.shared.numel() == 162
    monkeypatch.setattr(HostNoise, "begin", lambda self, *told: lambda: self.on_sum(*told))
    assert torch.equal(trained("logistic", NaiveJoint(0.5)).shared, beside.shared)


def test_what_goes_wrong_while_noise_is_drawn_is_told(monkeypatch):
    def broken(*arguments):
        raise RuntimeError("no numbers")

    monkeypatch.setattr("dpcert.trainers.engine.noise.PIECE", 100)
    monkeypatch.setattr("dpcert.trainers.engine.noise.grid_noise", broken)
    with pytest.raises(RuntimeError, match="no numbers"):
        trained("logistic", NaiveJoint(0.5))


def test_auto_is_the_host_on_a_cpu():
    kinds = {source: type(round_noise(source, Streams(1), CPU)) for source in ("auto", "host", "device")}
    assert kinds == {"auto": HostNoise, "host": HostNoise, "device": DeviceNoise}
    assert type(round_noise("auto", Streams(1), torch.device("meta"))) is DeviceNoise


def trained(model="mlp", algorithm=None, **told):
    federation = related_tasks(population=9, features=5, classes=3, samples=10, seed=1)
    settings = {"rounds": 3, "cohort": 5, "noise_multiplier": 0.7, "clip_norm": 0.4, "seed": 8, "shards": 2}
    settings |= {"local": LocalSteps(learning_rate=0.3, batch_size=3)}
    trainer = Trainer(federation, algorithm or Pmtl(0.5), model, Settings(**(settings | told)))
    trainer.run()
    return trainer


def models(trainer):
    return torch.stack([trainer.client_model(client) for client in range(9)])


def test_a_run_with_noise_from_the_device():
    """The same mechanism, other numbers; the same twice."""
    host, device, again = trained(), trained(noise_source="device"), trained(noise_source="device")
    assert torch.equal(device.shared, again.shared)
    assert not torch.equal(device.shared, host.shared)
    assert device.mechanism() == host.mechanism()


def test_chunks_follow_free_memory():
    sizes = [gpu_chunk(115_646, free) for free in (10**6, 2**30, 2**33, 80 * 2**30, 2**45)]
    assert sizes == [1, 64, 512, 4096, 4096]
    assert 64 * device.BYTES_A_NUMBER * 115_646 <= 2**30 / 2 < 128 * device.BYTES_A_NUMBER * 115_646
    assert gpu_chunk(115_646, 2**33 - 10**8) == 512  # other programs' comings and goings change nothing
    assert chunk_of(115_646, CPU, Processes()) == 128
    assert chunk_of(10**9, CPU, Processes()) == 1


def test_a_chunk_that_was_asked_for():
    asked = trained(chunk=2)
    chunks = asked.local.chunks(np.arange(5), asked.algorithm)
    assert [chunk.tolist() for chunk in chunks] == [[0, 2], [4], [1, 3]]  # by shard, of which there are two
    torch.testing.assert_close(models(asked), models(trained()), rtol=1e-4, atol=1e-6)
    with pytest.raises(InputError, match="chunk"):
        Settings(chunk=0)


@pytest.mark.parametrize("algorithm", [DpFedAvg, lambda: Pmtl(0.5)])
@pytest.mark.parametrize("model", ["logistic", "mlp"])
def test_contributions_are_clipped_together_where_the_host_must_not_wait(monkeypatch, model, algorithm):
    """As on a GPU: the same run but for the last bit of a norm; adaptive clipping counts the same clients."""
    told = {"clipping": "adaptive", "adaptive": AdaptiveClip(count_noise=2.0), "dtype": "float64"}
    alone = trained(model, algorithm(), **told)
    monkeypatch.setattr(noisy_sum, "works_on_its_own", lambda device: True)
    together = trained(model, algorithm(), **told)
    torch.testing.assert_close(together.shared, alone.shared, rtol=0, atol=1e-9)
    assert together.clip_norm == alone.clip_norm


class Copies(TorchDispatchMode):
    """Counts what `.to` and moving to a device come to."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        self.count += operation is torch.ops.aten._to_copy.default
        return operation(*arguments, **(options or {}))


def copies_in_a_round(cohort, samples):
    federation = related_tasks(population=20, features=5, classes=3, samples=samples, seed=1)
    told = {"cohort": cohort, "sampling": "fixed-size" if cohort < 20 else "full", "noise_source": "device"}
    told |= {"clip_norm": 0.4, "noise_multiplier": 0.7, "solver": "stacked", "seed": 8}
    trainer = Trainer(federation, DpFedAvg(), "mlp", Settings(2, **told, local=LocalSteps(0.3, batch_size=3)))
    trainer._round()
    with Copies() as counted:
        trainer._round()
    return counted.count


def test_a_round_s_copies_do_not_grow_with_clients_or_steps(monkeypatch):
    """As on a GPU: each call costs the host as much as a kernel; schedules and seeds go over in one piece each."""
    monkeypatch.setattr(noisy_sum, "works_on_its_own", lambda device: True)
    few = copies_in_a_round(5, 10)
    assert few == copies_in_a_round(20, 10) == copies_in_a_round(5, 40) <= 12

    honest = together.schedule

    def one_by_one(work):  # planted: each step's schedule is moved by itself
        for rows, weights in honest(work):
            yield rows.to(torch.int32).to(torch.int64), weights

    monkeypatch.setattr("dpcert.trainers.solvers.together.schedule", one_by_one)
    assert copies_in_a_round(5, 40) > copies_in_a_round(5, 10) > few


@pytest.mark.parametrize("solver", ["loop", "vmap", "stacked"])
def test_bfloat16_is_local_steps_alone(solver):
    """Models and contributions stay in single precision, so that clipping bounds them as ever."""
    low, single = (trained(dtype=dtype, solver=solver, noise_multiplier=0.0) for dtype in ("bfloat16", "float32"))
    assert low.local.dtype == low.client_model(0).dtype == torch.float32
    assert not torch.equal(low.shared, single.shared)
    torch.testing.assert_close(models(low), models(single), rtol=0.05, atol=0.02)


def squared_norms_of_updates():
    """Of what one client each adds to the sum after local steps in bfloat16, in units of the bound, exactly."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
    for parameter in model.parameters():
        parameter.data = (parameter.data * 1024).round() / 1024  # so that no sum with the update is rounded
    told = {"rounds": 1, "cohort": 1, "sampling": "fixed-size", "noise_multiplier": 0.0, "clip_norm": 2.0**-6}
    found = []
    for seed in range(12):
        one = trained(model, DpFedAvg(), dtype="bfloat16", solver="loop", seed=seed, **told)
        update = (one.shared - one.local.initial.to(torch.float64)) * 2**6
        found.append(sum(Fraction(value) ** 2 for value in update.flatten().tolist()))
    return found


@pytest.mark.parametrize("together", [False, True])
def test_the_bound_on_an_update_is_exact_after_steps_in_bfloat16(monkeypatch, together):
    monkeypatch.setattr(noisy_sum, "works_on_its_own", lambda device: together)
    assert all(Fraction(99, 100) < square <= 1 for square in squared_norms_of_updates())

    def low(self, piece):
        return float(torch.dot(piece.bfloat16(), piece.bfloat16()))

    # Planted: norms in bfloat16, with which the same updates pass the bound.
    if not together:
        monkeypatch.setattr(ClippedSum, "_square", low)
        assert max(squared_norms_of_updates()) > 1


def test_bfloat16_of_a_linear_model_leaves_the_dual_form():
    assert trained("logistic", dtype="bfloat16").local.usual_solver == "loop"
    with pytest.raises(InputError, match="bfloat16"):
        trained("logistic", dtype="bfloat16", solver="dual")


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")  # torch's compiler warns of its own code
def test_compiled_is_the_stacked_solver():
    told = {"noise_multiplier": 0.0, "dtype": "float64", "rounds": 2}
    stacked, compiled = trained(solver="stacked", **told), trained(solver="compiled", **told)
    torch.testing.assert_close(models(compiled), models(stacked), rtol=1e-9, atol=1e-12)


def in_bytes(number):
    """As the page writes it: two digits, three from 100 on."""
    power = next(k for k in (5, 4, 3, 2) if number >= 10 ** (3 * k))
    value = number / 10 ** (3 * power)
    return f"{value:.{3 if value >= 100 else 2}g} {' KMGTP'[power]}B"


def test_the_page_s_table_of_memory_is_what_chunks_take():
    """docs/trainers/from-laptop-to-cluster.md: 64 bytes of a weight per client, half of 80 GB, 4 of a personal one."""
    page = (Path(__file__).parents[3] / "docs" / "trainers" / "from-laptop-to-cluster.md").read_text(encoding="utf-8")
    table = page.partition("| model | d |")[2].splitlines()[2:8]
    assert len(table) == 6
    powers = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    for line in table:
        _, d, each, together, *personal = (cell.strip() for cell in line.strip("|").split("|"))
        factor, _, power = d.translate(powers).rpartition("10")
        weights = int(d.replace(",", "")) if "," in d else round(float(factor.strip(" ·") or 1) * 10 ** int(power))
        assert each == in_bytes(device.BYTES_A_NUMBER * weights)
        assert personal == [in_bytes(4 * weights * 10**4), in_bytes(4 * weights * 10**6)]
        if weights > LARGEST_DIMENSION:
            assert together.startswith("refused")
        else:
            assert int(re.match(r"[\d,]+", together)[0].replace(",", "")) == gpu_chunk(weights, 80 * 10**9)
