"""Privacy claims as TOML files: the schema, the loader, and what a claim says ran.

One claim a file (the tables are described in docs/claims.md). Loading is where bad input ends: whatever is wrong
with a file comes back as one InputError that names the field, its value and what was expected there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import ValidationError, model_validator

from ...mechanisms import (
    InputError,
    Mechanism,
    Neighbouring,
    Notion,
    Poisson,
    Repeat,
    Sequence,
    Visibility,
    rounds_by_step,
)
from ...mechanisms.client_noise import STAYS, brings_noise
from ...mechanisms.validate import number
from .fields import MISSING, Count, NonNegative, Probability, Table, checked
from .file import read_tables
from .mechanism import AnyMechanismTable, Phase
from .sampling import CompositionTable, SamplingTable


def _text(field: str, value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or not text.isprintable():  # what a terminal would obey instead of showing is no text
        raise InputError(field, value, "a text that is not empty, of printable characters")
    return text


def _yes_or_no(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(field, value, "true or false")
    return value


def _interval(field: str, value: object) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(field, value, "a list of two numbers, [lower, upper]")
    lower, upper = (number(field, end) for end in value)
    if not 0 <= lower <= upper:
        raise InputError(field, value, "[lower, upper] with 0 <= lower <= upper")
    return lower, upper


Text = Annotated[str, checked(_text)]


class Statement(Table):
    """[claim]: what is claimed, about whom, and by whom.

    epsilon_interval: what the printed epsilon may have been before rounding; the verdict then uses its upper end.
    convention: how the source computed the number. assumed: what had to be assumed to write the file.
    implementation: "package.module:callable", what `dpcert verify --audit` attacks.
    coalition_sees_participation: billboard and joint only, default true (see `sees_participation`).
    observer: whom the claim is about; default for billboard and joint: the coalition of all other clients.
    coalition_size: how many of them collude, default all. clients: whether they carry state from round to round that
    depends on when they took part; default "stateful" (see dpcert.accounting.billboard.observers).
    """

    title: Text
    source: Text = "not stated"
    notion: Notion = "dp"
    unit: Text = "unit"
    neighbouring: Neighbouring
    epsilon: NonNegative
    delta: Probability
    epsilon_interval: Annotated[tuple[float, float] | None, checked(_interval)] = None
    coalition_sees_participation: Annotated[bool | None, checked(_yes_or_no)] = None
    observer: Literal["coalition", "client", "server", "final-models", "outside"] | None = None
    coalition_size: Count | None = None
    clients: Literal["stateless", "stateful"] | None = None
    convention: Text | None = None
    assumed: tuple[Text, ...] = ()
    implementation: Text | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Statement:
        if self.epsilon_interval and not self.epsilon_interval[0] <= self.epsilon <= self.epsilon_interval[1]:
            raise InputError("epsilon_interval", self.epsilon_interval, f"an interval around epsilon = {self.epsilon}")
        if self.notion == "dp" and self.coalition_sees_participation is not None:
            seen = self.coalition_sees_participation
            raise InputError("coalition_sees_participation", seen, "no such key with notion = 'dp': no coalition there")
        if self.observer is not None and self.coalition_sees_participation is not None:
            expected = "no such key beside observer: who sees what follows from the observer"
            raise InputError("coalition_sees_participation", self.coalition_sees_participation, expected)
        if self.observer == "server" and self.notion != "dp":
            raise InputError(
                "observer", "server", f"a client-side observer: {self.notion} privacy is not about the server"
            )
        if self.coalition_size is not None and self.observer != "coalition":
            raise InputError("coalition_size", self.coalition_size, "no such key unless observer = 'coalition'")
        if self.clients is not None and self.notion == "dp" and self.observer is None:
            raise InputError("clients", self.clients, "no such key for a dp claim without an observer")
        return self

    @property
    def colluders(self) -> int | None:
        """How many other clients pool what they see; None: all of them, or no coalition."""
        return 1 if self.observer == "client" else self.coalition_size

    @property
    def threshold(self) -> float:
        """The largest epsilon that the claim still covers."""
        return self.epsilon_interval[1] if self.epsilon_interval else self.epsilon

    @property
    def participation(self) -> Visibility | None:
        """What accounting.epsilon takes: None is the notion's own default (for billboard and joint: the coalition)."""
        return "hidden" if self.coalition_sees_participation is False else None


class ClaimTables(Table):
    """The whole file: [claim], and either [mechanism], [sampling], [composition] or several [[phase]]."""

    claim: Statement
    mechanism: AnyMechanismTable | None = None
    sampling: SamplingTable | None = None
    composition: CompositionTable | None = None
    phase: tuple[Phase, ...] | None = None

    @model_validator(mode="after")
    def _one_description(self) -> ClaimTables:
        single = [name for name in ("mechanism", "sampling", "composition") if getattr(self, name) is not None]
        if self.phase == ():
            raise InputError("phase", [], "at least one [[phase]] table")
        if self.phase and single:
            raise InputError(single[0], "[a table]", "no such table beside [[phase]]: every phase has its own")
        if not self.phase and self.mechanism is None:
            raise InputError("mechanism", MISSING, "a [mechanism] table, or several [[phase]] tables")
        return self


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as read: `statement` says what is claimed, `phases` what ran, `file` where it was read.

    printed: the epsilon as it is written, digit by digit: "8.0" says more than 8.
    """

    statement: Statement
    phases: tuple[Phase, ...]
    printed: str
    file: str | None = None

    def __post_init__(self) -> None:
        for phase in self.phases:  # every description is built once here, so that no later step meets bad input
            if self.statement.neighbouring == "add-remove" and phase.sampling.scheme in (
                "none",
                "fixed-size",
                "cyclic",
            ):
                weights = getattr(phase.mechanism, "weights", "uniform")
                if weights != "uniform":
                    expected = "zero-out or replace-one with weights: a client that leaves changes all other weights"
                    raise InputError("claim.neighbouring", self.statement.neighbouring, expected)
        for step in rounds_by_step(to_run(self)):
            if self.statement.neighbouring == "add-remove" and brings_noise(step):
                raise InputError("claim.neighbouring", self.statement.neighbouring, STAYS)
        if self.population and (self.statement.colluders or 0) > self.population - 1:
            expected = f"at most the other {self.population - 1} clients of the population"
            raise InputError("claim.coalition_size", self.statement.colluders, expected)

    @property
    def population(self) -> int | None:
        """The smallest population that a phase states."""
        stated = [phase.sampling.population for phase in self.phases if phase.sampling.population]
        return min(stated) if stated else None


def parse_claim(tables: object, file: str | None = None) -> Claim:
    """A claim from parsed TOML (nested dicts). Raises InputError, naming the field, on anything out of order."""
    if not isinstance(tables, dict) or not tables:
        raise InputError(file or "claim", tables, "a [claim] table and a [mechanism] table; there is nothing in it")
    try:
        read = ClaimTables.model_validate(tables)
    except ValidationError as problem:
        raise first_problem(problem) from None
    phases = read.phase
    if phases is None and read.mechanism is not None:
        sampling, composition = read.sampling or SamplingTable(), read.composition or CompositionTable()
        phases = (Phase(mechanism=read.mechanism, sampling=sampling, composition=composition),)
    written = tables["claim"]["epsilon"]
    return Claim(read.claim, phases or (), str(getattr(written, "text", written)), file)


def load_claim(path: str | Path) -> Claim:
    """The claim in a TOML file of at most 1 MB, UTF-8. Raises InputError, naming the field or the file."""
    return parse_claim(read_tables(path), file=str(path))


def to_run(claim: Claim) -> Mechanism:
    """What ran, as bad as the claim's description allows (for an upper bound on epsilon)."""
    return run_of(claim.phases)


def run_of(phases: tuple[Phase, ...]) -> Mechanism:
    """The adaptive composition of the phases, each as bad as its description allows."""
    return _run([(phase, phase.described().upper) for phase in phases])


def to_attained_run(claim: Claim) -> Mechanism | None:
    """What ran at the least (for a lower bound on epsilon); None when the description only bounds the mechanism.

    Phases that are only bounded are left out: forgetting their outputs is post-processing.
    """
    bases = [(phase, phase.described().lower) for phase in claim.phases]
    known = [(phase, base) for phase, base in bases if base is not None]
    if not known:
        return None
    return _with_idle_others(known) if hidden_and_uneven(claim) else _run(known)


def hidden_and_uneven(claim: Claim) -> bool:
    """Whether zero-out is asked of hidden cohorts of a fixed size in a mean with unequal weights.

    Who takes the unit's place then changes all weights, which the accountants' pairs of zero-out do not cover. Those
    of replace-one do, from above, and those of idle others, which are Poisson sampling's, from below
    (docs/theory/dominating_pairs.md, "Zero-out, Gaussian noise").
    """
    statement = claim.statement
    hidden = statement.notion == "dp" or statement.participation == "hidden"
    return hidden and statement.neighbouring == "zero-out" and any(map(has_uneven_cohorts, claim.phases))


def has_uneven_cohorts(phase: Phase) -> bool:
    """Whether a cohort of a fixed size is averaged with unequal weights."""
    weights = getattr(phase.mechanism, "weights", "uniform")
    return phase.sampling.scheme == "fixed-size" and weights != "uniform"


def _with_idle_others(phases: list[tuple[Phase, Mechanism]]) -> Mechanism:
    parts = [
        Repeat(
            Poisson(base, phase.sampling.rate) if has_uneven_cohorts(phase) else phase.sampling.sampled(base),
            phase.rounds,
        )
        for phase, base in phases
    ]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _run(phases: list[tuple[Phase, Mechanism]]) -> Mechanism:
    parts = [Repeat(phase.sampling.sampled(base), phase.rounds) for phase, base in phases]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def first_problem(problem: ValidationError) -> InputError:
    """The first problem that pydantic found, in this package's own words."""
    error = problem.errors(include_url=False)[0]
    original = (error.get("ctx") or {}).get("error")
    path = [str(step) for step in error["loc"] if not _is_tag(step, error["loc"])]
    if isinstance(original, InputError):
        if not path or path[-1] != original.field:
            path.append(original.field)
        return InputError(".".join(path), original.value, original.expected)
    if error["type"].startswith("union_tag"):
        path.append("kind")
    return InputError(".".join(path), *_explained(error))


def _is_tag(step: object, location: tuple[int | str, ...]) -> bool:
    """pydantic puts the matched kind after "mechanism" in the location; the file has no such level."""
    place = location.index(step)
    return place > 0 and location[place - 1] == "mechanism" and isinstance(step, str) and step in _kinds()


def _kinds() -> tuple[str, ...]:
    tables = get_args(get_args(AnyMechanismTable)[0])
    return tuple(get_args(table.model_fields["kind"].annotation)[0] for table in tables)


def _explained(error: Any) -> tuple[object, str]:
    """(offending value, expectation) of one of pydantic's own complaints."""
    kind, context = error["type"], error.get("ctx") or {}
    if kind == "missing":
        return MISSING, "a value"
    if kind == "extra_forbidden":
        return error["input"], "no such key (is it misspelt, or in the wrong table?)"
    if kind == "literal_error":
        return error["input"], "one of " + context["expected"]
    if kind == "union_tag_invalid":
        return context["tag"], "one of " + context["expected_tags"]
    if kind == "union_tag_not_found":
        return MISSING, "one of " + ", ".join(_kinds())
    if kind in ("model_type", "model_attributes_type"):
        return error["input"], "a table"
    if kind == "tuple_type":
        return error["input"], "a list"
    return error["input"], error["msg"][:1].lower() + error["msg"][1:]
