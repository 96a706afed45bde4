"""How does the gateway run under Ray Serve? One deployment whose replicas each serve the whole HTTP surface."""

from __future__ import annotations

from typing import Any

from ray import serve
from ray.serve import Application
from ray.serve.schema import LoggingConfig

from loom_ray.contract.settings import Settings

APP = "loom"
ONGOING_REQUESTS_MAX = 8192  # a replica only waits for actors; the gateway's own queues bound what it takes on
STOP_S = 2.0


@serve.ingress()
class Ingress:
    """A replica: its own gateway behind the ASGI app; it keeps no state that a restart could lose."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __serve_build_asgi_app__(self) -> Any:
        from loom_ray.actors.cluster.reaching import RayCluster
        from loom_ray.serve.gateway import Gateway
        from loom_ray.serve.http import build_app

        return build_app(self.settings, Gateway(self.settings, RayCluster(self.settings)))


def application(settings: Settings) -> Application:
    """What `serve.run` deploys. A replica needs no core of its own, so that everything fits on two."""
    deployment = serve.deployment(
        name="gateway",
        num_replicas=settings.replicas,
        max_ongoing_requests=ONGOING_REQUESTS_MAX,
        ray_actor_options={"num_cpus": 0},
        health_check_period_s=5.0,
        health_check_timeout_s=30.0,
        graceful_shutdown_wait_loop_s=0.1,
        graceful_shutdown_timeout_s=STOP_S,
        logging_config=LoggingConfig(log_level="WARNING", enable_access_log=False),
    )(Ingress)
    return deployment.bind(settings)
