"""The array types of all rooms: doubles, and complex ones."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]
