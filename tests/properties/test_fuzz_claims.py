"""Whatever bytes or options come in: a claim or one InputError, an answer or one line; never a traceback."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import many
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpcert.cli import run
from dpcert.mechanisms import InputError, Mechanism
from dpcert.proofs_checks.claims.claim import Claim, load_claim, parse_claim

CLAIMS = sorted((Path(__file__).parents[2] / "claims").rglob("*.toml"))
NUMBERS = st.one_of(
    st.integers(),
    st.integers(min_value=10**300, max_value=10**400),
    st.floats(),
    st.sampled_from([0, 1, -1, 0.5, 1e-5, 1e300, 5e-324, float("nan"), float("inf"), True]),
)
SCALARS = st.one_of(NUMBERS, st.text(max_size=8), st.booleans(), st.none(), st.datetimes())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
)
KINDS = [
    "gaussian",
    "gaussian-mean",
    "per-client-gaussian",
    "laplace",
    "discrete-gaussian",
    "discrete-laplace",
    "randomized-response",
    "zcdp",
    "pure-dp",
    "approximate-dp",
    "tree-aggregation",
]
MECHANISM_KEYS = [
    "noise_multiplier",
    "noise_std",
    "clip_norm",
    "weights",
    "assumed_sensitivity",
    "sigma",
    "clip",
    "scale",
    "flip_probability",
    "categories",
    "rho",
    "epsilon",
    "delta",
    "kin",
]


def table(keys: list[str], **fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Tables with plausible keys, some of them missing, and any value."""
    return st.builds(
        lambda chosen, some: {key: value for key, value in (chosen | some).items() if value is not None},
        st.fixed_dictionaries({key: st.one_of(st.none(), strategy) for key, strategy in fixed.items()}),
        st.dictionaries(st.sampled_from(keys), VALUES, max_size=4),
    )


STATEMENTS = table(
    ["title", "source", "unit", "epsilon_interval", "coalition_sees_participation", "assumed", "extra"],
    title=st.just("t"),
    notion=st.sampled_from(["dp", "billboard", "joint", "x"]),
    neighbouring=st.sampled_from(["add-remove", "replace-one", "zero-out", "x"]),
    epsilon=st.one_of(st.floats(0, 100), NUMBERS),
    delta=st.one_of(st.floats(1e-12, 0.5), NUMBERS),
)
SAMPLINGS = table(
    ["population", "cohort", "sampling_rate", "batches", "block", "per_block"],
    scheme=st.sampled_from(["none", "poisson", "fixed-size", "shuffle", "cyclic", "random-allocation"]),
    population=st.one_of(st.integers(1, 1000), NUMBERS),
    cohort=st.one_of(st.integers(1, 1000), NUMBERS),
)
MECHANISMS = table(MECHANISM_KEYS, kind=st.sampled_from(KINDS), noise_multiplier=st.floats(0.1, 10))
PHASES = st.fixed_dictionaries({}, optional={"mechanism": MECHANISMS, "sampling": SAMPLINGS})
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "claim": st.one_of(STATEMENTS, VALUES),
        "mechanism": st.one_of(MECHANISMS, VALUES),
        "sampling": st.one_of(SAMPLINGS, VALUES),
        "composition": st.one_of(st.fixed_dictionaries({"rounds": NUMBERS}), VALUES),
        "phase": st.one_of(st.lists(PHASES, max_size=2), VALUES),
        "other": VALUES,
    },
)


def well_formed(problem: InputError) -> bool:
    """One line of bounded length that names a field and an expectation."""
    text = str(problem)
    return bool(problem.field and problem.expected) and "\n" not in text and len(text) < 1000


@settings(
    max_examples=many(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(DOCUMENTS)
@example({"claim": {"\n": None}})
@example({"claim": {}, "mechanism": {"kind": []}})
@example({"mechanism": [], "claim": {}, "phase": [{"mechanism": {}, "sampling": {"scheme": "fixed-size"}}]})
@example({"claim": {}, "mechanism": {"kind": {}}, "phase": 3})
@example({"phase": [{"mechanism": {"kind": ["zcdp"]}}]})
@example({"mechanism": {}, "phase": [{"mechanism": {}}], "claim": {}})
def test_any_tables_give_a_claim_or_an_input_error(tables: dict[str, Any]) -> None:
    _claim_or_error(lambda: parse_claim(tables))


@settings(max_examples=many(400), deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_a_claim_or_an_input_error(content: bytes) -> None:
    _load(content)


@settings(max_examples=many(600), deadline=None)
@given(st.sampled_from(CLAIMS), st.data())
def test_damaged_claims_give_a_claim_or_an_input_error(path: Path, data: st.DataObject) -> None:
    """Truncation, and bytes overwritten, anywhere in a shipped claim."""
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans(), "truncate"):
        del content[data.draw(st.integers(0, len(content)), "at") :]
    for _ in range(data.draw(st.integers(0, 3), "damages")):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    _load(bytes(content))


def _load(content: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        file.write(content)
        file.flush()
        _claim_or_error(lambda: load_claim(file.name))


def _claim_or_error(read: Callable[[], Claim]) -> None:
    problem: InputError | None = None
    try:
        assert isinstance(read().run, Mechanism)
    except InputError as raised:
        problem = raised
    assert problem is None or well_formed(problem)


WORDS = st.one_of(
    st.sampled_from(
        ["nan", "inf", "-1", "0", "1", "1e-5", "1e400", "", "0x10", "1_0", "x", "--json", "\x00", "é", "10" * 300]
    ),
    st.floats(0.5, 50).map(repr),
    st.integers(-3, 200).map(str),
)
OPTIONS = {
    "--delta": st.one_of(st.just("1e-5"), WORDS),
    "--epsilon": st.one_of(st.just("1"), WORDS),
    "--noise-multiplier": st.one_of(st.floats(0.5, 50).map(repr), WORDS),
    "--rounds": st.one_of(st.integers(1, 200).map(str), WORDS),
    "--neighbouring": st.one_of(st.sampled_from(["add-remove", "replace-one", "zero-out"]), WORDS),
    "--notion": st.one_of(st.sampled_from(["dp", "billboard", "joint"]), WORDS),
    "--participation": st.one_of(st.sampled_from(["visible", "hidden"]), WORDS),
    "--population": st.integers(-1, 200).map(str),
    "--sampling": st.one_of(st.just("none"), WORDS),
}


def call(arguments: list[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


@settings(max_examples=many(150), deadline=None)
@given(st.sampled_from(["epsilon", "delta", "verify"]), st.data())
def test_any_options_give_an_answer_or_one_line(command: str, data: st.DataObject) -> None:
    """Without sampling: the other accountants have their own extreme-value tests, and are not what is fuzzed here."""
    chosen = data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), unique=True, max_size=7))
    arguments = [command, "--json"]
    for option in chosen:
        arguments += [option, data.draw(OPTIONS[option])]
    code, out, err = call(arguments)
    assert code in (0, 2)
    if code == 2:
        assert out == ""
        assert sum(line.startswith("error:") for line in err.splitlines()) == 1
    else:
        assert isinstance(json.loads(out), dict)


HUGE = ["epsilon", "--delta", "1e-5", "--noise-multiplier", "1", "--rounds", "10" * 200]
"""More rounds than a double can count: a crash of an earlier version."""


@pytest.mark.parametrize(
    "arguments", [["verify", "\x00"], ["verify", "-"], ["verify", "x" * 5000], ["\x1b[31m"], ["epsilon", "extra"], HUGE]
)
def test_odd_arguments(arguments: list[str]) -> None:
    code, out, err = call(arguments)
    assert (code, out) == (2, "")
    assert "error:" in err
