"""How near are two vectors? The one function whose answer a verdict may rest on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float16]  # (rows, dimensions), each row normalised


def similarities(queries: Matrix, rows: Matrix | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cosine similarities, (queries, rows), between -1 and 1, the same on every machine and in every order.

    Half-precision numbers of size at most 1 are multiples of 2**-24, so their products are multiples of 2**-48 and, the
    vectors being of length 1, every partial sum of a scalar product stays below 2: 49 bits, which a double holds
    exactly. No sum is ever rounded, so neither the order of summation nor the library that sums can change a verdict.
    """
    exact = queries.astype(np.float64) @ rows.astype(np.float64, copy=False).T
    return np.clip(exact, -1.0, 1.0)
