"""All local solvers run the same steps, to rounding, on clients of different sizes."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse

from dpcert.mechanisms import InputError
from dpcert.trainers.engine.client_tensors import ClientTensors, batch_plan
from dpcert.trainers.engine.contribution import SparseRows, as_vector
from dpcert.trainers.engine.losses import cross_entropy, half_squared_error, tag_cross_entropy
from dpcert.trainers.engine.parameters import FlatModule
from dpcert.trainers.engine.settings import LocalSteps
from dpcert.trainers.engine.streams import Streams
from dpcert.trainers.models import Cnn, Linear, Mlp
from dpcert.trainers.solvers import Work, check_solver, choose_solver, pays_to_compile, together
from dpcert.trainers.solvers.dual import DualSolver
from dpcert.trainers.solvers.loop import LoopSolver
from dpcert.trainers.solvers.together import CompiledSolver, StackedSolver, VmapSolver

torch.set_num_threads(1)
CPU = torch.device("cpu")
SIZES = (7, 1, 23, 10)


def labels(kind, n, outputs, rng, dtype):
    if kind == "classes":
        return torch.from_numpy(rng.integers(0, outputs, n))
    if kind == "tags":
        return torch.from_numpy(rng.integers(0, 2, (n, outputs))).to(dtype)
    return torch.from_numpy(rng.standard_normal((n, outputs))).to(dtype)


LOSS = {"classes": cross_entropy, "tags": tag_cross_entropy, "regression": half_squared_error}


STEPS = LocalSteps(learning_rate=0.05, epochs=2, batch_size=4)


def work_for(model, shape, outputs, kind="classes", local=STEPS, anchored=True, dtype=torch.float64):
    rng = np.random.default_rng(0)
    clients = [
        ClientTensors(
            torch.from_numpy(rng.standard_normal((n, *shape))).to(dtype),
            (labels(kind, n, outputs, rng, dtype),),
            dtype,
            CPU,
        )
        for n in SIZES
    ]
    vectors = torch.from_numpy(rng.standard_normal((len(SIZES) + 1, model.dimension)) * 0.1).to(dtype)
    return Work(
        clients,
        [batch_plan(n, local, rng) for n in SIZES],
        LOSS[kind],
        start=vectors[:-1],
        learning_rate=local.learning_rate,
        anchor=vectors[-1] if anchored else None,
        strength=0.7 if anchored else 0.0,
        weight_decay=local.weight_decay,
    )


def plain_sgd(module, work, place):
    """The textbook loop: a fresh torch optimiser on a fresh copy, nothing of the library's."""
    torch.nn.utils.vector_to_parameters(work.start[place].clone(), module.parameters())
    optimiser = torch.optim.SGD(module.parameters(), lr=work.learning_rate, weight_decay=work.weight_decay)
    client = work.clients[place]
    for batch in work.batches[place]:
        rows = torch.from_numpy(batch)
        optimiser.zero_grad()
        loss = work.loss(module(client.features[rows]), client.targets[0][rows]).mean()
        if work.anchor is not None:
            own = torch.nn.utils.parameters_to_vector(module.parameters())
            loss = loss + 0.5 * work.strength * ((own - work.anchor) ** 2).sum()
        loss.backward()
        optimiser.step()
    return torch.nn.utils.parameters_to_vector(module.parameters()).detach()


CASES = {
    "linear": (lambda: Linear(6, 3), (6,), 3, (LoopSolver, VmapSolver, StackedSolver, DualSolver)),
    "no bias": (lambda: Linear(6, 3, bias=False), (6,), 3, (LoopSolver, VmapSolver, StackedSolver, DualSolver)),
    "mlp": (lambda: Mlp(6, 3, hidden=5), (6,), 3, (LoopSolver, VmapSolver, StackedSolver)),
    "cnn": (lambda: Cnn(1, 16, 16, 4), (1, 16, 16), 4, (LoopSolver, VmapSolver, StackedSolver)),
}


@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_solvers_equal_plain_sgd(case, anchored):
    build, shape, outputs, solvers = CASES[case]
    module = build().double()
    model = FlatModule(module, torch.float64, CPU)
    work = work_for(model, shape, outputs, anchored=anchored, local=LocalSteps(0.05, 2, None, 4, weight_decay=0.01))
    expected = torch.stack([plain_sgd(build().double(), work, place) for place in range(len(SIZES))])
    for solver in solvers:
        torch.testing.assert_close(solver(model).solve(work), expected, rtol=1e-10, atol=1e-12)


PLANS = [LocalSteps(0.1, 1, None, None), LocalSteps(0.1, 1, 5, 3), LocalSteps(0.1, 3, None, 50)]


@pytest.mark.parametrize("kind", ["classes", "tags", "regression"])
@pytest.mark.parametrize("local", PLANS)
def test_solvers_equal_each_other_for_every_loss_and_plan(kind, local):
    model = FlatModule(Linear(6, 3), torch.float64, CPU)
    work = work_for(model, (6,), 3, kind=kind, local=local)
    loop = LoopSolver(model).solve(work)
    for solver in (VmapSolver, StackedSolver, DualSolver):
        torch.testing.assert_close(solver(model).solve(work), loop, rtol=1e-11, atol=1e-12)


def test_single_precision_agrees_to_its_own_rounding():
    model = FlatModule(Linear(6, 3), torch.float32, CPU)
    work = work_for(model, (6,), 3, dtype=torch.float32)
    loop = LoopSolver(model).solve(work)
    for solver in (VmapSolver, StackedSolver, DualSolver):
        torch.testing.assert_close(solver(model).solve(work), loop, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("solver", [LoopSolver, VmapSolver, StackedSolver, DualSolver])
def test_a_client_is_not_touched_by_the_others(solver):
    """Padding is nobody's data: other clients in the chunk, even with huge features, change nothing of a client's."""
    model = FlatModule(Linear(6, 3), torch.float64, CPU)
    work = work_for(model, (6,), 3)
    together = solver(model).solve(work)
    for place in range(len(SIZES)):
        alone = Work(
            [work.clients[place]],
            [work.batches[place]],
            work.loss,
            work.start[place : place + 1],
            work.learning_rate,
            work.anchor,
            work.strength,
        )
        torch.testing.assert_close(solver(model).solve(alone)[0], together[place], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("solver", [LoopSolver, VmapSolver, StackedSolver])
def test_curvature_of_the_penalty(solver):
    model = FlatModule(Linear(4, 2), torch.float64, CPU)
    base = work_for(model, (4,), 2)
    curvature = torch.rand(len(SIZES), model.dimension, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    arguments = (base.clients, base.batches, base.loss, base.start, base.learning_rate, base.anchor, base.strength)
    bent = solver(model).solve(Work(*arguments, curvature=curvature))
    flat = solver(model).solve(Work(*arguments, curvature=torch.ones_like(curvature)))
    torch.testing.assert_close(flat, solver(model).solve(base), rtol=1e-12, atol=1e-13)
    assert (bent - flat).abs().max() > 1e-4
    assert "isotropic" in str(DualSolver(model).refuses(Work(*arguments, curvature=curvature)))


class Meeting:
    """A loss at which, once a thread, clients wait until two of them are there."""

    def __init__(self):
        self.barrier, self.seen = threading.Barrier(2, timeout=60), threading.local()

    def __call__(self, outputs, labels):
        if not hasattr(self.seen, "met"):
            self.seen.met = True
            self.barrier.wait()
        return cross_entropy(outputs, labels)


@pytest.fixture
def two_threads():
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


def test_clients_beside_each_other_keep_their_bits(monkeypatch, two_threads):
    """Two threads, each in the middle of a client; planted: one model for both."""
    torch.set_num_threads(1)
    model = FlatModule(Cnn(1, 16, 16, 4), torch.float32, CPU)
    work = work_for(model, (1, 16, 16), 4, dtype=torch.float32)
    alone = LoopSolver(model).solve(work)
    changes = [change.clone() for change in LoopSolver(model).changes(work)]
    torch.set_num_threads(2)
    assert torch.equal(LoopSolver(model).solve(replace(work, loss=Meeting())), alone)
    beside = list(LoopSolver(model).changes(replace(work, loss=Meeting())))
    assert all(map(torch.equal, beside, changes))
    assert torch.get_num_threads() == 2
    model.derived.clear()
    monkeypatch.setattr(FlatModule, "twin", lambda self: self)
    assert not torch.equal(LoopSolver(model).solve(replace(work, loss=Meeting())), alone)


def test_a_fault_in_one_of_several_threads_is_told(two_threads):
    model = FlatModule(Linear(6, 3), torch.float64, CPU)
    broken = replace(work_for(model, (6,), 3), loss=lambda outputs, labels: outputs @ outputs)
    with pytest.raises(RuntimeError, match="shapes"):
        LoopSolver(model).solve(broken)
    assert torch.get_num_threads() == 2


def test_dropout_is_reproducible_in_the_loop_and_refused_elsewhere(two_threads):
    torch.set_num_threads(1)
    module = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Dropout(0.5), torch.nn.Linear(5, 3))
    model = FlatModule(module, torch.float64, CPU)
    work = work_for(model, (6,), 3)
    seeded = Work(work.clients, work.batches, work.loss, work.start, 0.1, module_seeds=[1, 2, 3, 4])
    before = torch.random.get_rng_state()
    torch.testing.assert_close(LoopSolver(model).solve(seeded), LoopSolver(model).solve(seeded), rtol=0, atol=0)
    assert torch.equal(before, torch.random.get_rng_state())
    alone = LoopSolver(model).solve(seeded)
    torch.set_num_threads(2)  # torch's random numbers are common to all threads: one client at a time
    assert torch.equal(LoopSolver(model).solve(seeded), alone)
    assert VmapSolver(model).refuses(seeded)
    assert "stacked" in str(StackedSolver(model).refuses(seeded))
    assert choose_solver("auto", model, seeded).name == "loop"


def test_choice():
    linear = FlatModule(Linear(6, 3), torch.float64, CPU)
    assert choose_solver("auto", linear, work_for(linear, (6,), 3)).name == "dual"
    mlp = FlatModule(Mlp(6, 3), torch.float64, CPU)
    assert choose_solver("auto", mlp, work_for(mlp, (6,), 3)).name == "loop"
    with pytest.raises(InputError, match=r"models\.Linear"):
        check_solver("dual", mlp, work_for(mlp, (6,), 3))


def test_auto_compiles_where_a_run_on_cuda_is_long_enough_and_a_compiler_is_there(monkeypatch):
    """What is for CUDA is decided by the device that a model is on; compiled and stacked are the same on a CPU."""
    cnn, mlp = on_cuda(Cnn(1, 16, 16, 3)), on_cuda(Mlp.for_shape((6,), 3))
    assert pays_to_compile(cnn, 1600, 6_400_000)
    assert not pays_to_compile(cnn, 1600, 3_200_000)  # made good, but no more than that
    assert not pays_to_compile(cnn, 400, 40_000_000)
    assert not pays_to_compile(mlp, 1600, 40_000_000)  # not measured
    real = FlatModule(Cnn(1, 16, 16, 3), torch.float64, CPU)
    assert not pays_to_compile(real, 1600, 6_400_000)
    work = work_for(real, (256,), 3)
    assert choose_solver("auto", real, work, compiled=True).name == "compiled"
    assert choose_solver("auto", real, work).name == "loop"
    monkeypatch.setattr(together, "has_triton", lambda: False)
    assert "Triton" in CompiledSolver(cnn).refuses(work)


def on_cuda(module):
    """What pays_to_compile and refuses look at, of a model on a device that is not there."""
    return SimpleNamespace(module=module, vector=SimpleNamespace(device=torch.device("cuda")))


def test_paper_cnn_has_115646_parameters():
    assert FlatModule(Cnn.for_shape((784,), 62), torch.float32, CPU).dimension == 115_646


def test_running_statistics_are_refused():
    with pytest.raises(InputError, match="running statistics"):
        FlatModule(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)), torch.float32, CPU)


def test_batch_plan_visits_every_sample_once_an_epoch():
    rng = np.random.default_rng(0)
    plan = batch_plan(23, LocalSteps(epochs=3, batch_size=5), rng)
    assert [len(batch) for batch in plan] == [5, 5, 5, 5, 3] * 3
    for epoch in range(3):
        assert sorted(np.concatenate(plan[5 * epoch : 5 * epoch + 5])) == list(range(23))
    assert len(batch_plan(23, LocalSteps(steps=7, batch_size=5), rng)) == 7


def as_sparse(client):
    return ClientTensors(sparse.csr_matrix(client.features.numpy()), client.targets, client.dtype, client.device)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_sparse_features_are_the_dense_ones(dtype, anchored, bias):
    """Bags of words of which most words never occur: all solvers, models and changes."""
    model = FlatModule(Linear(30, 3, bias=bias), dtype, CPU)
    work = work_for(model, (30,), 3, kind="tags", anchored=anchored, dtype=dtype)
    for client in work.clients:
        client.features.mul_(torch.rand(client.features.shape, generator=torch.Generator().manual_seed(0)) < 0.2)
        client.features[:, 10:] = 0
    shared = work.start[0].clone()
    thin = replace(work, clients=[as_sparse(client) for client in work.clients], start=shared)
    if anchored:
        thin = replace(thin, anchor=shared)
    thick = replace(thin, clients=work.clients)
    tolerance = {"rtol": 1e-4, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 1e-10, "atol": 1e-12}
    expected = LoopSolver(model).solve(thick)
    for solver in (LoopSolver, VmapSolver, StackedSolver, DualSolver):
        torch.testing.assert_close(solver(model).solve(thin), expected, **tolerance)
        changes = [as_vector(change, model.dimension).clone() for change in solver(model).changes(thin)]
        torch.testing.assert_close(torch.stack(changes), expected - shared, **tolerance)
    changes = list(DualSolver(model).changes(thin))
    assert all(isinstance(change, SparseRows) and len(change.rows) <= 10 + bias for change in changes)


@pytest.mark.parametrize("solver", [LoopSolver, VmapSolver, StackedSolver, DualSolver])
@pytest.mark.parametrize("anchored", [False, True])
def test_changes_are_models_minus_starts(solver, anchored):
    model = FlatModule(Linear(6, 3), torch.float64, CPU)
    work = work_for(model, (6,), 3, anchored=anchored)
    changes = [as_vector(change, model.dimension).clone() for change in solver(model).changes(work)]
    torch.testing.assert_close(torch.stack(changes), solver(model).solve(work) - work.start, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("value", [0.0, 1.0, -2.5])
@pytest.mark.parametrize("anchored", [False, True])
def test_features_in_which_a_clients_samples_agree(value, bias, anchored):
    """Pictures with a margin of one value, different for every client: models and changes of the plain loop."""
    model = FlatModule(Linear(30, 3, bias=bias), torch.float64, CPU)
    work = work_for(model, (30,), 3, anchored=anchored)
    for place, client in enumerate(work.clients):
        client.features[:, place : place + 22] = value
        client.features[:, 28] = 7.0  # of another value
    shared = work.start[0].clone()
    for start in (work.start, shared):
        own = replace(work, start=start)
        expected = LoopSolver(model).solve(own)
        torch.testing.assert_close(DualSolver(model).solve(own), expected, rtol=1e-10, atol=1e-12)
        changes = [as_vector(change, model.dimension).clone() for change in DualSolver(model).changes(own)]
        torch.testing.assert_close(torch.stack(changes), expected - start, rtol=1e-10, atol=1e-12)
    if not anchored:
        last = list(DualSolver(model).changes(own))[2]  # 23 samples; the client of one sample agrees in all of them
        assert isinstance(last, SparseRows)
        assert len(last.rows) == 8 + bias + (value != 0)
        assert last.background == (value != 0)


def test_generators_set_anew_are_new_ones():
    streams = Streams(5)
    for second, rng in zip((0, 7, 2**63), streams.generators("batches", 3, (0, 7, 2**63), 1), strict=True):
        fresh = streams.generator("batches", 3, second, 1)
        assert np.array_equal(rng.permutation(9), fresh.permutation(9))
        assert np.array_equal(rng.integers(0, 99, 3, dtype=np.int32), fresh.integers(0, 99, 3, dtype=np.int32))
        assert np.array_equal(rng.standard_normal(5), fresh.standard_normal(5))
