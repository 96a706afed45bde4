"""What does GET /v1/health say? That the server takes requests, and no more: it asks nobody."""

from __future__ import annotations

from loom_ray import __version__
from loom_ray.contract.settings import Settings


def health_body(settings: Settings) -> dict[str, str]:
    return {"status": "ok", "version": __version__, "embedder": settings.embedder}
