"""Which faults of the namespace are known, and how does the model live with them until they are mended? Each has a name
and a reproduction in the findings; a mended one is taken out here and where its name is used."""

from __future__ import annotations

HEIRS_INHERIT_FLAGS = True
"""Who takes its canonical's place takes its flags too, also one that held only between rows of one key."""
