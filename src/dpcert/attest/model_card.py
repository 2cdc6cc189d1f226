"""The section of a Hugging Face model card that links a model to its attestation, and its metadata."""

from __future__ import annotations

import re
from pathlib import Path

from ..mechanisms import InputError
from .attestation import Attestation, grounds

BEGIN, END = "<!-- dpcert: begin -->", "<!-- dpcert: end -->"
KEYS = ("dpcert_attestation", "dpcert_verdict", "dpcert_claim")
FRONT = re.compile(r"\A---\n(?P<yaml>.*?)\n---\n", re.DOTALL)


def refresh(card: Path, attestation: Attestation, file: Path) -> None:
    """Insert the section, or put it in the old one's place; everything else in the card stays.

    Raises InputError for a card with one mark only, and for one that cannot be read or written.
    """
    try:
        text = card.read_text("utf-8") if card.exists() else ""
        card.write_text(
            _with_metadata(_with_section(text, section(attestation, file), card), attestation, file), "utf-8"
        )
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError("--model-card", str(card), f"a Markdown file that can be written ({problem})") from None


def section(attestation: Attestation, file: Path) -> str:
    """What the card says, between its marks."""
    told, interval = attestation.predicate, attestation.predicate.interval
    claim = told.claim
    upper = "no upper bound is known" if interval.upper is None else f"at most {interval.upper:.6g}"
    check = f"dpcert check {file.name} --subject {next(iter(attestation.subjects))}"
    if attestation.signed:
        check += " --key SIGNER.pub"
    lines = [
        BEGIN,
        "## Differential privacy",
        "",
        f'The claim "{claim.title}" ({", ".join(f"{key} = {value}" for key, value in claim.claimed.items())}; one '
        f"{claim.unit} is protected, {claim.neighbouring}) was judged by [dpcert](https://github.com/dpcert/dpcert): "
        f"**{told.verdict}**. The true {claim.currency} is at least {interval.lower:.6g}; {upper}.",
        "",
        *(f"- {line}" for line in grounds(told)),
        "" if attestation.signed else "- The attestation is not signed.",
        "",
        f"The attestation is [{file.name}]({file.name}). Check it, and the files beside it, with `{check}`.",
        END,
    ]
    return "\n".join(line for line in lines)


def _with_section(text: str, block: str, card: Path) -> str:
    begin, end = text.count(BEGIN), text.count(END)
    if begin == end == 0:
        return text.rstrip("\n") + ("\n\n" if text.strip() else "") + block + "\n"
    if begin != 1 or end != 1 or text.index(BEGIN) > text.index(END):
        raise InputError("--model-card", str(card), f"one {BEGIN} before one {END}, or neither")
    return text[: text.index(BEGIN)] + block + text[text.index(END) + len(END) :]


def _with_metadata(text: str, attestation: Attestation, file: Path) -> str:
    """Three keys of the YAML front matter; its other lines stay as they are."""
    claimed = ", ".join(f"{key}={value}" for key, value in attestation.predicate.claim.claimed.items())
    values = (file.name, attestation.predicate.verdict, claimed)
    own = [f'{key}: "{value}"' for key, value in zip(KEYS, values, strict=True)]
    front = FRONT.match(text)
    if front is None:
        return "\n".join(["---", *own, "---", "", text.lstrip("\n")])
    kept = [line for line in front["yaml"].split("\n") if not line.startswith(tuple(f"{key}:" for key in KEYS))]
    return "\n".join(["---", *kept, *own, "---", ""]) + text[front.end() :]
