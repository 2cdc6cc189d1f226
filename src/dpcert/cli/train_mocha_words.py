"""What dpcert train says of a run of the MOCHA family."""

from __future__ import annotations

from typing import Any

import typer

from ..accounting import Bracket
from ..mechanisms.digits import as_given, interval, rounded_up


def print_run(document: dict[str, Any]) -> None:
    """In words, from the document that --json prints."""
    scores = ", ".join(
        f"{name.replace('_', ' ')} {document[name]:.4f}"
        for name in ("test_accuracy", "test_loss")
        if document[name] is not None
    )
    typer.echo(f"{document['algorithm']} on {document['data']}: {document['rounds']} rounds, {scores}")
    if "variant" in document:
        typer.echo(document["variant"])
    typer.echo(
        f"optimum in [{document['dual']:.8g}, {document['primal']:.8g}]: gap {document['gap']:.3g}, "
        f"{document['gap'] / abs(document['primal']):.2g} of the primal value"
    )
    if not document.get("converged", True):
        typer.echo(f"not within the tolerance of {document['tolerance']:g} after {document['rounds']} rounds")
    privacy = document["privacy"]
    if privacy is None:
        typer.echo("no privacy: trained without noise")
        return
    bracket = Bracket(privacy["epsilon_lower"], privacy["epsilon_upper"], privacy["certified"], privacy["accountant"])
    typer.echo(
        f"epsilon in {interval(bracket)} at delta = {as_given(privacy['delta'])} "
        f"({privacy['notion']}, {privacy['neighbouring']}, by {privacy['accountant']})"
    )
    for observer, (_, upper) in privacy["observers"].items():
        typer.echo(f"  against {observer}: epsilon <= {rounded_up(upper, 6)}")
    for assumption in privacy["assumptions"]:
        typer.echo(f"  assuming that {assumption}" if "delta is above" not in assumption else f"  note: {assumption}")
    if document["stopped_by_budget"]:
        typer.echo("stopped: one more round would have exceeded the budget")
