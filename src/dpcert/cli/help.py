"""How --help groups a command's options: what runs, privacy, data, machine, output; and what a group lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ..mechanisms import InputError
from ..mechanisms.validate import meant
from .declared import Body, spoken

GROUPS = {
    "Privacy": "clip_norm clipping noise_multiplier noise_std sigma target_epsilon epsilon epsilons delta known_delta "
    "at_epsilon mu rho zcdp renyi curve tpr fpr prior neighbouring notion participation relation budget alpha "
    "error_probability view",
    "Data": "data split_file pair low high values whole container",
    "Machine": "seed device dtype engine solver threads workers jobs cache checkpoint max_seconds max_work trials rtol "
    "accountant",
    "Output": "as_json plot save schedule_log out quiet quick attest key evaluate_every evaluate_clients report "
    "certificate form strict pages everything help",
}
"""The groups by the names of their options; whatever else a command has says what runs."""

FEW = 8
"""A command with no more options shows them in one list."""

WHOLE = 1_000
"""So many letters of a command's first sentence: typer shows 45, and dots for the rest."""


class Grouped(TyperCommand):
    """A command whose help has a section per group."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "What runs": [], **{name: [] for name in GROUPS}}
        shown = [(each, record) for each in self.get_params(ctx) if (record := each.get_help_record(ctx)) is not None]
        named = {option: group for group, options in GROUPS.items() for option in options.split()}
        few = len(shown) <= FEW
        for each, record in shown:
            usual = "Options" if few else named.get(each.name or "", "What runs")
            sections.setdefault("Arguments" if each.param_type_name == "argument" else usual, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Group(TyperGroup):
    """A group of commands that guesses which one was meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            told = f"{ctx.command_path} has no command {args[0]}{meant(args[0], known)}"
            raise InputError("COMMAND", args[0], "a command", f"{told}; {ctx.command_path} --help lists them.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        shown = [(name, command.get_short_help_str(WHOLE)) for name, command in commands if command is not None]
        if shown:
            with formatter.section("Commands"):
                formatter.write_dl(shown)


class Commands(typer.Typer):
    """Commands whose options are declared as `spoken` reads them."""

    def __init__(self, **more: Any) -> None:
        usual: dict[str, Any] = {
            "cls": Group,
            "no_args_is_help": True,
            "add_completion": False,
            "rich_markup_mode": None,
        }
        wide = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        super().__init__(**usual | {"pretty_exceptions_enable": False, "context_settings": wide} | more)

    def command(self, name: str, **more: Any) -> Callable[[Body], Body]:  # type: ignore[override]
        return lambda body: super(Commands, self).command(name, cls=Grouped, **more)(spoken(body))
