"""What can be done from the command line? `loom-ray --help`; with Settings, the only reader of the environment."""

from __future__ import annotations

from typing import Annotated

import typer

from loom_ray import __version__

app = typer.Typer(
    name="loom-ray",
    help="A memory server for AI agents that judges every write.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Port = Annotated[int | None, typer.Option(help="LOOM_PORT, 7777 by default", min=1, max=65535)]
Host = Annotated[str | None, typer.Option(help="LOOM_HOST, 127.0.0.1 by default")]
StorageUrl = Annotated[str | None, typer.Option(help="LOOM_STORAGE_URL: file://… or s3://bucket/prefix")]
Url = Annotated[str | None, typer.Option(help="the server's address; by default that of LOOM_HOST and LOOM_PORT")]


@app.command()
def up(port: Port = None, host: Host = None, storage_url: StorageUrl = None) -> None:
    """Start a server in the foreground; Ctrl-C stops it. With RAY_ADDRESS set it joins that cluster."""
    from loom_ray.cli.up import run

    raise typer.Exit(run(port=port, host=host, storage_url=storage_url))


@app.command()
def down(port: Port = None, storage_url: StorageUrl = None) -> None:
    """Stop the server of a port (or of a storage URL) and wait until it is gone."""
    from loom_ray.cli.running import stop

    raise typer.Exit(stop(port, storage_url))


@app.command()
def status() -> None:
    """Which servers run on this machine, and do they answer?"""
    from loom_ray.cli.running import show

    raise typer.Exit(show())


@app.command()
def ops() -> None:
    """List the operations: POST /v1/<name>."""
    from loom_ray.cli.listings import list_ops

    list_ops()


@app.command()
def settings() -> None:
    """List every setting with its variable, its value here and its default."""
    from loom_ray.cli.listings import list_settings

    list_settings()


@app.command()
def demo(url: Url = None) -> None:
    """Play a short story against a running server, in a namespace of its own."""
    from loom_ray.cli.demo import play

    raise typer.Exit(play(url))


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main() -> None:
    app()
