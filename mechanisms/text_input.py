"""What people type, read: numbers and fractions, lists, and what is in a file after @."""

from __future__ import annotations

import json
import re
import tomllib
from fractions import Fraction
from pathlib import Path

from .validate import InputError


def number(text: str) -> float:
    """A number, or a fraction of two such as 1/60000. Raises InputError for anything else."""
    above, slash, below = str(text).partition("/")
    try:
        return float(Fraction(above) / Fraction(below)) if slash else float(text)
    except ZeroDivisionError:
        raise InputError("number", text, "a fraction whose denominator is not 0") from None
    except (ValueError, OverflowError):
        raise InputError("number", text, "a number, or a fraction such as 1/60000") from None


def numbers(option: str, text: str) -> list[float]:
    """Numbers with commas between them. Raises InputError, naming the option."""
    try:
        return [number(part) for part in text.split(",")]
    except InputError:
        raise InputError(option, text, "numbers with commas between them") from None


def whole(text: str) -> int:
    """A whole number, 1e4 too. Raises InputError for anything else."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        value = 0.5
    if not value.is_integer():
        raise InputError("number", text, "a whole number, such as 1000 or 1e3")
    return int(value)


def as_typed(option: str, text: str) -> object:
    """A number, a list, true or false; what is in a file, after @; else a text. option: for errors."""
    if text.startswith("@"):
        return _in_file(option, Path(text[1:]))
    try:
        return tomllib.loads(f"value = {toml_value(text)}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _in_file(option: str, file: Path) -> object:
    """A list of lists: JSON, or a line for each with commas between numbers. Raises InputError for anything else."""
    if file == Path() or not file.is_file():
        raise InputError(option, f"@{file}", "a file with a list after @: JSON, or lines of numbers with commas")
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [[number(part.strip()) for part in line.split(",")] for line in lines]
    except InputError:
        raise InputError(option, f"@{file}", "a list of numbers: JSON, or lines of numbers with commas") from None


def toml_value(text: str) -> str:
    """The text as TOML writes it: a number, or each number of a list, where people leave zeros out."""
    if not text.lstrip().startswith("["):
        return toml_number(text) or text
    return re.sub(r"[^\s,\[\]]+", lambda word: toml_number(word[0]) or word[0], text)


def toml_number(text: str) -> str:
    """A number as TOML writes it where people leave zeros out (.01, 5.) or write a fraction (1/60000); nothing for what
    is no such number."""
    if re.fullmatch(r"[+-]?(\.\d+|\d+\.)(e[+-]?\d+)?", text, re.IGNORECASE):
        return repr(float(text))
    fraction = re.fullmatch(r"\d+(\.\d+)?/\d*[1-9]\d*", text)
    return repr(number(text)) if fraction else ""
