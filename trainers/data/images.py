"""Image files as float arrays in [0, 1], channels first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...mechanisms import InputError
from ...mechanisms.validate import lacks


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
