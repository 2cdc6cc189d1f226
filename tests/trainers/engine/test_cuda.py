"""The CPU's results on a CUDA device, to rounding; and the same bits twice. `pytest -m cuda` runs these alone."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch

from dpcert.cli import run
from dpcert.trainers.build import ALGORITHMS, Parameters, build_algorithm
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.engine.clipping import ClippedSum, Grid, Layers
from dpcert.trainers.engine.device_noise import DeviceNoise
from dpcert.trainers.engine.noise import grid_noise
from dpcert.trainers.engine.parameters import FlatModule
from dpcert.trainers.engine.streams import Streams
from dpcert.trainers.federated import (
    AdaptiveClip,
    Client,
    DpFedAvg,
    Federation,
    FineTuning,
    LocalSteps,
    Pmtl,
    PrivacyGoal,
    ReplayableTrainer,
    Samples,
    Settings,
    Trainer,
    build_model,
    fine_tune,
)

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device"),
]
CPU, CUDA = torch.device("cpu"), torch.device("cuda")
SIZES = (7, 1, 23, 10, 12)
TOLERANCE = {"float64": {"rtol": 1e-9, "atol": 1e-11}, "float32": {"rtol": 2e-3, "atol": 2e-5}}
SOLVERS = {
    "logistic": ("loop", "vmap", "stacked", "dual"),
    "mlp": ("loop", "vmap", "stacked"),
    "cnn": ("loop", "vmap", "stacked"),
}


def pictures(sizes=SIZES, seed=0, side=16, classes=5):
    """Clients of different sizes with small random pictures."""
    rng = np.random.default_rng(seed)
    clients = []
    for place, size in enumerate(sizes):
        own = Samples(rng.random((size, side * side), dtype=np.float32), rng.integers(0, classes, size))
        clients.append(Client(f"{place}", own, own.take(np.arange(1))))
    return Federation("pictures", tuple(clients), "classes", classes)


def trainer_on(device, federation=None, algorithm=None, model="logistic", solver="auto", folder=None, **changed):
    told = {"rounds": 3, "cohort": 3, "noise_multiplier": 1.0, "clip_norm": 0.5, "seed": 3, "clipping": "adaptive"}
    told |= {"local": LocalSteps(0.1, 2, None, 4, weight_decay=0.01), "device": device, "solver": solver}
    told["adaptive"] = AdaptiveClip(count_noise=3.0)
    goal = PrivacyGoal(delta=1e-3)
    settings = Settings(**(told | changed))
    return Trainer(federation or pictures(), algorithm or Pmtl(0.5), model, settings, goal, checkpoint=folder)


def models(trainer):
    population = trainer.federation.population
    return torch.stack([trainer.client_model(client).cpu() for client in range(population)])


def bits(trainer):
    return trainer.shared.cpu().numpy().tobytes(), models(trainer).numpy().tobytes(), trainer.clip_norm, trainer.spent


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("model", SOLVERS)
def test_every_solver_on_cuda_is_the_loop_on_the_cpu(model, dtype):
    """Starts, anchors and batches of one round, on clients of 1 to 23 samples."""
    clients = np.arange(len(SIZES))
    reference = trainer_on("cpu", model=model, dtype=dtype, solver="loop").local
    starts = reference.initial + 0.1 * torch.randn(
        len(SIZES), reference.model.dimension, generator=torch.Generator().manual_seed(0), dtype=reference.dtype
    )
    expected = reference.solver(clients, 0)(starts, starts[0], 0.7)
    for solver in SOLVERS[model]:
        side = trainer_on("cuda", model=model, dtype=dtype, solver=solver).local
        own = starts.to(CUDA)
        found = side.solver(clients, 0)(own, own[0], 0.7)
        assert found.is_cuda
        torch.testing.assert_close(found.cpu(), expected, **TOLERANCE[dtype])


@pytest.mark.filterwarnings("ignore::dpcert.trainers.engine.algorithm.StabilityWarning")  # two are shown as printed
@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "pmtl-as-printed"])
def test_every_algorithm_on_cuda_is_the_cpu_s(name):
    """Double precision: cohorts, batches and noise are the same draws, the rest differs in the last bits."""
    federation = related_tasks(population=9, features=4, classes=3, samples=9, seed=2)
    found = []
    for device in ("cpu", "cuda"):
        algorithm = build_algorithm(name, Parameters(strength=0.5, clusters="2"), 9)
        model = "mlp" if name.startswith("dpfedmtl") else "logistic"  # a head and layers below it
        told = {"dtype": "float64", "clipping": "flat", "cohort": 5, "noise_source": "host"}
        trainer = trainer_on(device, federation, algorithm, model, **told)
        outcome = trainer.run()
        found.append((trainer.shared.cpu(), models(trainer), outcome.privacy))
    torch.testing.assert_close(found[1][0], found[0][0], rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(found[1][1], found[0][1], rtol=1e-7, atol=1e-9)
    assert found[0][2] == found[1][2]


@pytest.mark.parametrize("model", SOLVERS)
def test_twice_on_cuda_gives_the_same_bits(model):
    first, second = trainer_on("cuda", model=model), trainer_on("cuda", model=model)
    first.run()
    second.run()
    assert bits(first) == bits(second)


@pytest.mark.parametrize("model", ["logistic", "cnn"])
def test_resumed_on_cuda_is_the_plain_run(tmp_path, model):
    plain = trainer_on("cuda", model=model, rounds=4)
    plain.run()
    trainer_on("cuda", model=model, rounds=2, folder=tmp_path / "run").run()
    resumed = trainer_on("cuda", model=model, rounds=4, folder=tmp_path / "run")
    assert resumed.rounds == 2
    resumed.run()
    assert bits(resumed) == bits(plain)


def test_a_run_moves_from_cpu_to_cuda(tmp_path):
    trainer_on("cpu", rounds=2, folder=tmp_path / "run").run()
    moved = trainer_on("cuda", rounds=4, folder=tmp_path / "run")
    outcome = moved.run()
    assert moved.shared.is_cuda
    assert (outcome.rounds, outcome.spent) == (4, 4)


KINDS = ("random", "boundary", "huge", "tiny", "zero", "nan", "inf")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sizes", [(17,), (3, 5, 9)])
def test_no_update_exceeds_the_clip_norm_on_cuda(dtype, sizes):
    """10,080 updates in all; integers are compared, so without tolerance."""
    rng = np.random.default_rng(1)
    for clip_norm in (1e-3, 0.2, 1.0, 3.7, 1e4):
        updates = rng.standard_normal((504, 17))
        updates /= np.linalg.norm(updates, axis=1, keepdims=True)
        kinds = [KINDS[place % len(KINDS)] for place in range(len(updates))]
        for row, kind in zip(updates, kinds, strict=True):
            scale = {"boundary": 1 + rng.integers(-4, 5) * 2.0**-24, "huge": 1e30, "tiny": 1e-38, "zero": 0.0}
            row *= clip_norm * scale.get(kind, 10 ** rng.uniform(-3, 3))
            row[3] = {"nan": math.nan, "inf": -math.inf}.get(kind, row[3])
        grid = Grid.for_round(clip_norm, 1000, dtype)
        total = ClippedSum(2, 17, Layers(sizes), grid, CUDA)
        blocks = np.arange(len(updates)) % 2
        added = total.add_all(torch.from_numpy(updates).to(CUDA, dtype), blocks).cpu()
        for integers, kind in zip(added, kinds, strict=True):
            assert torch.equal(integers, integers.trunc())
            assert sum(int(value) ** 2 for value in integers.tolist()) <= (clip_norm / grid.unit) ** 2
            assert kind not in ("nan", "inf", "zero") or not integers.any()
        for block in (0, 1):
            assert torch.equal(total.total[block].cpu(), added[blocks == block].sum(0))


def test_noise_on_cuda_is_the_cpu_s_and_has_its_scale():
    """The sample variance of 10^6 normal draws stays within 1% but for a probability below 1e-11."""
    noises = [
        grid_noise(Streams(7).generator("noise", 0, 1), (1, 10**6), 3.0, 2.0**-30, device) for device in (CPU, CUDA)
    ]
    assert noises[1].is_cuda
    assert torch.equal(noises[0], noises[1].cpu())
    assert abs(float(noises[1].var()) / 9 - 1) < 0.01
    assert torch.equal(noises[1] * 2.0**30, (noises[1] * 2.0**30).round())


def test_noise_drawn_on_cuda_is_that_drawn_on_the_cpu():
    """From the same words; a logarithm or a cosine may be rounded otherwise, by the grid's unit at most."""
    unit, streams = 2.0**-30, Streams(7)
    cpu, cuda = (DeviceNoise(streams, device) for device in (CPU, CUDA))
    for attempt in range(2):
        found = cuda.on_sum(attempt, 1, (2, 10**5), 3.0, unit)
        assert found.is_cuda
        assert float((found.cpu() - cpu.on_sum(attempt, 1, (2, 10**5), 3.0, unit)).abs().max()) <= unit
        assert torch.equal(found, cuda.on_sum(attempt, 1, (2, 10**5), 3.0, unit))
    parts = [cuda.of_clients(0, 1, list(range(first, 9, 3)), 1000, 1.0, unit) for first in range(3)]
    assert torch.equal(sum(parts), cuda.of_clients(0, 1, list(range(9)), 1000, 1.0, unit))


def test_the_host_does_not_wait_for_each_client():
    """CUDA says where the host waits: as often for 40 clients as for 10, all of them in one chunk."""
    waits = []
    for clients in (10, 40):
        federation = pictures(sizes=(10,) * clients)
        trainer = trainer_on("cuda", federation, model="cnn", sampling="full", chunk=64, clipping="flat")
        trainer._round()  # the samples go to the device once
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")  # which warns that it is a prototype
            seen.clear()
            try:
                trainer._round()
            finally:
                torch.cuda.set_sync_debug_mode("default")
        waits.append(len(seen))
    assert waits[0] == waits[1]


def test_a_large_model():
    """34 million weights a client: noise, clipping and sums of what one GPU is for."""
    wide = torch.nn.Sequential(
        torch.nn.Linear(256, 4096),
        torch.nn.ReLU(),
        torch.nn.Linear(4096, 8192),
        torch.nn.ReLU(),
        torch.nn.Linear(8192, 5),
    )
    told = {"model": wide, "clipping": "flat", "sampling": "full", "rounds": 2}
    first, second = trainer_on("cuda", **told), trainer_on("cuda", **told)
    for trainer in (first, second):
        trainer.run()
    assert first.local.model.dimension > 3.4e7
    assert torch.isfinite(first.shared).all()
    assert torch.equal(first.shared, second.shared)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_faster_than_a_loop_over_the_clients(dtype):
    """By the GPU's own count of milliseconds, the median of five rounds each: at least ten times."""
    federation, taken = pictures(sizes=(20,) * 200, side=28, classes=62), {}
    for solver in ("loop", "stacked"):
        trainer = trainer_on(
            "cuda", federation, DpFedAvg(), "cnn", solver, sampling="full", clipping="flat", rounds=9, dtype=dtype
        )
        trainer._round()
        times = []
        for _ in range(5):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            trainer._round()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        taken[solver] = sorted(times)[2]
    assert taken["loop"] >= 10 * taken["stacked"]


@pytest.mark.filterwarnings("ignore")  # torch's compiler warns of its own code
def test_bfloat16_and_compiled_are_near_single_precision():
    found = {}
    for name, told in {"plain": {}, "low": {"dtype": "bfloat16"}, "compiled": {"solver": "compiled"}}.items():
        trainer = trainer_on("cuda", model="cnn", noise_multiplier=0.0, clipping="flat", **told)
        trainer.run()
        found[name] = models(trainer)
    torch.testing.assert_close(found["compiled"], found["plain"], rtol=1e-2, atol=1e-4)
    torch.testing.assert_close(found["low"], found["plain"], rtol=0.1, atol=0.02)


TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]


def test_two_processes_on_cuda():
    """Over NCCL where there are two GPUs, else on one of them over gloo: the released numbers of one process."""
    told = [
        "-m",
        "dpcert",
        "train",
        "pmtl",
        "--data",
        "synthetic:related,population=14",
        "--rounds",
        "3",
        "--seed",
        "5",
    ]
    told += [
        "--noise-multiplier",
        "1",
        "--clip-norm",
        "0.5",
        "--cohort",
        "6",
        "--json",
        "--quiet",
        "--engine",
        "shards=12",
    ]
    told += ["--device", "cuda", "--model", "mlp"]
    documents = []
    for launcher in (["-u"], [*TORCHRUN, "2"]):
        done = subprocess.run([sys.executable, *launcher, *told], capture_output=True, text=True, check=True)
        documents.append(json.loads(done.stdout))
    assert documents[1]["history"] == documents[0]["history"]


def test_replay_on_cuda():
    """With one client's data changed and the billboard replayed, all others keep their bits."""
    federation = pictures()
    settings = Settings(
        rounds=3, cohort=3, noise_multiplier=1.0, clip_norm=0.5, device="cuda", solver="loop", evaluate_every=0
    )
    replayable = ReplayableTrainer(federation, lambda: Pmtl(0.5), settings, "mlp")
    first = replayable.run(federation.clients, seed=4)
    changed = list(federation.clients)
    changed[2] = pictures(seed=9).clients[2]
    second = replayable.run(changed, seed=4, billboard=first.billboard)
    for client in range(len(SIZES)):
        same = np.array_equal(first.outputs[client], second.outputs[client])
        assert same or client == 2
    assert all(
        np.array_equal(message, second.messages[place]) for place, message in first.messages.items() if place[1] != 2
    )


@pytest.mark.parametrize("model", ["mlp", "cnn"])
@pytest.mark.parametrize("penalty", ["vanilla", "mean-regularised", "symmetrised-kl", "ewc"])
def test_fine_tuning_on_cuda(penalty, model):
    scores = []
    for device in ("cpu", "cuda"):
        trainer = trainer_on(device, algorithm=DpFedAvg(), dtype="float64", model=model, noise_source="host")
        trainer.run()
        scores.append(fine_tune(trainer, FineTuning(penalty)))
    np.testing.assert_allclose(scores[1].loss, scores[0].loss, rtol=1e-6)


@pytest.mark.parametrize("model", SOLVERS)
def test_scores_on_cuda_are_the_cpu_s(model):
    """Of everybody together and twice the same; clients of 1 to 40 samples."""
    cpu = trainer_on("cpu", pictures((*SIZES, 40)), model=model, dtype="float64", noise_source="host")
    cpu.run()
    expected = cpu.scores(test=False)
    for solver in SOLVERS[model]:
        cuda = trainer_on("cuda", pictures((*SIZES, 40)), model=model, solver=solver, dtype="float64")
        cuda.personal = cpu.personal
        cuda.personal.initial = cuda.local.initial
        found, again = cuda.scores(test=False), cuda.scores(test=False)
        np.testing.assert_allclose(found.loss, expected.loss, rtol=1e-9)
        assert np.array_equal(found.accuracy, expected.accuracy)
        assert np.array_equal(found.loss, again.loss)


def test_dropout_runs_in_the_loop_on_cuda():
    module = torch.nn.Sequential(torch.nn.Linear(256, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 5))
    runs = [trainer_on("cuda", model=module, algorithm=DpFedAvg()) for _ in range(2)]
    for trainer in runs:
        trainer.run()
    assert torch.equal(runs[0].shared, runs[1].shared)


def test_parameters_live_on_the_device():
    model = FlatModule(build_model("cnn", pictures()), torch.float32, CUDA)
    assert all(parameter.is_cuda for parameter in model.module.parameters())


@pytest.mark.parametrize("model", ["logistic", "mlp"])
def test_command(capsys, model):
    told = ["train", "pmtl", "--data", "synthetic:related,population=10,features=4,samples=8", "--rounds", "3"]
    told += ["--noise-multiplier", "2", "--clip-norm", "0.5", "--cohort", "5", "--seed", "1", "--quiet", "--json"]
    told += ["--engine", "noise-source=host"]
    documents = []
    for device in ("cpu", "cuda"):
        assert run([*told, "--model", model, "--device", device, "--engine", "dtype=float64"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[1]["test_loss"] == pytest.approx(documents[0]["test_loss"], rel=1e-6)
    assert documents[1]["privacy"]["epsilon_upper"] == documents[0]["privacy"]["epsilon_upper"]
