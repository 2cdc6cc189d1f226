"""LEAF's JSON federations (Caldas et al. 2018): one file or many, plain or zipped, split or not.

A file holds `users`, `num_samples` and `user_data[user] = {"x": [...], "y": [...]}`. LEAF's own preprocessing
writes several files into `train/` and `test/` folders; where those are missing each client is split here.
CelebA's `x` are names of image files: see `images`.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...mechanisms import InputError
from ...mechanisms.validate import choice, count, lacks
from .federation import Client, Federation, Samples, split_clients

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png")


def load_leaf(
    path: str | Path,
    *,
    classes: int | None = None,
    test_fraction: float = 0.2,
    seed: int = 0,
    images: str | Path | None = None,
    features: str = "as-written",
) -> Federation:
    """A federation from a LEAF .json file, a .zip of such files, or a folder of them.

    classes: the number of classes; by default the largest label seen plus one, and 62 for the FEMNIST shape.
    features: "as-written", or "inverted" for 1 - x: FEMNIST is written black on white with white as 1, so that almost
    all of a picture is ones, on which plain SGD of a linear model needs tiny steps.
    images: the folder of the image files that `x` names (CelebA), read at 84 x 84 as LEAF does.
    Raises InputError for files that are missing, truncated or not LEAF's, for test users without training samples,
    and for what Federation refuses.
    """
    choice("features", features, ("as-written", "inverted"))
    parts: dict[str, dict[str, Samples]] = {"": {}, "train": {}, "test": {}}
    for part, name, document in _documents(Path(path)):
        for user, samples in _users(name, document, images):
            if user in parts[part]:
                raise InputError(f"{name}: users", user, "every user once")
            parts[part][user] = samples if features == "as-written" else _inverted(samples)
    if parts["train"]:
        clients = _paired(parts["train"], parts["test"])
    else:
        clients = split_clients(parts[""], test_fraction, seed)
    if not clients:
        raise InputError("path", str(path), "a LEAF file with at least two users")
    outputs = _classes(clients) if classes is None else count("classes", classes)
    return Federation(f"leaf:{Path(path).name}", clients, "classes", outputs)


def _documents(path: Path) -> Iterator[tuple[str, str, Any]]:
    """(part, file name, parsed JSON) of every file; part is "train", "test" or "" by the folder's name."""
    if not path.exists():
        raise InputError("path", str(path), "an existing file or folder")
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        if not files:
            raise InputError("path", str(path), "a folder with .json files")
        for file in files:
            yield _part(file.relative_to(path).parts), file.name, _parse(file.name, file.read_bytes())
    elif path.suffix == ".zip":
        yield from _zipped(path)
    else:
        yield "", path.name, _parse(path.name, path.read_bytes())


def _zipped(path: Path) -> Iterator[tuple[str, str, Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            # A zip made on a Mac carries a shadow entry beside each file.
            names = [name for name in sorted(archive.namelist()) if name.endswith(".json") and "__MACOSX" not in name]
            if not names:
                raise InputError("path", str(path), "a zip with .json files")
            for name in names:
                yield _part(tuple(name.split("/"))), name, _parse(name, archive.read(name))
    except (zipfile.BadZipFile, EOFError) as error:
        raise InputError("path", str(path), f"a readable zip file ({error})") from error


def _part(parts: tuple[str, ...]) -> str:
    folders = parts[:-1]
    return "train" if "train" in folders else "test" if "test" in folders else ""


def _parse(name: str, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(name, f"{len(content)} bytes", f"complete JSON ({error})") from error


def _users(name: str, document: Any, images: str | Path | None) -> Iterator[tuple[str, Samples]]:
    if not isinstance(document, dict) or not {"users", "user_data"} <= set(document):
        raise InputError(name, type(document).__name__, "a LEAF document with users and user_data")
    users, data, sizes = document["users"], document["user_data"], document.get("num_samples")
    if not isinstance(users, list) or not isinstance(data, dict):
        raise InputError(name, type(users).__name__, "a list of users and an object user_data")
    if sizes is not None and (not isinstance(sizes, list) or len(sizes) != len(users)):
        raise InputError(f"{name}: num_samples", sizes, f"one number for each of {len(users)} users")
    for user, size in zip(users, sizes or [None] * len(users), strict=True):
        field, own = f"{name}: user_data[{user}]", data.get(str(user))
        if not isinstance(own, dict) or not {"x", "y"} <= set(own):
            raise InputError(field, sorted(own) if isinstance(own, dict) else own, "x and y")
        samples = _samples(field, own["x"], own["y"], images)
        if size is not None and size != len(samples):
            raise InputError(f"{name}: num_samples[{user}]", size, f"the number of its samples, {len(samples)}")
        yield str(user), samples


def _samples(field: str, x: Any, y: Any, images: str | Path | None) -> Samples:
    if isinstance(x, list) and x and isinstance(x[0], str):
        features: npt.NDArray[np.float32] = _named_images(field, x, images)
    else:
        try:
            with np.errstate(over="ignore"):  # to infinity, which Federation refuses
                features = np.asarray(x, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise InputError(f"{field}.x", "uneven or non-numeric rows", "rows of numbers of one length") from error
    try:
        labels = np.asarray(y, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"{field}.y", "non-numeric values", "class numbers") from error
    if labels.ndim != 1 or (labels != np.floor(labels)).any():
        raise InputError(f"{field}.y", "other values", "one whole number for each sample")
    if not len(labels) and not len(features):
        raise InputError(f"{field}.x", "no samples", "at least one sample for every client")
    if features.ndim < 2 or len(features) != len(labels):
        raise InputError(f"{field}.x", features.shape, f"as many samples as labels, {len(labels)}")
    return Samples(features, labels.astype(np.int64))


def _inverted(samples: Samples) -> Samples:
    return Samples(1 - samples.features, samples.labels)


def _named_images(field: str, names: list[str], images: str | Path | None) -> npt.NDArray[np.float32]:
    if not all(str(name).lower().endswith(IMAGE_SUFFIXES) for name in names):
        raise InputError(f"{field}.x", names[0], "numbers or the names of image files (text is not supported)")
    if images is None:
        raise InputError("images", None, "the folder with the image files that the LEAF file names")
    return read_images([Path(images) / name for name in names], size=84)


def _paired(train: dict[str, Samples], test: dict[str, Samples]) -> tuple[Client, ...]:
    for user in test:
        if user not in train:
            raise InputError("test/: users", user, "users that train/ has too: a split by samples, not by users")
    first = next(iter(train.values()))
    empty = first.take(np.arange(0))
    return tuple(Client(user, own, test.get(user, empty)) for user, own in train.items())


def _classes(clients: tuple[Client, ...]) -> int:
    largest = max(int(part.labels.max(initial=-1)) for client in clients for part in (client.train, client.test))
    if clients[0].train.features.shape[1:] == (784,) and largest < 62:
        return 62
    return largest + 1


def read_images(paths: list[Path], size: int) -> npt.NDArray[np.float32]:
    """The images as (n, 3, size, size) floats in [0, 1], resized. Needs Pillow.

    Raises InputError for a file that is missing or no image.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise lacks("Reading pictures", "Pillow", "dpcert[data]") from error
    pixels = np.empty((len(paths), 3, size, size), dtype=np.float32)
    for place, path in enumerate(paths):
        try:
            with Image.open(path) as image:
                array = np.asarray(image.convert("RGB").resize((size, size)), dtype=np.float32)
        except (OSError, UnidentifiedImageError) as error:
            raise InputError("images", str(path), "a readable image file") from error
        pixels[place] = array.transpose(2, 0, 1) / 255
    return pixels
