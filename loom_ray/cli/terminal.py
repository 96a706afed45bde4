"""How do we speak to the terminal? Answers to standard output, refusals to standard error."""

from __future__ import annotations

import sys

from pydantic import ValidationError
from rich.console import Console

from loom_ray.contract.settings import Settings

PIPE_COLUMNS = 200  # where no terminal says how wide it is, tables are for another program to read
console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_COLUMNS)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)

REFUSED = 2


class Refusal(Exception):
    """What stands in the way, in a sentence or two for the person at the terminal."""


def refuse(message: object) -> int:
    """Print why nothing was done; returns the exit code."""
    complaints.print(f"loom-ray: {message}", markup=False)
    return REFUSED


def read_settings(**overrides: object) -> Settings:
    """LOOM_* variables, with the options given on top. Raises Refusal naming each variable that is wrong."""
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        faults = (f"{_variable(fault['loc'])}: {fault['msg']}" for fault in error.errors(include_input=False))
        raise Refusal("; ".join(faults)) from None


def _variable(location: tuple[int | str, ...]) -> str:
    return f"LOOM_{str(location[0]).upper()}" if location else "LOOM_*"
