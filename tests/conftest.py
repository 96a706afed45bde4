"""What holds for every test? No example of hypothesis is timed: how fast a shared machine is proves nothing."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
