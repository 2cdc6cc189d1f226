"""What the options say: the run, against whom, by which accountant; and what is wrong under the options' names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from pydantic import ValidationError

from ..mechanisms import InputError, Mechanism, Participation, PrivacyNotion, default_relation
from ..mechanisms.tables.cohort import SamplingTable
from ..mechanisms.tables.correlated import CorrelatedTable
from ..mechanisms.tables.fields import A_VALUE, KindTable, MissingKeys
from ..mechanisms.tables.kinds import KINDS
from ..mechanisms.tables.norms import NormedTable
from ..mechanisms.tables.phase import Phase, attained_run_of, refuse_uncovered, run_of
from ..mechanisms.tables.problems import all_missing, first_problem
from ..mechanisms.text_input import as_typed
from ..presentation.output import say
from . import options

if TYPE_CHECKING:
    from ..accounting import Bracket

Answer = TypeVar("Answer")

SAMPLED_BY = ("sampling_rate", "population", "cohort", "max_cohort", "drop_last", "block", "per_block", "bins")
"""The options that say how cohorts are drawn, beside --sampling."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What the options say: what ran, against whom, by which accountant. Fields that are None were not given.

    The fields are the options, in the order in which --help shows them (`with_fields`).
    """

    mechanism: options.Kind = "gaussian"
    keys: options.Keys = None
    noise_multiplier: options.NoiseMultiplier = None
    noise_std: options.NoiseStd = None
    clip_norm: options.ClipNorm = None
    releases: options.Releases = None
    rounds: options.Rounds = None
    epochs: options.Epochs = None
    sampling: options.Sampling = "none"
    sampling_rate: options.SamplingRate = None
    population: options.Population = None
    cohort: options.Cohort = None
    max_cohort: options.MaxCohort = None
    drop_last: options.DropLast = False
    block: options.Block = None
    per_block: options.PerBlock = None
    bins: options.Bins = None
    neighbouring: options.Neighbouring = None
    notion: options.Notion = "dp"
    participation: options.Participation = None
    accountant: options.Accountant = "best"
    rtol: options.Rtol = None

    def run(self, **needed: object) -> Mechanism:
        """The mechanism description; InputError (with the option's name) for bad or contradictory options.

        needed: values of options that the command cannot do without; all that is missing is one error.
        """
        refuse([*missing(needed), *self.lacking()])
        try:
            phase = self._phase()
            found = run_of((phase,))
            refuse_uncovered((phase,), self.relation, self.hidden)
            return found
        except InputError as problem:
            raise as_option(problem) from None

    def _phase(self) -> Phase:
        return Phase.model_validate(self._tables())

    def lacking(self) -> list[MissingKeys]:
        """What the run cannot be described without; InputError (with the option's name) for what is wrong."""
        found: list[MissingKeys] = []
        try:
            self._phase()
        except ValidationError as invalid:
            problem = first_problem(invalid)
            if not isinstance(problem, MissingKeys):
                raise as_option(problem) from None
            found.insert(0, problem)
        return found

    def _tables(self) -> dict[str, Any]:
        sampling = {"scheme": self.sampling} | self._given(*SAMPLED_BY)
        composition = self._given("rounds", "epochs")
        return {"mechanism": self._noise() | self._given("releases"), "sampling": sampling, "composition": composition}

    @property
    def relation(self) -> str:
        """The relation as named, or the notion's default."""
        return relation(self.neighbouring, self.notion, self.participation)

    @property
    def hidden(self) -> bool:
        """Whether the attacker is not told who takes part."""
        return self.notion == PrivacyNotion.DP or self.participation == Participation.HIDDEN

    def attained(self) -> Mechanism | None:
        """What ran at the least, for a lower end; None where nothing is known of that (--drop-last)."""
        return attained_run_of((self._phase(),))

    def answered(self, quantity: Callable[..., Bracket], at: float) -> Bracket:
        """The run's epsilon or delta there: from above as bad as the options allow, from below of what they say ran."""
        from ..accounting.lower_end import with_lower_end  # here: commands that ask nothing load no accountant
        from ..accounting.question import RTOL

        run, least, against = self.run(), self.attained(), self.against()
        found = quantity(run, at, **against)
        if least == run:
            return found
        found = with_lower_end(found, least, lambda ran: quantity(ran, at, **against | {"accountant": "best"}))
        return replace(found, reached=found.narrower_than(self.rtol or RTOL))

    @property
    def step(self) -> int:
        """By how many rounds the run can grow; InputError as for `run`."""
        return self._sampling_table().step

    def _sampling_table(self) -> SamplingTable:
        try:
            return SamplingTable.model_validate({"scheme": self.sampling} | self._given(*SAMPLED_BY))
        except ValidationError as problem:
            raise as_option(first_problem(problem)) from None

    def _noise(self) -> dict[str, Any]:
        """The claim format's [mechanism] table: noise on the sum, or on the mean."""
        if self.mechanism != "gaussian" or self.keys:
            return {"kind": self.mechanism} | self._given("noise_multiplier", "noise_std", "clip_norm") | self._set()
        if self.noise_std is None and self.clip_norm is None:
            return {"kind": "gaussian"} | self._given("noise_multiplier")
        if self.noise_multiplier is not None:
            raise InputError("--noise-multiplier", self.noise_multiplier, "to be left out beside --noise-std")
        return {"kind": "gaussian-mean"} | self._given("noise_std", "clip_norm")

    def _set(self) -> dict[str, Any]:
        return set_keys(self.keys)

    def against(self) -> dict[str, Any]:
        """The keyword arguments of accounting.epsilon, delta and calibrate."""
        return {
            "neighbouring": self.relation,
            "notion": self.notion,
            "participation": self.participation,
            "accountant": self.accountant,
        } | self._given("rtol")

    def warn(self) -> dict[str, Any]:
        """Say on stderr what is assumed of what ran, as the findings of a claim do; for the JSON documents, if any."""
        phases = self._phase().with_searched_runs
        told = [(table, phase) for phase in phases for table in phase.tables if _leaves_open(table)]
        if not told:
            return {}
        from ..proofs_checks.claims.findings import unstated  # here: other noise needs nothing of claims

        found = {finding.id: finding for each in told for finding in unstated(*each)}
        for finding in found.values():
            say(str(finding), err=True)
        return {"findings": [finding.to_json() for finding in found.values()]} if found else {}

    def to_json(self) -> dict[str, Any]:
        """What was asked, for the JSON documents."""
        against: dict[str, Any] = {"notion": self.notion, "neighbouring": self.relation, "sampling": self.sampling}
        noise = {"mechanism": self.mechanism} | self._set() if self.mechanism != "gaussian" or self.keys else {}
        stated = self._given(*SAMPLED_BY, "noise_multiplier", "noise_std", "clip_norm", "releases", "epochs")
        return against | noise | stated | {"rounds": self._phase().steps}

    def _given(self, *names: str) -> dict[str, Any]:
        return {name: value for name in names if (value := getattr(self, name)) is not None and value is not False}


def _leaves_open(table: KindTable) -> bool:
    """Whether something of this noise can be assumed: the norm that was clipped, or how often a unit takes part."""
    return isinstance(table, CorrelatedTable) or (isinstance(table, NormedTable) and table.asks_norm())


def relation(named: str | None, notion: str, participation: str | None) -> str:
    """The relation as named, or the notion's default."""
    return named or default_relation(notion, participation)  # type: ignore[arg-type] # which checks them


def _share_done(share: float) -> None:
    """A line on stderr that is written over, where somebody looks at it."""
    if sys.stderr.isatty():
        typer.echo(f"\r{share:4.0%} of this recursion\r", err=True, nl=False)


def asking(ask: Callable[[], Answer]) -> Answer:
    """The answer; an InputError comes back under the option's name."""
    from ..accounting.cohorts.hidden_cohorts import watched  # here: commands that ask nothing load no accountant

    try:
        with watched(_share_done):
            return ask()
    except InputError as problem:
        raise as_option(problem) from None
    except (ArithmeticError, MemoryError) as problem:
        reason = " ".join(f"{type(problem).__name__} {problem}".split())[:120]
        raise InputError("options", "(together)", f"a run that the accountants can do ({reason})") from None


def set_keys(entries: list[str] | None) -> dict[str, Any]:
    """What --set says, each value as TOML would read it."""
    read: dict[str, Any] = {}
    for entry in entries or ():
        key, equals, value = entry.partition("=")
        if not equals:
            raise InputError("--set", entry, "KEY=VALUE, such as sigma=3")
        read[key.strip().replace("-", "_")] = as_typed("--set", value)
    return read


def as_option(problem: InputError) -> InputError:
    """The same problem under the option's name: mechanism.noise_multiplier becomes --noise-multiplier."""
    if isinstance(problem, MissingKeys):
        return MissingKeys({_option(key): expected for key, expected in problem.keys.items()})
    return problem.renamed(_option(problem.field))


def _option(key: str) -> str:
    """The option that says what a claim file says by this key; an argument, in capitals, keeps its name."""
    if key.isupper():
        return key
    key = key.rsplit(".", 1)[-1].lstrip("-").partition("[")[0]  # of a list, one of its values
    named = {"scheme": "sampling", "kind": "mechanism"}.get(key, key)
    own = {field.name for field in fields(Setting)} | {"epsilon", "delta"}
    keys = {name for table in KINDS.values() for name in table.model_fields}
    return f"--set {named}" if named in keys - own else f"--{named.replace('_', '-')}"


def missing(given: Mapping[str, object]) -> list[MissingKeys]:
    """The options that must be given and are not."""
    return [MissingKeys({name: A_VALUE}) for name, value in given.items() if value is None]


def refuse(lacking: Sequence[MissingKeys]) -> None:
    """One InputError, under the options' names, for all that is missing, if anything is."""
    if lacking:
        raise as_option(all_missing(lacking))


def required(**given: object) -> None:
    """One InputError for all options that must be given and are not."""
    refuse(missing(given))


def refuse_others(context: typer.Context, taken: Collection[str], expected: str) -> None:
    """InputError for the first option on the command line that is none of these parameters."""
    for name in context.params:
        source = context.get_parameter_source(name)  # of click's own, or of the copy that newer typers bring
        if source is not None and source.name == "COMMANDLINE" and name not in taken:
            option = "set" if name == "keys" else name.replace("_", "-")
            raise InputError(f"--{option}", context.params[name], expected)
