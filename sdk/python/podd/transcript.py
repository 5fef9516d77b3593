"""A stream as blocks, as pkg/transcript makes them in Go: both pass the cases of its testdata."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

from . import v1

_MAX_OUTPUT = 1 << 20
"""The length up to which the output of a running call is kept: its end."""

_LIVE_KINDS = {
    v1.DeltaKind.TEXT: ("answer", "live"),
    v1.DeltaKind.REASONING: ("thought", "live"),
    v1.DeltaKind.TOOL_ARGUMENTS: ("call", "writing"),
}

_REMARKS = {
    v1.Recovery.FOUND: " (found after a restart)",
    v1.Recovery.AGAIN: " (run again after a restart)",
}
"""What follows the result of a call that podd's end interrupted."""


@dataclasses.dataclass(frozen=True)
class Block:
    """One piece of a transcript; docs/clients.md has its fields. A block never changes; it is replaced."""

    id: str
    kind: str
    seq: int = 0
    turn: int = 0
    state: str = "done"
    text: str = ""
    detail: str = ""
    code: str = ""
    images: Sequence[v1.Image] = ()
    call: dict[str, Any] | None = None
    alert: dict[str, Any] | None = None
    end: dict[str, Any] | None = None

    @property
    def live(self) -> bool:
        """Whether the block consists of live text only."""
        return self.state in ("live", "writing", "lost")

    @property
    def open(self) -> bool:
        """Whether the block is not finished."""
        return self.state not in ("done", "failed")


@dataclasses.dataclass
class Change:
    """The effect of a message: removed blocks, then new ones, which go to the end, and changed ones, which stay in place."""

    drop: list[str] = dataclasses.field(default_factory=list)
    put: list[Block] = dataclasses.field(default_factory=list)


class Transcript:
    """Folds a stream into blocks, the pieces that a person sees. Give it each message once and in order."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._steps: dict[str, int] = {}  # of live blocks, by their ids
        self._claimed: list[str] = []  # the running turn's submits whose message has not arrived
        self._lost = False
        self._cuts = 0
        self._change = Change()

    def all(self) -> list[Block]:
        """The blocks to show, in order."""
        return [b for b in self._blocks if b.state != "lost"]

    def lost(self) -> None:
        """Says that the stream broke: after the next caught_up, live text either continues or is dropped."""
        self._lost = True

    def take(self, m: v1.StreamResponse) -> Change:
        """Applies the next message and returns its effect."""
        self._change = Change()
        kind = m.WhichOneof("kind")
        if kind == "entry":
            of = m.entry.WhichOneof("kind")
            take = getattr(self, f"_on_{of}", None)
            if take:  # Other kinds are not part of the conversation.
                take(m.entry, getattr(m.entry, of))
        elif kind == "delta":
            self._delta(m.delta)
        elif kind == "in_flight":
            self._in_flight(m.in_flight.blocks)
        elif kind == "caught_up" and self._lost:
            self._hide()
        return self._change

    # What changes blocks.

    def _put(self, b: Block) -> None:
        """Shows a block, in place of the one with its id, otherwise at the end."""
        at = next((i for i in reversed(range(len(self._blocks))) if self._blocks[i].id == b.id), len(self._blocks))
        self._blocks[at : at + 1] = [b]
        self._change.put.append(b)

    def _drop(self, gone: Callable[[Block], bool]) -> bool:
        dropped = [b.id for b in self._blocks if gone(b)]
        self._blocks = [b for b in self._blocks if b.id not in dropped]
        self._change.drop.extend(dropped)
        return bool(dropped)

    def _hide(self) -> None:
        """Marks live blocks as lost: podd's next messages say which of them continue."""
        for b in list(self._blocks):
            if b.live and b.state != "lost":
                self._put(dataclasses.replace(b, state="lost"))

    def _user(self, id: str, seq: int, turn: int, text: str, images: Sequence[v1.Image]) -> None:
        """Shows a message of the user in its place in the conversation."""
        self._drop(lambda b: b.id == id)
        self._put(Block(id, "user", seq, turn, text=text, images=images))

    def _message(self, e: v1.Entry, kind: str, text: str) -> None:
        """Adds a finished message, which replaces the live one. A message without text gets no block."""
        live = self._finished(e, kind)
        if text:
            self._put(Block(live.id if live else f"e{e.seq}", kind, e.seq, e.turn, text=text))
        else:
            self._drop(lambda b: b is live)

    def _notice(self, e: v1.Entry, code: str, text: str, images: Sequence[v1.Image] = ()) -> None:
        self._put(Block(f"e{e.seq}", "notice", e.seq, e.turn, code=code, text=text, images=images))

    def _open(self, call_id: str) -> Block | None:
        found = (b for b in reversed(self._blocks) if b.call and b.call["id"] == call_id and b.open and not b.live)
        return next(found, None)

    def _call(self, turn: int, id: str, tool: str, call: dict[str, Any] | None = None, **to: Any) -> None:
        """Changes a tool call without a result. It is created if the log was not read from its beginning."""
        b = self._open(id)
        if not b:
            self._drop(lambda old: old.id == f"c:{id}")
            b = Block(f"c:{id}", "call", turn=turn, state="to_run")
        now = {**(b.call or {"id": id, "tool": "", "arguments": ""}), **(call or {})}
        now["tool"] = tool or now["tool"]
        self._put(dataclasses.replace(b, call={name: value for name, value in now.items() if value is not None}, **to))

    def _finished(self, e: v1.Entry, kind: str) -> Block | None:
        """The oldest live block of a kind in the entry's turn, which the entry finishes."""
        return next((b for b in self._blocks if b.live and b.kind == kind and b.turn == e.turn), None)

    # The kinds of entry; their names are those of the protocol.

    def _on_submitted(self, e: v1.Entry, k: v1.Submitted) -> None:
        images = [s.image.image for s in k.segments if s.WhichOneof("kind") == "image"]
        self._put(Block(f"s:{k.request_id}", "user", e.seq, state="queued", text=_typed(k.text, images), images=images))

    def _on_turn_started(self, e: v1.Entry, k: v1.TurnStarted) -> None:
        self._claimed = list(k.request_ids)

    def _on_promoted(self, e: v1.Entry, k: v1.Promoted) -> None:
        self._claimed.extend(k.request_ids)

    def _on_withdrawn(self, e: v1.Entry, k: v1.Withdrawn) -> None:
        ids = [f"s:{id}" for id in k.request_ids]
        self._drop(lambda b: b.state == "queued" and b.id in ids)
        self._notice(e, "withdrawn", "a queued prompt was removed")

    def _on_item(self, e: v1.Entry, it: v1.Item) -> None:
        kind = it.WhichOneof("kind")
        if kind == "user_message":
            id = f"s:{self._claimed.pop(0)}" if self._claimed else f"e{e.seq}"
            images = list(it.user_message.images)
            self._user(id, e.seq, e.turn, _typed(it.user_message.text, images), images)
        elif kind == "assistant_message":
            self._message(e, "answer", it.assistant_message.text)
        elif kind == "reasoning":
            self._message(e, "thought", it.reasoning.text)
        elif kind == "system_message":
            if it.system_message.origin not in ("state", "answer_schema"):  # They are for the model.
                self._notice(e, it.system_message.origin, it.system_message.text, list(it.system_message.images))
        elif kind == "tool_call":
            written = self._finished(e, "call")
            self._drop(lambda b: b is written)
            self._call(e.turn, it.tool_call.call_id, it.tool_call.name, {"arguments": it.tool_call.arguments}, seq=e.seq)
        elif kind == "tool_result":
            r = it.tool_result
            call = {"question": None, "duration_ms": r.duration_ms or None}
            state = "failed" if r.is_error else "done"
            self._call(e.turn, r.call_id, r.tool, call, state=state, text=r.summary + _REMARKS.get(r.recovery, ""), detail=r.content, images=list(r.images))

    def _on_tool_started(self, e: v1.Entry, k: v1.ToolStarted) -> None:
        self._call(e.turn, k.call_id, k.tool, {"arguments": k.arguments, "question": None}, state="running")

    def _on_approval_requested(self, e: v1.Entry, k: v1.ApprovalRequested) -> None:
        b = self._open(k.call_id)
        question: dict[str, Any] = {"text": k.question, "digest": k.digest.hex(), "call_seq": b.seq if b else 0}
        runs = sum(p.runs for p in k.previews)
        counts = {"files": len(k.previews) - runs, "runs": runs, "form": k.HasField("form")}
        question.update({name: n for name, n in counts.items() if n})
        self._call(e.turn, k.call_id, k.tool, {"arguments": k.arguments, "question": question}, state="asks")

    def _on_approval_resolved(self, e: v1.Entry, k: v1.ApprovalResolved) -> None:
        b = self._open(k.call_id)
        if b and b.state == "asks":
            # A call with a form goes on.
            self._call(e.turn, k.call_id, "", {"question": None}, state="running" if k.key else "to_run")
        code = "approved" if k.approved else "denied"
        how = code
        if k.key:
            how = "withdrawn" if k.withdrawn else "dismissed" if k.dismissed else "answered" if k.approved else "declined"
        self._notice(e, code, how + (f" by {k.by}" if k.by else "") + (f": {k.reason}" if k.reason else ""))

    def _on_alert(self, e: v1.Entry, a: v1.Alert) -> None:
        if not _repeats(a):
            alert = {"seq": a.seq, "level": _name(v1.AlertLevel, a.level), "source": a.source, "count": a.count}
            self._put(Block(f"e{e.seq}", "alert", e.seq, e.turn, text=a.text, alert=alert))

    def _on_recovered(self, e: v1.Entry, k: v1.Recovered) -> None:
        # The turn repeats its step, perhaps with the same words.
        self._lost = True
        self._hide()
        self._notice(e, "recovered", f"the turn resumes: {k.reason}")

    def _on_turn_ended(self, e: v1.Entry, k: v1.TurnEnded) -> None:
        self._drop(lambda b: b.live)
        # A turn that ends before its first request has no message of the user.
        for id in self._claimed:
            b = next((b for b in self._blocks if b.state == "queued" and b.id == f"s:{id}"), None)
            if b:
                self._user(b.id, b.seq, e.turn, b.text, b.images)
        self._claimed = []
        for b in list(self._blocks):
            if b.call and b.open:
                call = {name: value for name, value in b.call.items() if name != "question"}
                self._put(dataclasses.replace(b, state="failed", call=call))
        names = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens", "requests")
        usage = {name: getattr(k.usage, name) for name in names}
        end = {"outcome": _name(v1.Outcome, k.outcome), "reason": k.reason, "steps": k.steps, "usage": usage}
        self._put(Block(f"e{e.seq}", "end", e.seq, e.turn, text=k.cause, end=end))

    def _on_compaction(self, e: v1.Entry, k: v1.Compaction) -> None:
        self._notice(e, "compaction", "the conversation above is sent to the model as a summary from now on")

    def _on_rewind(self, e: v1.Entry, k: v1.Rewind) -> None:
        self._notice(e, "rewind", f"rewound to entry {k.to_seq}; the model no longer sees later entries")

    def _on_restore(self, e: v1.Entry, k: v1.Restore) -> None:
        if k.ended:
            kept = f", {_paths(len(k.kept))} kept, because somebody changed them since" if k.kept else ""
            self._notice(e, "restore", f"changes of files were taken back: {_paths(k.changed)} changed{kept}")

    def _on_wing(self, e: v1.Entry, k: v1.WingEntry) -> None:
        if k.line:
            self._notice(e, "wing", k.line)

    def _on_purged(self, e: v1.Entry, k: v1.Purged) -> None:
        self._notice(e, "purged", f"older entries were removed: {k.reason}")

    # Live text.

    def _delta(self, d: v1.Delta) -> None:
        if d.restarted:
            if self._drop(lambda b: b.live and b.turn == d.turn and self._steps.get(b.id) == d.step):
                self._cuts += 1
                self._put(Block(f"t{d.turn}.{d.step}:cut{self._cuts}", "notice", turn=d.turn, text=d.text, code="cut"))
            return
        if self._lost:
            # podd has not sent the live text again: it was discarded.
            self._drop(lambda b: b.live)
            self._lost = False
        self._grow(d, whole=False)

    def _in_flight(self, blocks: Sequence[v1.Delta]) -> None:
        """Replaces the live text with all text so far."""
        self._lost = False
        ids = [f"t{d.turn}:{d.block}" for d in blocks]
        self._drop(lambda b: b.live and b.id not in ids)
        for d in blocks:
            self._grow(d, whole=True)

    def _grow(self, d: v1.Delta, whole: bool) -> None:
        """Adds text to the block of a fragment, or replaces all of its text."""
        if d.kind == v1.DeltaKind.TOOL_OUTPUT:
            if any(b.id == f"c:{d.call_id}" and not b.open for b in self._blocks):
                return
            b = self._open(d.call_id)
            text = ("" if whole or not b else b.detail) + d.text
            self._call(d.turn, d.call_id, d.tool, state="running", detail=text[-_MAX_OUTPUT // 2 :] if len(text) > _MAX_OUTPUT else text)
            return
        id = f"t{d.turn}:{d.block}"
        b = next((b for b in reversed(self._blocks) if b.id == id and b.live), None)
        if d.kind not in _LIVE_KINDS:
            return
        kind, state = _LIVE_KINDS[v1.DeltaKind(d.kind)]
        if not b and not d.text and kind != "call":
            return
        if not b:
            self._steps[id] = d.step
            b = Block(id, kind, turn=d.turn)
        grows = "detail" if kind == "call" else "text"
        to: dict[str, Any] = {grows: ("" if whole else getattr(b, grows)) + d.text}
        if kind == "call":
            to["call"] = {"id": id, "tool": d.tool or (b.call or {}).get("tool", ""), "arguments": ""}
        self._put(dataclasses.replace(b, state=state, **to))


def _typed(text: str, images: Sequence[v1.Image]) -> str:
    """The text of a prompt without the lines that tell the model where its pictures are."""
    left = f"\n{text}"
    for i in images:
        size = f"{i.bytes} bytes" if i.bytes < 1000 else f"{(i.bytes + 500) // 1000} KB"
        name = f"{i.name}, " if i.name else ""
        before, found, after = left.partition(f"\n[{name}image {i.width}x{i.height}, {size}]\n")
        if found:
            left = before + (f"\n{after}" if after else "")
    return left.removeprefix("\n")


def _repeats(a: v1.Alert) -> bool:
    """Whether another entry says the same. An alert without a reason may be from before reasons existed."""
    if a.reason:
        return a.reason in ("TURN_ENDED", "APPROVAL_WAITS")
    return a.source == "approval" or a.source == "turn" and a.level == v1.AlertLevel.INFO


def _name(of: Any, value: int) -> str:
    """The name of an enum's value; podd may be newer and have another one."""
    return next((v.name.lower() for v in of if v == value), "unspecified")


def _paths(n: int) -> str:
    return "1 path" if n == 1 else f"{n} paths"
