"""Options that are declared as the fields of a dataclass: a command takes one value, and --help shows the fields."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from inspect import Parameter, signature
from typing import Any, get_type_hints

from .options import declared_as

Declaring = Callable[[Callable[..., None]], Callable[..., None]]


def with_fields(kind: type[Any], left_out: Collection[str] = (), **defaults: Any) -> Declaring:
    """For a command with a parameter `asked` of this dataclass: in its place stand the fields, in their order.

    left_out: fields that the command has no use for; defaults: those that are not the dataclass's own.
    """
    hints = get_type_hints(kind, include_extras=True)
    of_kind = {
        field.name: Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
        if field.name not in left_out
    }
    of_kind |= {name: of_kind[name].replace(default=default) for name, default in defaults.items()}

    def taken(body: Callable[..., None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            asked = kind(**{name: given.pop(name) for name in of_kind})
            body(asked=asked, **given)

        own, declared = get_type_hints(body, include_extras=True), list[Parameter]()
        for name, parameter in signature(body).parameters.items():
            alone = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=own[name])
            declared.extend(of_kind.values() if name == "asked" else [alone])
        return declared_as(command, body.__doc__, declared)

    return taken
