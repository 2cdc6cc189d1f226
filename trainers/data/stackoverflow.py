"""TensorFlow Federated's StackOverflow HDF5 file as tag prediction: bags of words to tags.

Layout (TFF's ClientData): `examples/<client>/{title, tokens, tags}`, each a vector of strings, one a sample;
words are separated by spaces, tags by "|". The most frequent words and tags of the file form the vocabularies
unless they are given: TFF publishes its own word and tag counts, and a vocabulary taken from private data is not
covered by the guarantee, so pass the public ones for real runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...mechanisms import InputError
from ...mechanisms.validate import count, lacks
from .federation import Federation, Samples, split_clients

Texts = list[list[str]]


def load_stackoverflow(
    path: str | Path,
    *,
    words: int | str | Sequence[str] = 10_000,
    tags: int | str | Sequence[str] = 500,
    clients: int | None = None,
    samples_per_client: int | None = None,
    test_fraction: float = 0.2,
    seed: int = 0,
) -> Federation:
    """Bags of words (relative word frequencies, sparse) to multi-hot tags.

    words, tags: the vocabularies, or a file with one word or tag on each line, or how many of the data's most
    frequent to take.
    clients, samples_per_client: at most so many, in the file's order.
    Raises InputError for a file that is missing or is not TFF's, and where h5py is not installed.
    """
    texts = _read(Path(path), clients, samples_per_client)
    word_list = _vocabulary("words", words, (text for own in texts.values() for text in own[0]))
    tag_list = _vocabulary("tags", tags, (text for own in texts.values() for text in own[1]))
    word_place = {word: place for place, word in enumerate(word_list)}
    tag_place = {tag: place for place, tag in enumerate(tag_list)}
    own_samples = {
        name: Samples(_frequencies(own[0], word_place), _multi_hot(own[1], tag_place)) for name, own in texts.items()
    }
    name = f"stackoverflow:{Path(path).name}"
    return Federation(name, split_clients(own_samples, test_fraction, seed), "tags", len(tag_list))


def _read(path: Path, clients: int | None, samples: int | None) -> dict[str, tuple[Texts, Texts]]:
    try:
        import h5py
    except ImportError as error:
        raise lacks("Reading Stack Overflow", "h5py", "dpcert[data]") from error
    if not path.is_file():
        raise InputError("path", str(path), "an existing HDF5 file")
    try:
        with h5py.File(path, "r") as file:
            examples = file.get("examples")
            if not isinstance(examples, h5py.Group):
                raise InputError("path", str(path), "a TFF file with a group named examples")
            names = list(examples)[:clients]
            return {name: _client(name, examples[name], samples) for name in names}
    except (OSError, RuntimeError, KeyError) as error:
        raise InputError("path", str(path), f"a complete HDF5 file ({error})") from error


def _client(name: str, group: Any, samples: int | None) -> tuple[Texts, Texts]:
    fields = set(group) if hasattr(group, "keys") else set()
    if not {"tokens", "tags"} <= fields:
        raise InputError(f"examples/{name}", sorted(fields), "tokens and tags")
    texts = {
        field: _texts(f"examples/{name}/{field}", group[field])
        for field in ("title", "tokens", "tags")
        if field in fields
    }
    for field, entries in texts.items():
        if len(entries) != len(texts["tokens"]):
            expected = f"as many entries as tokens, {len(texts['tokens'])}"
            raise InputError(f"examples/{name}/{field}", len(entries), expected)
    titles = texts.get("title", [""] * len(texts["tokens"]))
    words = [f"{title} {body}".split() for title, body in zip(titles, texts["tokens"], strict=True)]
    return words[:samples], [tags.split("|") for tags in texts["tags"]][:samples]


def _texts(field: str, entries: Any) -> list[str]:
    if getattr(entries, "ndim", None) != 1 or entries.dtype.kind not in "OS":
        raise InputError(field, type(entries).__name__, "a vector of strings")
    return [entry.decode("utf-8", errors="replace") if isinstance(entry, bytes) else str(entry) for entry in entries[:]]


def _vocabulary(field: str, wanted: int | str | Sequence[str], texts: Any) -> list[str]:
    if isinstance(wanted, str):
        try:
            wanted = Path(wanted).read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(field, wanted, "a number, or a file with one on each line") from error
    if not isinstance(wanted, int):
        return list(dict.fromkeys(wanted))
    counts = Counter(word for text in texts for word in text)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    if not ranked:
        raise InputError(field, 0, "at least one in the file")
    return ranked[: count(field, wanted)]


def _frequencies(texts: Texts, place: dict[str, int]) -> sparse.csr_matrix:
    """Word counts over the vocabulary divided by the text's length; unknown words count in the length only."""
    rows, columns, values = [], [], []
    for row, text in enumerate(texts):
        for word, times in Counter(text).items():
            if word in place:
                rows.append(row)
                columns.append(place[word])
                values.append(times / len(text))
    data = np.asarray(values, dtype=np.float32)
    return sparse.csr_matrix((data, (rows, columns)), shape=(len(texts), len(place)))


def _multi_hot(texts: Texts, place: dict[str, int]) -> npt.NDArray[np.float32]:
    labels = np.zeros((len(texts), len(place)), dtype=np.float32)
    for row, tags in enumerate(texts):
        for tag in tags:
            if tag in place:
                labels[row, place[tag]] = 1
    return labels
