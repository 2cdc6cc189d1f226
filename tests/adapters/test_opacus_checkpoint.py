"""A finished run of Opacus, whatever its accountant was: certified from its checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpcert.accounting import epsilon
from dpcert.accounting.ledger import Ledger
from dpcert.adapters.opacus_checkpoint import run_of_checkpoint, run_of_history
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, InputError, NoNoise, Poisson, Repeat, Sequence

HISTORY = [(1.1, 0.01, 900), (1.3, 0.01, 100)]
STEPS = Sequence(Repeat(Poisson(Gaussian(1.1), 0.01), 900), Repeat(Poisson(Gaussian(1.3), 0.01), 100))


@pytest.mark.parametrize("name", ["rdp", "prv", "gdp"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_checkpoints_of_opacus_s_accountants(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch")
    accountants = pytest.importorskip("opacus.accountants")
    accountant = accountants.create_accountant(name)
    accountant.history = list(HISTORY)
    kept = tmp_path / "checkpoint.pt"
    torch.save({"module_state_dict": {}, "privacy_accountant_state_dict": accountant.state_dict()}, kept)
    assert run(["ledger", "import", str(kept), "--delta", "1e-5", "--json"]) == 0
    told, found = json.loads(capsys.readouterr().out), epsilon(STEPS, 1e-5)
    assert (told["epsilon_lower"], told["epsilon_upper"]) == (found.lower, found.upper)
    assert [each["rounds"] for each in told["mechanisms"]] == [900, 100]
    ours = accountants.create_accountant("dpcert") if _registered() else None
    if ours is not None:
        ours.load_state_dict(accountant.state_dict())
        assert ours.get_epsilon(1e-5) == pytest.approx(found.upper, rel=1e-6)
        with pytest.raises(ValueError, match="another"):
            ours.load_state_dict({"mechanism": "another", "history": []})


def _registered() -> bool:
    import dpcert.adapters.opacus  # noqa: F401 # which registers it

    return True


def test_a_state_dict_as_json_and_a_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, ledger = tmp_path / "state.json", tmp_path / "ledger.sqlite"
    kept.write_text(json.dumps({"mechanism": "rdp", "history": HISTORY}))
    assert run(["ledger", "import", str(kept), "--into", str(ledger)]) == 0
    assert "900 x Poisson" in capsys.readouterr().out
    assert Ledger(ledger).epsilon(1e-5).upper == pytest.approx(epsilon(STEPS, 1e-5).upper, rel=1e-6)
    assert run_of_checkpoint(kept) == STEPS


def test_full_batches_are_not_sampled() -> None:
    assert run_of_history([(2.0, 1.0, 3), (2.0, 0.0, 5), (2.0, 0.5, 0)]) == Repeat(Gaussian(2.0), 3)


def test_steps_without_noise_cost_everything() -> None:
    found = run_of_history([(0.0, 0.1, 2)])
    assert found == Repeat(Poisson(NoNoise(), 0.1), 2)
    assert epsilon(found, 0.18).lower == float("inf")


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({"mechanism": "another", "history": HISTORY}, "one of these accountants"),
        ({"history": HISTORY}, "a checkpoint of Opacus"),
        ({"mechanism": "rdp", "history": []}, "at least one step"),
        ({"mechanism": "rdp", "history": [[1.0, 0.1]]}, "tuples"),
        ({"mechanism": "rdp", "history": [[-1.0, 0.1, 3]]}, "above 0"),
        ({"mechanism": "rdp", "history": [[1.0, 1.5, 3]]}, "rate"),
    ],
)
def test_what_is_no_history_is_named(document: Any, word: str, tmp_path: Path) -> None:
    kept = tmp_path / "state.json"
    kept.write_text(json.dumps(document))
    with pytest.raises(InputError, match=word):
        run_of_checkpoint(kept)


@pytest.mark.parametrize("content", [b"", b"PK", b"{", b"\x80\x02c__main__\nrun\n."])
def test_other_files_are_refused_and_nothing_in_them_runs(content: bytes, tmp_path: Path) -> None:
    kept = tmp_path / "checkpoint.pt"
    kept.write_bytes(content)
    assert run(["ledger", "import", str(kept), "--delta", "1e-5"]) == 2
