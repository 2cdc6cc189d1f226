"""The plugin as a user meets it: each test runs pytest on a small project of its own, in this process."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from cases import at_night

from dpcert.proofs_checks import auditing, verification

pytest_plugins = ["pytester"]

LOADED = (auditing, verification)
"""What the plugin loads late, loaded for good: pytest forgets what a run inside this process has imported."""

TUTORIAL = (Path(__file__).parents[2] / "docs/tutorial/4-test-a-mechanism.md").read_text(encoding="utf-8")
(NOISY_SUM,) = re.findall(r'```python title="test_sum.py"\n(.*?)```', TUTORIAL, flags=re.DOTALL)
"""The tutorial's example: the test below is what shows that it does what the tutorial says."""

CLAIM = """
[claim]
title = "one Gaussian release"
source = "a test"
notion = "dp"
unit = "client"
neighbouring = "add-remove"
epsilon = EPSILON
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
[sampling]
scheme = "none"
[composition]
rounds = 1
"""


@pytest.fixture
def project(pytester):
    """A project whose pytest finds the plugin by its entry point, as any user's does."""
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider")
    return pytester


@pytest.mark.parametrize("examples", [4, at_night(60)])
def test_correct_code_passes_and_half_the_noise_fails_with_a_witness(project, examples):
    noisy_sum = NOISY_SUM.replace("max_examples=60", f"max_examples={examples}")
    project.makepyfile(test_right=noisy_sum)
    project.runpytest_inprocess("test_right.py").assert_outcomes(passed=1)
    project.makepyfile(test_wrong=noisy_sum.replace("laplace(0.0, 1.0", "laplace(0.0, 0.5"))
    first = project.runpytest_inprocess("test_wrong.py")
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(
        [
            "*not (1, 0)-DP: refuted*",
            "*neighbours: *",
            "*and: *",
            "*replay (seed *): dpcert audit test_wrong:noisy_sum *",
        ]
    )
    second = project.runpytest_inprocess("test_wrong.py")
    witness = [line for line in first.stdout.lines if "neighbours:" in line]
    assert witness == [line for line in second.stdout.lines if "neighbours:" in line]


def test_the_mark_states_the_claim(project):
    project.makepyfile(
        """
        import pytest
        from dpcert.proofs_checks import assert_private

        def release(dataset, rng, size):
            return sum(dataset) + rng.laplace(0.0, 1.0, size)

        @pytest.mark.dp(epsilon=1.0)
        def test_right():
            assert_private(release, ([0.0], [1.0]))

        @pytest.mark.dp(epsilon=0.3, delta=1e-6)
        def test_wrong():
            assert_private(release, ([0.0], [1.0]))

        def test_without_claim():
            assert_private(release, ([0.0], [1.0]))

        @pytest.mark.dp(0.5)
        def test_misused():
            pass

        @pytest.mark.dp(mu=1.0, delta=1e-5)
        def test_two_at_once():
            pass
        """
    )
    result = project.runpytest_inprocess("--dp-report=audits.jsonl")
    result.assert_outcomes(passed=1, failed=4)
    lines = [json.loads(line) for line in (project.path / "audits.jsonl").read_text().splitlines()]
    assert [line["refuted"] for line in lines] == [False, True]


def test_the_mark_states_claims_in_other_currencies(project):
    """A strictly failing test for each, so that a mark that is not read is found out; an own claim goes before it."""
    project.makepyfile(
        """
        import pytest
        from dpcert.proofs_checks import assert_private

        def release(dataset, rng, size):
            return sum(dataset) + rng.normal(0.0, 1.0, size)

        RIGHT = {"mu": 1.0, "rho": 0.5, "renyi": (2.0, 1.0), "curve": [(1.0, 0.13), (2.0, 0.021)]}
        WRONG = {"mu": 0.2, "rho": 0.01, "renyi": (2.0, 0.03), "curve": [(1.0, 0.13), (0.0, 0.05)]}

        def marked(claims):
            return [pytest.param(marks=pytest.mark.dp(**{name: value}), id=name) for name, value in claims.items()]

        @pytest.mark.parametrize((), marked(RIGHT))
        def test_right():
            assert_private(release, ([0.0], [1.0]), trials=20_000)

        @pytest.mark.xfail(strict=True, raises=AssertionError)
        @pytest.mark.parametrize((), marked(WRONG))
        def test_wrong():
            assert_private(release, ([0.0], [1.0]), trials=20_000)

        @pytest.mark.dp(mu=0.2)
        def test_own():
            assert_private(release, ([0.0], [1.0]), mu=1.0)
        """
    )
    project.runpytest_inprocess().assert_outcomes(passed=5, xfailed=4)


def test_the_session_error_probability_is_split_over_tests_and_examples(project):
    project.makepyfile(
        """
        from hypothesis import given, settings, strategies as st
        from dpcert.proofs_checks.assertion_context import current

        @settings(max_examples=20)
        @given(st.integers())
        def test_examples(number):
            assert abs(current().spend() - 0.9 * 0.01 / 2 / 20 / 2) < 1e-12

        def test_plain():
            assert abs(current().spend() - 0.9 * 0.01 / 2 / 2) < 1e-12
            assert current().trials == 50_000
        """
    )
    project.runpytest_inprocess("--dp-alpha=0.01", "--dp-profile=nightly").assert_outcomes(passed=2)


@pytest.mark.nightly
def test_the_calls_of_one_example_share_its_error_probability(project):
    """However many there are: 1/2, 1/6, 1/12, ... of it. Outside of a session each call has its own."""
    project.makepyfile(
        """
        from hypothesis import example, given, settings, strategies as st
        from dpcert.proofs_checks import assert_private
        from dpcert.proofs_checks.assertion_context import Context, current

        def release(dataset, rng, size):
            return sum(dataset) + rng.laplace(0.0, 1.0, size)

        def spent():
            return assert_private(release, ([0.0], [1.0]), epsilon=1.0, trials=50).alpha

        def near(values, expected):
            return all(abs(a - b) < 1e-9 * b for a, b in zip(values, expected, strict=True))

        def test_plain():
            assert near([spent() for _ in range(3)], [0.9 * 0.01 / 2 / k for k in (2, 6, 12)])
            assert Context().spend() == Context().spend() == 1e-6

        @settings(max_examples=3, database=None, deadline=None)
        @example(7)
        @given(st.integers())
        def test_examples(number):
            assert near([spent() for _ in range(2)], [0.9 * 0.01 / 2 / 4 / k for k in (2, 6)])
        """
    )
    project.runpytest_inprocess("--dp-alpha=0.01").assert_outcomes(passed=2)


def test_rejected_examples_do_not_overspend(project):
    """assume() after assert_private: Hypothesis runs more examples than announced (they spent 1.58 times the share)."""
    project.makepyfile(
        """
        from hypothesis import HealthCheck, assume, given, settings, strategies as st
        from dpcert.proofs_checks.assertion_context import current

        spent = []

        @settings(max_examples=20, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.integers(0, 10**6))
        def test_examples(number):
            spent.append(current().spend())
            assume(number % 2)

        def test_total():
            assert len(spent) > 24
            assert sum(2 * part for part in spent) <= 0.01 / 2  # each the first call's half of its example's
        """
    )
    project.runpytest_inprocess("--dp-alpha=0.01", "-p", "no:randomly").assert_outcomes(passed=2)


@pytest.mark.nightly
def test_an_example_beyond_the_announced_ones_fails_again(project):
    """Its share is small; what Hypothesis runs again to show the failure has the same one, and is not called flaky."""
    project.makepyfile(
        """
        from hypothesis import HealthCheck, Phase, assume, given, settings, strategies as st
        from dpcert.proofs_checks import assert_private

        def exact(dataset, rng):
            return sum(dataset)

        quick = {"max_examples": 5, "database": None, "deadline": None, "phases": [Phase.generate]}

        @settings(suppress_health_check=list(HealthCheck), **quick)
        @given(st.integers(0, 1000))
        def test_examples(number):
            mechanism = exact if number > 500 else lambda dataset, rng: 0.0
            assert_private(mechanism, ([1.0], [0.0]), epsilon=1.0, trials=400)
            assume(number > 500)
        """
    )
    result = project.runpytest_inprocess("--dp-alpha=0.01")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*Flaky*")


def test_a_failure_begins_with_the_sentence_and_shows_no_frame_of_ours(project):
    project.makepyfile(
        """
        from dpcert.proofs_checks import assert_private

        def noisy_sum(dataset, rng):
            return sum(dataset) + rng.laplace(0.0, 0.1)

        def broken(dataset, rng):
            return dataset["no such"]

        def test_wrong():
            assert_private(noisy_sum, ([1.0], [0.0]), epsilon=1.0)

        def test_raises():
            assert_private(broken, ([1.0], [0.0]), epsilon=1.0)
        """
    )
    result = project.runpytest_inprocess()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E*AssertionError: noisy_sum: output * runs on *, but in * on its neighbour *"])
    result.stdout.fnmatch_lines(["E*--observe-failures*"])
    for frame in ("*assertion.py:*", "*audit.py:*", "*sampling.py:*", "*log odds*"):
        result.stdout.no_fnmatch_line(frame)


def test_a_claim_that_nothing_tests_fails(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.dp(epsilon=1.0)
        def test_forgotten():
            pass

        @pytest.mark.dp(epsilon=1.0)
        def test_skipped():
            pytest.skip("not here")
        """
    )
    result = project.runpytest_inprocess()
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*test_forgotten states a privacy claim*"])


LOCAL = """
    from dpcert.proofs_checks import assert_private

    class Settings:
        pass

    def release(dataset, rng, size):
        return len(dataset[1:]) + rng.laplace(0.0, 0.5, size)

    def test_closure():
        assert_private(lambda data, rng, size: sum(data) + rng.laplace(0.0, 0.5, size), ([1.0], []), epsilon=1.0)

    def test_addresses():
        settings = Settings()
        assert_private(release, ([settings, 1.0], [settings]), epsilon=1.0)

    def test_array():
        import numpy as np
        assert_private(release, (np.array([0.5, np.nan]), np.array([0.5])), epsilon=1.0)
"""


@pytest.mark.nightly
def test_every_witness_ends_with_a_command_that_replays_it(project):
    """Of the very trials, with the same counts: the test itself where the mechanism or the pair cannot be named."""
    project.makepyfile(test_local=LOCAL)
    first = project.runpytest_inprocess()
    first.assert_outcomes(failed=3)
    counts, commands = (
        re.findall(said, first.stdout.str()) for said in (r"right \d+ times.*", r"replay \(seed.*?: (.*)")
    )
    assert [command.split()[:3] for command in commands[:2]] == [["python", "-m", "pytest"]] * 2
    assert commands[2].startswith("dpcert audit test_local:release")
    for count, command in zip(counts, commands, strict=True):
        program, *options = shlex.split(command)
        module = ["-m", "dpcert"] if program == "dpcert" else []
        assert count in project.run(sys.executable, *module, *options).stdout.str()


def test_tests_without_claims_load_nothing_heavy(project):
    project.makepyfile("import sys\ndef test_light():\n    assert not {'numpy', 'torch', 'scipy'} & set(sys.modules)\n")
    project.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_claim_files_are_tests(project):
    (project.path / "right.claim.toml").write_text(CLAIM.replace("EPSILON", "4.9"))
    (project.path / "wrong.claim.toml").write_text(CLAIM.replace("EPSILON", "1.0"))
    result = project.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*wrong.claim.toml: refuted*"])


def test_the_implementation_that_a_claim_names_is_audited(project):
    """Half the noise behind a claim that holds of its description, and nothing to compare; the twin passes."""
    project.makepyfile(
        released="""
        import numpy as np

        def full(dataset, rng, size):
            return float(np.sum(dataset)) + rng.normal(0.0, 1.0, size)

        def half(dataset, rng, size):
            return float(np.sum(dataset)) + rng.normal(0.0, 0.5, size)

        def none(dataset, rng, size):
            return np.ones(size)
        """
    )
    for name in ("full", "half", "none"):
        named = CLAIM.replace("EPSILON", f'4.9\nimplementation = "released:{name}"')
        (project.path / f"{name}.claim.toml").write_text(named)
    result = project.runpytest_inprocess("--dp-report=audits.jsonl")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*half.claim.toml: *", "*implementation-differs: *"])
    result.stdout.fnmatch_lines(["*none.claim.toml: *", "*implementation-not-checked: *Every call returned 1*"])
    assert len((project.path / "audits.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--dp-alpha=0", "*--dp-alpha: '0': expected a number strictly between 0 and 1*"),
        ("--dp-alpha=nan", "*expected a number strictly between 0 and 1*"),
        ("--dp-alpha=few", "*expected a number strictly between 0 and 1*"),
        ("--dp-profile=weekly", "*--dp-profile: invalid choice: 'weekly'*"),
        ("--dp-report=nowhere/audits.jsonl", "*--dp-report nowhere/audits.jsonl: expected a file that can be written*"),
    ],
)
def test_bad_options_are_refused(project, option, said):
    result = project.runpytest_inprocess(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


def test_the_findings_of_claims_that_hold_are_shown(project):
    """At a delta of 1/population a claim may hold, and protects nobody: the session passes, and says so."""
    claim = '[claim]\ntitle = "t"\nneighbouring = "replace-one"\nepsilon = 12.0\ndelta = 1e-2\n'
    claim += '[mechanism]\nkind = "gaussian"\nnoise_multiplier = 1.0\n'
    project.makefile(".claim.toml", loose=claim + "[sampling]\npopulation = 200\n")
    result = project.runpytest_inprocess()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*findings beside claims that hold*", "*loose.claim.toml*warning delta-not-small: *"])
