"""The command line: `dpcert --help`. One module a command; exit code 2 and one line on stderr for bad input."""

from __future__ import annotations

import gc
import signal
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from ..mechanisms import InputError
from ..mechanisms.validate import meant
from ..presentation.output import complain
from .help import Commands, Group
from .moved import moved

INTERNAL_ERROR = 70
INTERRUPTED = 130
"""What typer gives for Ctrl-C."""

COMMANDS = {
    "verify": ("verify:verify_command", "Verify claims: is the stated epsilon true for what ran?"),
    "new": ("new:new_command", "Write a commented claim file. Asks for what you did not give as options."),
    "epsilon": (
        "cost:epsilon_command",
        "Compute the epsilon of a run at --delta: an interval that contains the true value.",
    ),
    "delta": (
        "cost:delta_command",
        "Compute the delta of a run at --epsilon: an interval that contains the true value.",
    ),
    "calibrate": (
        "calibrate:calibrate_command",
        "Find the least noise (or the most rounds, the largest cohort, ...) that meets the target.",
    ),
    "plan": (
        "plan:plan_command",
        "Find the least noise on the mean for each cohort size and target epsilon, rounded to the safe side.",
    ),
    "accuracy": (
        "accuracy:accuracy_command",
        "Say how close a noisy number is to the truth, or how much noise keeps it within a distance.",
    ),
    "convert": (
        "convert:convert_command",
        "Convert one privacy guarantee into another, rounded up; says whether the result is tight or an upper bound.",
    ),
    "risk": (
        "risk:risk_command",
        "Say what the strongest attack can find out: true-positive rates, advantage, posterior, as certified "
        "intervals.",
    ),
    "audit": ("audit:audit_command", "Attack a mechanism, or the schedule of a run: is it as private as claimed?"),
    "audit-suite": (
        "audit_suite:audit_suite_command",
        "Audit every mechanism of a library that a manifest names, and print a table.",
    ),
    "audit-training": (
        "audit_training:audit_training_command",
        "Attack a trainer end to end: is a run of it as private as is certified?",
    ),
    "prove": (
        "prove:prove_command",
        "Prove that a Python function is epsilon-DP, or show the neighbours at which no proof exists.",
    ),
    "explain": (
        "explain:explain_command",
        "Find the conventions that give the printed epsilon: accountant, conversion, neighbours, sampling, rounding.",
    ),
    "check": (
        "check:check_command",
        "Prove certificates and attestations again, by a checker that is independent of what wrote them.",
    ),
    "attest": (
        "attest:attest_command",
        "Write an attestation: what a claim says about files, and whether it is proved, tested, logged or asserted.",
    ),
    "ledger": ("ledger:app", "Check, show, export or import a ledger: the record of what was released."),
    "registry": ("registry:app", "Read entries of the OpenDP deployments registry as claims, and write them."),
    "lint": (
        "lint:lint_command",
        "Find known mistakes in private training scripts and notebooks, without running them.",
    ),
    "papers": (
        "papers:papers_command",
        "Derive again whether each statement of the source papers is true: proofs, counterexamples, audits, runs.",
    ),
    "train": ("training:train_command", "Train a federated algorithm and certify what its releases cost."),
    "mocha": (
        "training:mocha_command",
        "Train related tasks together by MOCHA, to a certified duality gap, privately if asked.",
    ),
    "experiment": ("training:experiments", "Compute the papers' tables and figures again, by grids of training runs."),
}
"""Each command's module and function (or group), and the first line of its help; its docstring has the rest. None is
loaded before it is called."""


def loaded(name: str) -> Any:
    """The command or group of that name."""
    where, summary = COMMANDS[name]
    module, attribute = where.split(":")
    found = getattr(import_module(f".{module}", __name__), attribute)
    if not isinstance(found, Commands):
        single = Commands(no_args_is_help=False)
        single.command(name)(found)
        found = single
    command = typer.main.get_command(found)
    command.name, command.help = name, "\n\n".join(filter(None, [summary, command.help]))
    return command


class _All(Group):
    """The commands of the table."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return loaded(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = Commands(
    name="dpcert",
    help="Is this epsilon true? Certified verdicts on differential-privacy claims.",
    cls=_All,
    add_completion=True,
)


def _version(show: bool) -> None:
    if show:
        from ..version import __version__

        typer.echo(f"dpcert {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Is this epsilon true? Certified verdicts on differential-privacy claims."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 2 for bad input, else the command's own."""
    command = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="dpcert", standalone_mode=False)
    except InputError as problem:
        complain(str(problem))
        return 2
    except OSError as problem:
        if problem.filename is None:
            raise
        complain(f"{problem.filename}: {problem.strerror}; name a file or a folder that may be read, or written")
        return 2
    except typer.Abort:  # Ctrl-C at a prompt
        complain("interrupted")
        return INTERRUPTED
    except typer.TyperException as problem:
        message = problem.format_message() if hasattr(problem, "format_message") else str(problem)
        if type(problem).__name__ == "NoArgsIsHelpError":  # called without a command: the help itself
            typer.echo(message, err=True)
        else:
            complain(_unreadable(problem) or " ".join(message.split()))
        return 2
    if code == INTERRUPTED:
        complain("interrupted")
    return code if isinstance(code, int) else 0


def _unreadable(problem: typer.TyperException) -> str:
    """What is wrong with the command line in our words, from what the error carries; typer's own where it carries
    nothing but a text."""
    command, parameter = getattr(problem, "cmd", None), getattr(problem, "param", None)
    option, context = getattr(problem, "option_name", None), getattr(problem, "ctx", None)
    if option is not None and command is None:
        return f"{option} needs a value."
    if option is not None and command is not None:  # typer's own guesses mislead
        if told := moved(command.name, option):
            return f"dpcert {command.name} has no {option} any more: {told}."
        path = f"dpcert {command.name}" if context is None else context.command_path
        guess = meant(option, [known for each in command.params for known in each.opts])
        return f"{path} has no option {option}{guess}; {path} --help lists what there is."
    errors = getattr(problem.__cause__, "errors", None)
    if parameter is None:
        return ""
    named = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar or parameter.name.upper()
    if errors is not None:
        return str(_misread(named, *errors()))
    if hasattr(problem, "param_type"):  # an argument that is missing: which it may be
        from ..mechanisms.tables.fields import A_VALUE, MissingKeys  # here: with pydantic, which --help does not need

        told = str(parameter.help or A_VALUE)
        return str(MissingKeys({named: told[:1].lower() + told[1:].rstrip(".")}))
    return ""


def _misread(named: str, error: Any, *_: Any) -> InputError:
    """The first of pydantic's errors about an option's value."""
    from ..mechanisms.tables.problems import expectation

    context = error.get("ctx") or {}
    original = context.get("error")
    if isinstance(original, InputError):
        return original.renamed(named)
    return InputError(named, error["input"], expectation(error["type"], context))


def main() -> None:
    """The entry point of the `dpcert` command."""
    gc.set_threshold(100_000, 20, 20)  # what is imported is no garbage: looking for some took a tenth of the start
    if hasattr(signal, "SIGPIPE"):  # `dpcert ... | head` ends quietly, as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.exit(run())
    except Exception:  # a bug of ours: its traceback, and an exit code that no verdict has
        traceback.print_exc()
        sys.exit(INTERNAL_ERROR)
