"""An audit that compared nothing says so: equal data sets, constant and unreadable outputs, too few calls."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path

import pytest

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.proofs_checks import assert_private, audit
from dpcert.proofs_checks.assertion import AuditWarning
from dpcert.proofs_checks.assertion_context import Calls, Context, assertions
from dpcert.proofs_checks.auditing import approximate_dp, gdp
from dpcert.proofs_checks.auditing.checked import least_calls, most_shown

PAIR = ([1.0, 1.0], [1.0])


def noisy_sum(data, rng):
    return round(sum(data) + rng.laplace(0, 1), 3)


def forgot_return(data, rng):
    sum(data) + rng.laplace(0, 1 / 9)


def digest(data, rng):
    return hashlib.sha256(f"{sum(data)} {rng.random()}".encode()).hexdigest()


def row(data, rng):
    return f"{sum(data) + rng.laplace(0, 1):.3f},{len(data)}"


NOTHING = [
    (noisy_sum, ([1.0, 1.0], [1.0, 1.0]), "data sets are equal"),
    (forgot_return, PAIR, "Every call returned None"),
    (digest, PAIR, "could not be read: output"),
]


@pytest.mark.parametrize(("mechanism", "pair", "why"), NOTHING)
def test_nothing_checked_fails_unless_it_is_meant(mechanism, pair, why) -> None:
    result = audit(mechanism, pair, epsilon=1.0, trials=300)
    assert why in result.unchecked
    assert result.to_json()["unchecked"] == result.unchecked
    with pytest.raises(AssertionError, match=why), assertions(Context()):
        assert_private(mechanism, pair, epsilon=1.0, trials=300)
    with assertions(Context()):
        assert_private(mechanism, pair, epsilon=1.0, trials=300, allow_blind=True)


def test_one_checked_pair_of_a_test_is_enough() -> None:
    """What a test runner asks at the end of a test: whether any of its calls compared anything."""
    calls = Calls(2)
    with assertions(Context(calls=calls)):
        assert_private(forgot_return, PAIR, epsilon=1.0, trials=300)
        assert "Every call returned None" in calls.nothing_checked()
        assert_private(noisy_sum, PAIR, epsilon=1.0, trials=300)
    assert calls.nothing_checked() == ""


def test_a_text_is_taken_apart() -> None:
    assert audit(row, PAIR, epsilon=1.0, trials=300).refuted  # the number of entries is in it, without noise
    result = audit(lambda data, rng: f"{sum(data) + rng.laplace(0, 1):.3f} years", PAIR, epsilon=1.0, trials=300)
    assert not result.refuted
    assert result.unchecked == ""
    assert result.blind == ()


def test_what_could_not_be_read_beside_what_could_warns() -> None:
    def two(data, rng):
        return {"id": rng.bytes(8).hex(), "sum": noisy_sum(data, rng)}

    with pytest.warns(AuditWarning, match=r"could not read output\['id'\]"):
        assert_private(two, PAIR, epsilon=1.0, trials=300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_private(two, PAIR, epsilon=1.0, trials=300, allow_blind=True)


def test_fewer_calls_than_can_refute_are_refused_before_the_first() -> None:
    def never(data, rng):
        raise AssertionError("no call was to be made")

    with pytest.raises(InputError, match=r"cannot refute \(8, 0\)-DP"):
        assert_private(never, PAIR, epsilon=8.0, trials=1000)
    result = audit(lambda data, rng: float(len(data)), PAIR, epsilon=8.0, trials=1000, method="curve")
    assert "cannot refute (8, 0)-DP" in result.unchecked


@pytest.mark.parametrize("claim", [approximate_dp(1.0), approximate_dp(4.0, 1e-3), gdp(1.0)])
def test_the_least_number_of_calls_refutes_the_worst_mechanism_and_fewer_do_not(claim) -> None:
    """The worst one returns its data: all guesses are right. A tenth more calls, as sides are drawn by coins."""
    least = least_calls(claim, 0.01)
    assert audit(lambda data, rng: float(len(data)), PAIR, claim=claim, trials=int(0.6 * least) + 20).refuted
    assert not audit(lambda data, rng: float(len(data)), PAIR, claim=claim, trials=int(0.4 * least)).refuted


def test_what_so_many_calls_can_show_is_what_the_worst_mechanism_shows() -> None:
    found = audit(lambda data, rng: float(len(data)), PAIR, trials=500, method="best").epsilon_lower()
    assert 0.8 * most_shown(1000, 0.0, 0.01) < found < 1.2 * most_shown(1000, 0.0, 0.01)


@pytest.mark.parametrize("made", [iter, lambda data: (x for x in data), lambda data: {"ages": [iter(data)]}])
def test_data_that_can_be_read_once_only_are_refused(made) -> None:
    """From the second call on both sides are empty, and a release without noise was not refuted."""

    def exact(data, rng):
        return float(sum(data))

    with pytest.raises(InputError, match="empty after the first call"):
        assert_private(exact, (made([0.0]), made([1.0])), epsilon=1.0)


def test_the_command_exits_with_4_and_says_it_beforehand(tmp_path: Path, capsys) -> None:
    path = tmp_path / "m.py"
    path.write_text("def none(data, rng): pass\ndef total(data, rng): return sum(data) + rng.laplace(0, 1)\n")
    assert run(["audit", f"{path}:none", "--epsilon", "1", "--trials", "200"]) == 4
    assert "Nothing was checked: Every call returned None" in capsys.readouterr().out
    assert run(["audit", f"{path}:total", "--epsilon", "9", "--trials", "200", "--pair", "([1.0], [])"]) == 4
    assert "cannot refute (9, 0)-DP" in capsys.readouterr().err
    assert run(["audit", f"{path}:total", "--epsilon", "1", "--trials", "200", "--pair", "([1.0], [])"]) == 0
