"""What does judging look like? A short story against a running server: five facts, what became of each, and why."""

from __future__ import annotations

import secrets
from typing import Any

import httpx
from rich.table import Table

from loom_ray.cli.terminal import Refusal, console, read_settings, refuse
from loom_ray.serve.supervisor import reachable

TIMEOUT_S = 60.0
STORY = (
    ("A fact nobody has stated yet", "backup/copies", "The nightly backup of the orders database keeps 14 copies."),
    ("The same fact, typed differently", "notes/backup", "the nightly backup of the orders database keeps 14 copies"),
    ("The same fact in another order", "runbook/backup", "14 copies of the orders database the nightly backup keeps."),
    ("The same sentence, another number", "wiki/backup", "The nightly backup of the orders database keeps 30 copies."),
    ("Something else altogether", "office/coffee", "The coffee machine is descaled on the first Monday of a month."),
)


def play(url: str | None) -> int:
    """Tell the story; the exit code is 2 when no server answers."""
    base_url = url or ""
    try:
        base_url = base_url or _configured_url()
        with httpx.Client(base_url=base_url, timeout=TIMEOUT_S) as client:
            _tell(client, f"demo-{secrets.token_hex(3)}")
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return refuse(f"no server answers at {base_url} ({error}). Start one with: loom-ray up")
    except Refusal as refusal:
        return refuse(refusal)
    return 0


def _configured_url() -> str:
    settings = read_settings()
    return f"http://{reachable(settings.host)}:{settings.port}"


def _tell(client: httpx.Client, namespace: str) -> None:
    client.get("/v1/health")  # fails before anything is told
    console.print(f"Five writes into the namespace [bold]{namespace}[/bold] at {client.base_url}\n")
    for number, (title, key, value) in enumerate(STORY, 1):
        console.print(f"[bold]{number}. {title}[/bold]")
        console.print(f"   {key} = {value}", markup=False)
        _print_verdict(_ask(client, "memory.set", namespace, memory_key=key, value=value))
    _revise(client, namespace)
    _print_rows(_ask(client, "memory.list", namespace, include_duplicates=True)["rows"])
    conflicts = _ask(client, "conflicts.list", namespace)
    console.print(f"\n{conflicts['count']} rows wait for a person to settle which of them holds: conflicts.list")


def _revise(client: httpx.Client, namespace: str) -> None:
    key, value = STORY[-1][1], "The coffee machine is descaled on the first Tuesday of a month."
    console.print("[bold]6. A fact changes under its own key[/bold]")
    console.print(f"   {key} = {value}", markup=False)
    _print_verdict(_ask(client, "memory.set", namespace, memory_key=key, value=value))
    versions = _ask(client, "memory.history", namespace, memory_key=key)["rows"]
    console.print(f"   its history holds {len(versions)} versions; nothing is lost", markup=False)
    for version in versions:
        console.print(f"     {version['updated_at'] or version['created_at']}  {version['value']}", markup=False)
    console.print()


def _print_verdict(answer: dict[str, Any]) -> None:
    console.print(f"   → [bold]{answer['conflict_verdict'] or answer['status']}[/bold]{_consequence(answer)}")
    for peer in answer["peers"]:
        for difference in peer["differences"]:
            console.print(f"     {difference['kind']}: {difference['ours']} here, {difference['theirs']} in "
                          f"{peer['memory_key']}", markup=False)  # fmt: skip
    console.print()


def _consequence(answer: dict[str, Any]) -> str:
    if answer["merged_into_key"]:
        return f", nothing written: {answer['merged_into_key']} says so already"
    if answer["duplicate_of"]:
        return ", stored as a duplicate of what is known"
    if answer["status"] == "conflicted":
        return ", stored, and both rows are flagged"
    return ", stored"


def _print_rows(rows: list[dict[str, Any]]) -> None:
    table = Table("key", "status", "value", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["memory_key"], row["status"], str(row["value"]))
    console.print(table)


def _ask(client: httpx.Client, op: str, namespace: str, **arguments: Any) -> dict[str, Any]:
    """One operation. Raises Refusal with the server's words."""
    response = client.post(f"/v1/{op}", json={"namespace": namespace, "agent": "demo", **arguments})
    try:
        body = response.json()
    except ValueError:
        raise Refusal(f"what answers at {client.base_url} is no loom-ray server") from None
    if response.status_code != 200:
        raise Refusal(f"{op}: {body.get('detail', {}).get('message', body)}")
    return body
