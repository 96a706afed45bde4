"""How is a run of the latency benchmark printed? The ratios first, then what they come from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from latency_load import Load, percentile_ms

if TYPE_CHECKING:
    from latency import Measured

PERCENTS = (50, 95, 99)


def report(measured: Measured) -> Iterator[str]:
    """Plain text, line by line. Times are milliseconds where nothing else is said."""
    yield f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n"
    yield from _ratios(measured)
    yield from _floors(measured)
    yield from _loads(measured)
    yield from _waking(measured)


def _ratios(measured: Measured) -> Iterator[str]:
    few, many = min(measured.no_op), max(measured.no_op)
    yield f"{'':>9}  judged write over its floors  {'':26}  writes/s"
    yield f"{'rows':>9}  {'one actor call':>14}  {'two, as it makes':>16}  {'p50 ms':>7}  {'floors ms':>9}  " + (
        f"{few} client{'s' * (few > 1)} to {many}"
    )
    for rows in measured.vector_search:
        write = measured.writes[rows, few].percentile_ms(50)
        one, two = _floor_ms(measured, rows, 1), _floor_ms(measured, rows, 2)
        gain = measured.writes[rows, many].rate / measured.writes[rows, few].rate
        yield f"{rows:>9,}  {write / one:>14.2f}  {write / two:>16.2f}  {write:>7.2f}  {two:>9.2f}  {gain:.2f} times"
    yield ""


def _floor_ms(measured: Measured, rows: int, actor_calls: int) -> float:
    """The medians of the parts of one judged write: it calls the namespace, which calls the embedder."""
    parts = {name: percentile_ms(seconds, 50) for name, seconds in measured.floors.items()}
    no_op = measured.no_op[min(measured.no_op)].percentile_ms(50)
    search = percentile_ms(measured.vector_search[rows], 50)
    return no_op + search + sum(parts.values()) + (actor_calls - 1) * parts["bare actor call"]


def _floors(measured: Measured) -> Iterator[str]:
    yield f"{'floors':<44}" + "".join(f"{f'p{percent}':>9}" for percent in PERCENTS) + f"{'per s':>9}"
    for name, seconds in measured.floors.items():
        yield _line(name, seconds)
    for rows, seconds in measured.vector_search.items():
        yield _line(f"bare FAISS search, {rows:,} rows", seconds)
    for name, loads in (("POST refused at the app's door", measured.no_op), ("GET /v1/health", measured.health)):
        for load in loads.values():
            yield _line(f"{name}, {load.clients} clients", load.latencies_s, load) + _cpu(load)
    yield ""


def _loads(measured: Measured) -> Iterator[str]:
    yield f"{'loads':<44}" + "".join(f"{f'p{percent}':>9}" for percent in PERCENTS) + f"{'per s':>9}"
    for kind, loads in (("memory.set", measured.writes), ("memory.search", measured.searches)):
        for (rows, clients), load in loads.items():
            counts = ", ".join(f"{count} {what}" for what, count in load.answers.most_common())
            name = f"{kind}, {rows:,} rows, {clients} clients"
            yield _line(name, load.latencies_s, load) + f"{_cpu(load)}  {counts}"
    yield ""


def _line(name: str, seconds: list[float], load: Load | None = None) -> str:
    rate = load.rate if load else len(seconds) / sum(seconds)
    return f"{name:<44}" + "".join(f"{percentile_ms(seconds, percent):>9.2f}" for percent in PERCENTS) + f"{rate:>9.0f}"


def _cpu(load: Load) -> str:
    return f"  client {load.client_cpu_s / load.elapsed_s:>4.0%} of a core"


def _waking(measured: Measured) -> Iterable[str]:
    if not measured.waking:
        return
    empty = measured.waking[0].resident_bytes
    yield (
        f"{'waking':<20}{'first answer s':>15}{'first search s':>15}"
        f"{'resident MB':>13}{'bytes a row':>13}{'after kill s':>14}"
    )
    for rows, waking in measured.waking.items():
        a_row = f"{(waking.resident_bytes - empty) / rows:,.0f}" if rows else ""
        killed = f"{waking.after_kill_s:.2f}" if rows else ""
        yield (
            f"{f'{rows:,} rows':<20}{waking.first_answer_s:>15.2f}{waking.first_search_s:>15.2f}"
            f"{waking.resident_bytes / 1e6:>13.0f}{a_row:>13}{killed:>14}"
        )
