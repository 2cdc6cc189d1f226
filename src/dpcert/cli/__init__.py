"""The command line: `dpcert --help`. One module a command; exit code 2 and one line on stderr for bad input."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Sequence

import typer

from ..mechanisms import InputError
from . import audit, calibrate, check, cost, explain, ledger, lint, papers, plan, train, verify
from .output import complain

INTERNAL_ERROR = 70

app = typer.Typer(
    name="dpcert",
    help="Is this epsilon true? Certified verdicts on differential-privacy claims.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("verify")(verify.verify_command)
app.command("epsilon")(cost.epsilon_command)
app.command("delta")(cost.delta_command)
app.command("calibrate")(calibrate.calibrate_command)
app.command("plan")(plan.plan_command)
app.command("audit")(audit.audit_command)
app.command("explain")(explain.explain_command)
app.command("check")(check.check_command)
app.add_typer(ledger.app, name="ledger")
app.command("lint")(lint.lint_command)
app.command("papers")(papers.papers_command)
app.command("train")(train.train_command)


def _version(show: bool) -> None:
    if show:
        from .. import __version__

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
    except typer.Abort:  # Ctrl-C
        complain("interrupted")
        return 130
    except typer.TyperException as problem:
        message = problem.format_message() if hasattr(problem, "format_message") else str(problem)
        if message.startswith("Usage:"):  # called without a command: the help itself
            typer.echo(message, err=True)
        else:
            complain(" ".join(message.split()))
        return 2
    return code if isinstance(code, int) else 0


def main() -> None:
    """The entry point of the `dpcert` command."""
    if hasattr(signal, "SIGPIPE"):  # `dpcert ... | head` ends quietly, as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.exit(run())
    except Exception:  # a bug of ours: its traceback, and an exit code that no verdict has
        traceback.print_exc()
        sys.exit(INTERNAL_ERROR)
