"""Experiments at given epsilons: every private run costs at most its own, and says where it ran."""

from __future__ import annotations

import pytest
import torch

from dpcert.mechanisms import InputError
from dpcert.trainers.experiments.cell import LATER, Cell
from dpcert.trainers.experiments.presets import PRESETS
from dpcert.trainers.experiments.sweep import run_sweep

torch.set_num_threads(1)
BASE = Cell(
    "pmtl",
    "synthetic:related,population=8,samples=12,features=4",
    0,
    rounds=2,
    cohort=4,
    clip_norm=1.0,
    device="cpu",
    solver="loop",
)


@pytest.mark.parametrize("name", ["privacy-utility", "rounds", "finetuning", "dpfedmtl-rounds"])
def test_each_run_meets_its_target_and_no_more(name, tmp_path):
    base = Cell(**{**vars_of(BASE), "model": "mlp"}) if name.startswith("dpfedmtl") else BASE
    results = run_sweep(PRESETS[name](base, [0], (0.5, 4.0)), tmp_path)
    private = [result for result in results if result["target_epsilon"] and result["epsilon_upper"]]
    assert {result["target_epsilon"] for result in private} == {0.5, 4.0}
    for result in private:
        assert result["target_epsilon"] * 0.999 <= result["epsilon_upper"] <= result["target_epsilon"]
    assert {(result["device"], result["solver"]) for result in results} == {("cpu", "loop")}
    assert results == run_sweep(PRESETS[name](base, [0], (0.5, 4.0)), tmp_path)


def vars_of(cell):
    return {name: getattr(cell, name) for name in cell.__dataclass_fields__}


def test_epsilons_mean_nothing_where_noise_and_clip_norms_are_the_subject():
    with pytest.raises(InputError, match="epsilons"):
        PRESETS["combinations"](BASE, [0], (1.0,))


def test_cells_as_earlier_versions_had_them_keep_their_keys():
    """The key of a cell that 0.2.0 ran, as 0.2.0 gave it."""
    assert Cell("pmtl", "synthetic:related", 0).key == EARLIER
    for name, _ in LATER:
        told = vars_of(Cell("pmtl", "synthetic:related", 0)) | {name: {"target_epsilon": 1.0}.get(name, "other")}
        assert Cell(**told).key != EARLIER


EARLIER = "27a94787935c05d9f44e"
