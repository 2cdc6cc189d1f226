"""The spellings that users try first: each works, or answers with a sentence that names the way."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dpcert
from dpcert import (
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Poisson,
    Repeat,
    Sequence,
    Shuffled,
    WithReplacement,
    accounting,
    delta,
    epsilon,
    mechanisms,
    proofs_checks,
    tradeoff,
)
from dpcert.accounting import Bracket

A, B = Repeat(Gaussian(20.0), 10), Gaussian(3.0)


def test_a_sequence_of_parts_however_they_are_given() -> None:
    assert Sequence(A, B) == Sequence((A, B)) == Sequence([A, B]) == Sequence(mechanisms=(A, B))
    assert hash(Sequence(A, B)) == hash(Sequence([A, B]))
    assert eval(repr(Sequence(A, B))) == Sequence(A, B)
    assert Sequence(A) == Sequence([A])


@pytest.mark.parametrize("parts", [(), ([],), (A, 3), (3,), ([A, "b"],)])
def test_a_sequence_of_anything_else_is_refused(parts: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="mechanisms = "):
        Sequence(*parts)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="beside positional"):
        Sequence(A, mechanisms=(B,))


def test_a_list_is_a_sequence() -> None:
    assert epsilon([A, B], 1e-5) == epsilon(Sequence(A, B), 1e-5)
    assert delta((A, B), 1.0) == delta(Sequence(A, B), 1.0)
    assert tradeoff([B])(0.1) == tradeoff(B).beta(0.1)


def test_an_event_is_the_mechanism_that_it_describes() -> None:
    events = pytest.importorskip("dp_accounting")
    assert epsilon(events.GaussianDpEvent(3.0), 1e-5) == epsilon(B, 1e-5)
    sampled = events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1.0)), 100)
    assert epsilon([sampled, B], 1e-5) == epsilon([Repeat(Poisson(Gaussian(1.0), 0.01), 100), B], 1e-5)
    with pytest.raises(InputError, match="event"):
        epsilon(events.NonPrivateDpEvent(), 1e-5)


@pytest.mark.parametrize("run", [3, "Gaussian(1.0)", None, Gaussian, [3]])
def test_anything_else_is_no_run(run: object) -> None:
    with pytest.raises(InputError, match=r"run = .*: expected a mechanism description, such as Repeat\("):
        epsilon(run, 1e-5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sampled",
    [
        lambda base: Poisson(base, 0.1),
        lambda base: FixedSize(base, 10, 5),
        lambda base: Shuffled(base, 4),
        lambda base: WithReplacement(base, 10, 5),
    ],
)
def test_sampling_around_several_releases_is_one_sample_for_all(sampled: object) -> None:
    """Not a sample for each of them, which costs less: no error advises that reading either."""
    several = sampled(Repeat(Gaussian(4.0), 20))  # type: ignore[operator]
    each = Repeat(sampled(Gaussian(4.0)), 20)  # type: ignore[operator]
    if isinstance(several, WithReplacement):
        with pytest.raises(InputError, match="observer_epsilon"):
            epsilon(several, 1e-6, "zero-out")
    else:
        assert epsilon(several, 1e-6, "zero-out").upper >= epsilon(each, 1e-6, "zero-out").lower


def test_what_has_no_pair_names_the_way() -> None:
    with pytest.raises(InputError, match="observer_epsilon"):
        epsilon(WithReplacement(Gaussian(1.0), 100, 10), 1e-5)


def test_a_bracket_answers_both_questions() -> None:
    known, guess = Bracket(1.0, 2.0, True, "pld"), Bracket(1.0, 2.0, False, "gdp-clt")
    assert (known.at_most(2.0), known.at_most(1.9), known.exceeds(0.9), known.exceeds(1.0)) == (
        True,
        False,
        True,
        False,
    )
    assert not guess.at_most(5.0)  # an estimate decides nothing
    assert not guess.exceeds(0.5)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("add_remove", "add-remove"),
        ("Replace-One", "replace-one"),
        ("zero out", "zero-out"),
        ("addremove", "add-remove"),
    ],
)
def test_a_misspelt_relation_is_guessed(written: str, meant: str) -> None:
    with pytest.raises(InputError, match=rf"did you mean {meant}\?"):
        epsilon(Laplace(1.0), 1e-5, written)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"zero-out$"):
        epsilon(Laplace(1.0), 1e-5, "bounded")  # type: ignore[arg-type]


def fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/").stdout


def test_the_entrance_loads_nothing_before_it_is_asked() -> None:
    loaded = "import sys; print(*sorted({'numpy', 'scipy', 'pydantic', 'typer'} & set(sys.modules)))"
    assert fresh(f"import dpcert; {loaded}").split() == []
    assert fresh(f"from dpcert import Gaussian, Repeat, accounting; {loaded}").split() == ["numpy", "scipy"]
    assert fresh(f"from dpcert import epsilon, testing; {loaded}").split() == ["numpy", "scipy"]


def test_without_dp_accounting_everything_works_but_its_events() -> None:
    hidden = "import sys; sys.modules['dp_accounting'] = None; from dpcert import Gaussian, epsilon"
    assert fresh(f"{hidden}; print(epsilon(Gaussian(3.0), 1e-5).certified)") == "True\n"
    asked = f"{hidden}\ntry: Gaussian(3.0).event()\nexcept ModuleNotFoundError as problem: print(problem)"
    assert fresh(asked).strip().endswith("pip install 'dpcert[dp-accounting]'")
    assert dpcert.__version__ == fresh("import dpcert; print(dpcert.__version__)").strip()


def test_a_star_import_gives_every_name_that_needs_no_extra() -> None:
    extras = "('hypothesis', 'z3', 'sklearn', 'torch', 'pytest')"
    hidden = f"import sys; sys.modules.update(dict.fromkeys({extras}))"
    names = set(fresh(f"{hidden}; from dpcert import *; print(*(name for name in dir() if name[0] != '_'))").split())
    public = {name for room in (mechanisms, accounting, proofs_checks) for name in room.__all__}
    left_out = public - names
    assert names - {"sys"} <= public
    tried = "try: getattr(dpcert, name)\n except ModuleNotFoundError: print(name)"
    needing = fresh(f"{hidden}; import dpcert\nfor name in {sorted(left_out)}:\n {tried}")
    assert set(needing.split()) == left_out, "none is left out without need"
