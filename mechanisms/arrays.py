"""The array type of all rooms: doubles."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
