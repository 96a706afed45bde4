"""What must hold after every step, whatever the model says?"""

from __future__ import annotations

import numpy as np
from scene import vector_of

from loom_ray.actors.namespace import Namespace


def check_vectors(namespace: Namespace) -> None:
    """Every row that others are judged against has the vector of its own text."""
    held = namespace.home.indexes.vectors
    for row in namespace.home.state.rows.values():
        if row.is_live and row.is_searched:
            assert held is not None
            assert np.array_equal(held.vectors_of(row.memory_id)[0], vector_of(row.text)), (
                f"{row.address}: not its vector"
            )
