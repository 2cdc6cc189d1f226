"""Options that are declared by a type and a sentence for --help, one by one or as the fields of a dataclass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from ..mechanisms import InputError
from ..mechanisms.text_input import number, whole
from ..mechanisms.validate import choice

Body = Callable[..., None]
Read = Callable[[str], Any]


def keyed(option: str, entries: Sequence[str] | None, known: Mapping[str, Read], whose: str) -> dict[str, Any]:
    """Of a repeatable option KEY=VALUE the values by key, underscores for hyphens. known: how each key's value is read.

    Raises InputError for an entry of another form, a key that is not among them, and a value that cannot be read.
    """
    found: dict[str, Any] = {}
    for entry in entries or ():
        key, equals, text = entry.partition("=")
        if not equals:
            raise InputError(option, entry, "KEY=VALUE")
        if not known:
            raise InputError(option, entry, f"nothing: {whose} has no settings of its own")
        name = choice(option, key.strip().replace("_", "-"), known)
        try:
            found[name.replace("-", "_")] = known[name](text.strip())
        except ValueError:
            raise InputError(f"{option} {name}", text, f"a number ({known[name].__name__})") from None
    return found


def with_fields(kind: type[Any], left_out: Collection[str] = (), **defaults: Any) -> Callable[[Body], Body]:
    """For a command with a parameter `asked` of this dataclass: in its place stand the fields, in their order.

    What the API finds wrong with a field is told under its option's name.
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

    options = {name: _called(field) for name, field in of_kind.items()}
    called = {option.lstrip("-"): option for option in options.values()} | options

    def taken(body: Body) -> Body:
        def command(**given: Any) -> None:
            asked = kind(**{name: given.pop(name) for name in of_kind})
            try:
                body(asked=asked, **given)
            except InputError as problem:
                raise (problem.renamed(called[problem.field]) if problem.field in called else problem) from None

        declared = list[Parameter]()
        for each in _parameters(body):
            declared.extend(of_kind.values() if each.name == "asked" else [each])
        return _declared(command, body.__doc__, declared)

    return taken


def _called(field: Parameter) -> str:
    """Its option, or an argument's own name."""
    told = get_args(field.annotation)[1:]
    if any(isinstance(each, ArgumentInfo) for each in told):
        return next(each.metavar or field.name.upper() for each in told)
    declared = [each for each in told if isinstance(each, OptionInfo)]
    names = (name for each in declared for name in (each.default, *(each.param_decls or ())))
    return next((name for name in names if isinstance(name, str)), f"--{field.name.replace('_', '-')}")


def spoken(body: Body) -> Body:
    """The command as typer reads it: where an annotation is a type and a sentence, the sentence is the option's help.

    The option is called as the parameter is. Numbers may be written as fractions, and whole ones as 1e4.
    """

    def command(**given: Any) -> None:
        body(**given)

    read = [each.replace(annotation=_option(each.name, each.annotation)) for each in _parameters(body)]
    return _declared(command, body.__doc__, read)


def _declared(command: Body, text: str | None, parameters: list[Parameter]) -> Body:
    command.__doc__, command.__annotations__ = text, {each.name: each.annotation for each in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _parameters(body: Body) -> list[Parameter]:
    """Those of the command, by name only, with their annotations as objects."""
    hints, named = get_type_hints(body, include_extras=True), signature(body).parameters
    return [each.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]) for name, each in named.items()]


def _option(name: str, annotation: Any) -> Any:
    kind, *told = get_args(annotation) or (annotation,)
    if not told or not isinstance(told[0], str):
        return annotation
    reads: dict[type, dict[str, Any]] = {
        float: {"parser": number, "metavar": "NUMBER"},
        int: {"parser": whole, "metavar": "INTEGER"},
    }
    read = next((how for read, how in reads.items() if _has(kind, read)), {})
    return Annotated[kind, typer.Option(f"--{name.replace('_', '-')}", help=told[0], **read)]


def _has(kind: Any, wanted: type) -> bool:
    return kind is wanted or any(_has(part, wanted) for part in get_args(kind))
