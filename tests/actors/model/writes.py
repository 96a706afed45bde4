"""What becomes of a value that is to be stored at an address? The checks in the order of docs/writing.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from model.known import HEIRS_INHERIT_FLAGS
from model.rows import ACTIVE, DUPLICATE, SUPERSEDED, Address, Memory, Refused, Row
from model.texts import CLEAR, CONFLICT, FILLED, MERGE, relation
from model.texts import DUPLICATE as SAME


@dataclass
class Write:
    """`how` is set, bulk, pin, update (the op) or arrive (a row that is restored or moved)."""

    row: Row
    how: str
    before: Row | None = None  # what is present at the address


@dataclass
class Outcome:
    verdict: str = ""
    row: Row | None = None
    merged_into: Address | None = None
    noop: bool = False
    conflicting: list[Row] = field(default_factory=list)


def store(memory: Memory, write: Write) -> Outcome:
    """Judges the row and puts it at its address. Raises Refused."""
    row, before = write.row, write.before
    if before is not None:
        vacate(memory, before, anew=row)
    row.against, row.repeats, row.successor, row.moved_to = set(), None, None, None
    if not row.judged or memory.policy == "append_only":
        retire_others_of_key(memory, write)
        return put(memory, write, "clear" if row.judged else "")
    peers = peers_of(memory, row)
    merged = merge_target(memory, write, peers)
    if merged is not None:
        merged.counted += 1
        return Outcome("merge", merged_into=merged.at, noop=True)
    return judged(memory, write, peers)


def judged(memory: Memory, write: Write, peers: list[Row]) -> Outcome:
    row = write.row
    retired = retire_others_of_key(memory, write)
    filled = [peer for peer in peers if peer.live and relates(row, peer) == FILLED and gives_way(memory, write, peer)]
    against = [
        peer
        for peer in peers
        if peer.live and peer not in filled and relates(row, peer) in (FILLED, CONFLICT) and not memory.peace(row, peer)
    ]
    refuse_against_pins(write, against)
    same = [peer for peer in peers if peer.live and relates(row, peer) in (MERGE, SAME)]
    if same and not row.pinned:
        return repeat(memory, write, memory.hints.get("repeats", {}).get(row.at), same)
    for peer in filled:
        retire(memory, peer, row)
    outcome = put(memory, write, "conflict" if against else "refines" if filled or retired else "clear")
    for peer in against:
        memory.flag(row, peer)
    return replace(outcome, conflicting=against)


def put(memory: Memory, write: Write, verdict: str) -> Outcome:
    write.row.status = ACTIVE
    memory.rows[write.row.at] = write.row
    return Outcome(verdict, write.row)


def repeat(memory: Memory, write: Write, chosen: Address | None, same: list[Row]) -> Outcome:
    """Of several that say the same, the closest is the canonical: the server's choice."""
    outcome = put(memory, write, "duplicate")
    canonical = next((peer for peer in same if peer.at == chosen), same[0])
    write.row.status, write.row.repeats = DUPLICATE, canonical.at
    return outcome


def peers_of(memory: Memory, row: Row) -> list[Row]:
    return [
        peer
        for peer in memory.rows.values()
        if peer.live
        if peer.judged
        if peer.at != row.at
        if peer.type == row.type
        if share_a_user(row, peer)
        if peer.since < row.ends and row.since < peer.ends
    ]


def share_a_user(row: Row, peer: Row) -> bool:
    return peer.at.user == row.at.user or "-" in (peer.at.user, row.at.user)


def relates(row: Row, peer: Row) -> str:
    """A decision is identified by its key: another one is never merged into, repeated or refined."""
    same_key = row.at.key == peer.at.key
    known = relation(row.text, peer.text, same_key=same_key)
    if row.type == "decision" and not same_key:
        return CONFLICT if known in (FILLED, CONFLICT) else CLEAR
    return known


def merge_target(memory: Memory, write: Write, peers: list[Row]) -> Row | None:
    """A merge needs an empty address, an unpinned write and a row that lasts as long. In a batch the same bytes fold
    whatever their type."""
    row = write.row
    if write.before is not None or row.pinned or write.how == "arrive":
        return None
    found = [peer for peer in peers if peer.lasts >= row.lasts and merges(write, peer)]
    if not found or any(
        (peer.type, relates(row, peer)) != (row.type, MERGE) for peer in others_giving_way(memory, write)
    ):
        return None  # or the key would go on serving what is taken back
    return next((peer for peer in found if peer.at.key in memory.hints.get("merged", ())), found[0])


def merges(write: Write, peer: Row) -> bool:
    if write.row.type == "decision":
        return write.how == "bulk" and write.row.text == peer.text
    return relates(write.row, peer) == MERGE


def gives_way(memory: Memory, write: Write, peer: Row) -> bool:
    """Whether newest_wins retires the peer behind the write."""
    return (
        memory.policy == "newest_wins"
        and write.how != "arrive"
        and not peer.pinned
        and not peer.lock
        and peer.begins <= write.row.begins
        and not memory.peace(write.row, peer)
    )


def others_giving_way(memory: Memory, write: Write) -> list[Row]:
    """newest_wins: every other live row of the key, whoever wrote it; another named user's is never meant."""
    others = [peer for peer in memory.of_key(write.row.at.key) if peer.present and peer.at != write.row.at]
    return [peer for peer in others if share_a_user(write.row, peer) and gives_way(memory, write, peer)]


def retire_others_of_key(memory: Memory, write: Write) -> bool:
    giving_way = others_giving_way(memory, write)
    for peer in giving_way:
        retire(memory, peer, write.row)
    return bool(giving_way)


def retire(memory: Memory, old: Row, successor: Row) -> None:
    """What repeats it goes with it, but what is guarded or another named user's; that takes its place."""
    if not old.present:
        return
    memory.unflag(old)
    old.status, old.successor, old.repeats, old.gone = SUPERSEDED, successor.at, None, memory.now
    for repeat in memory.repeating(old.at):
        if share_a_user(successor, repeat) and not repeat.pinned and not repeat.lock:
            retire(memory, repeat, successor)
    hand_on(memory, old)


def refuse_against_pins(write: Write, against: list[Row]) -> None:
    """Nothing contradicts a pinned row but a decision of another key."""
    for peer in against:
        if peer.pinned and (write.row.type != "decision" or peer.at.key == write.row.at.key):
            raise Refused("PINNED_CONFLICT")


def vacate(memory: Memory, row: Row, anew: Row | None = None) -> None:
    """The row no longer says what it said there: its links go, and its duplicates are handed on unless `anew` says the
    same fact."""
    peers = [memory.rows[at] for at in row.against]
    memory.unflag(row)
    row.repeats = None
    if anew is None or not anew.judged or (anew.type, relation(anew.text, row.text)) != (row.type, MERGE):
        hand_on(memory, row, peers)


def hand_on(memory: Memory, row: Row, peers: Sequence[Row] = ()) -> None:
    """Its oldest duplicate takes its place, and is judged there."""
    heirs = [heir for heir in memory.repeating(row.at) if heir.ends > memory.now]
    if heirs:
        for gone in (row, *heirs):
            gone.status = "leaving" if gone.live or gone.status == DUPLICATE else gone.status
        for heir in heirs:
            store(memory, Write(heir, "arrive"))
        if HEIRS_INHERIT_FLAGS:
            for peer in peers:
                if peer.live and heirs[0].live and share_a_user(heirs[0], peer):
                    memory.flag(heirs[0], peer)
