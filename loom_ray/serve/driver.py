"""Who starts Ray and Serve, and stops them? The child process of `loom-ray up`: python -m loom_ray.serve.driver

It reads one line of JSON on standard input (StartOrder), tells what happens in lines of JSON on standard output
(`stage`, `failed`), and runs until SIGTERM or until its standard input ends, which it does when its parent dies,
however that dies. Everything else that Ray prints goes to standard error, a log file.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from typing import Any, TextIO

from loom_ray.contract.settings import Settings
from loom_ray.serve.processes import adopt_orphans, end_descendants

RAY_NAMESPACE = "loom"
OBJECT_STORE_BYTES = 256 * 1024 * 1024  # answers ride in it only above 100 kB
GRACE_S = 2.0


@dataclass(frozen=True, slots=True)
class StartOrder:
    """`ray_address`: empty to start a cluster in `folder`. `descriptors`: locks to hold until this process ends."""

    settings: dict[str, Any]
    folder: str
    ray_address: str
    descriptors: list[int]

    def to_line(self) -> str:
        return json.dumps(asdict(self)) + "\n"


class Driver:
    """The run of one server, from the order to the last process."""

    def __init__(self, order: StartOrder, events: TextIO) -> None:
        self.order = order
        self.settings = Settings(**order.settings)
        self.began, self.events = time.monotonic(), events
        self.serving, self.stopping = threading.Event(), threading.Event()

    def run(self) -> int:
        adopt_orphans()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells the whole group; the parent decides
        threading.Thread(target=self._watch_parent, daemon=True).start()
        try:
            self._start()
            signal.signal(signal.SIGTERM, lambda *_: self.stopping.set())  # ray.init sets a handler of its own
            self.serving.set()
            self.stopping.wait()
            self._stop()
        except Exception as error:
            traceback.print_exc()
            self._tell(failed=f"{type(error).__name__}: {error}")
            return 1
        finally:
            end_descendants(GRACE_S)
        return 0

    def _start(self) -> None:
        import ray

        if self.order.ray_address:
            ray.init(address=self.order.ray_address, namespace=RAY_NAMESPACE, log_to_driver=False)
        else:
            ray.init(
                address="local",  # never a cluster that happens to be there
                namespace=RAY_NAMESPACE,
                include_dashboard=False,
                log_to_driver=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=self.order.folder,
            )
        self._tell(stage="ray")
        self._start_actors()
        self._serve()

    def _start_actors(self) -> None:
        """Not waited for: the embedder loads its model while Serve starts."""
        from loom_ray.actors.cluster.blacklist import start_blacklist
        from loom_ray.actors.cluster.directory import start_directory
        from loom_ray.actors.cluster.embedders import start_embedders

        start_embedders(self.settings)
        start_blacklist(self.settings)
        start_directory(self.settings)

    def _serve(self) -> None:
        from ray import serve

        from loom_ray.serve.app import APP, application

        serve.start(
            http_options={
                "host": self.settings.host,
                "port": self.settings.port,
                "request_timeout_s": self.settings.request_deadline_s,
            }
        )
        self._tell(stage="serve")
        try:
            serve.run(application(self.settings), name=APP, route_prefix="/")
        except RuntimeError as error:
            raise RuntimeError(_last_words(APP) or str(error)) from error
        self._tell(stage="gateway")

    def _stop(self) -> None:
        import ray
        from ray import serve

        from loom_ray.actors.cluster.directory import send_all_home
        from loom_ray.serve.app import APP

        if self.order.ray_address:
            serve.delete(APP)
        else:
            serve.shutdown()
        asyncio.run(send_all_home(self.settings))
        if self.order.ray_address:
            _kill_named_actors()
        ray.shutdown()

    def _watch_parent(self) -> None:
        sys.stdin.read()  # returns when the parent has closed it or is gone
        self.stopping.set()
        if not self.serving.is_set():  # the main thread is inside ray.init, which cannot be interrupted
            end_descendants()
            os._exit(1)

    def _tell(self, **event: str) -> None:
        self.events.write(json.dumps(event | {"seconds": round(time.monotonic() - self.began, 2)}) + "\n")
        self.events.flush()


def _last_words(app: str) -> str:
    """What a replica died of when it could not start: the last line of its traceback."""
    from ray import serve

    told = [deployment.message for deployment in serve.status().applications[app].deployments.values()]
    lines = [line.strip() for line in "\n".join(told).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if re.match(r"[\w.]+(Error|Exception|Exit)\b", line)), "")


def _kill_named_actors() -> None:
    import ray
    from ray.util import list_named_actors

    for name in list_named_actors():
        ray.kill(ray.get_actor(name))


def main() -> int:
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    order = StartOrder(**json.loads(sys.stdin.readline()))
    for descriptor in order.descriptors:
        os.set_inheritable(descriptor, False)
    return Driver(order, events).run()


if __name__ == "__main__":
    sys.exit(main())
