"""What is there to call, and what is there to set?"""

from __future__ import annotations

from pydantic import SecretStr
from rich.table import Table

from loom_ray.cli.terminal import Refusal, console, read_settings, refuse
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings


def list_ops() -> None:
    table = Table("operation", "role", "writes", "what it does", box=None, pad_edge=False)
    for op in OPS.values():
        table.add_row(op.name, op.role, "yes" if op.writes else "", op.summary)
    console.print(table)


def list_settings() -> int:
    try:
        settings = read_settings()
    except Refusal as refusal:
        return refuse(refusal)
    table = Table("variable", "value", "default", "", box=None, pad_edge=False)
    for name, field in Settings.model_fields.items():
        value, default = _shown(getattr(settings, name)), _shown(field.default)
        table.add_row(f"LOOM_{name.upper()}", value if value == default else f"[bold]{value}[/bold]", default,
                      field.description or "")  # fmt: skip
    console.print(table)
    return 0


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "********" if value.get_secret_value() else '""'
    return '""' if value == "" else str(value)
