"""The way to one podd: calls, submits that count once, and streams that go on over restarts."""
from __future__ import annotations

import os
import pathlib
import stat
import time
import urllib.parse
import uuid
from typing import Any, Callable, Iterator, Sequence, TypeVar

import grpc

from . import v1

CALL_TIME = 30.0
"""How long a call may take, in seconds."""

_CHANNEL = [
    # podd accepts and sends messages of up to 16 MiB.
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.max_send_message_length", 16 << 20),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    # There is no host name on a Unix socket.
    ("grpc.default_authority", "podd"),
]

T = TypeVar("T")


class PoddError(Exception):
    """An error of podd: one sentence, and a reason for programs such as POD_NOT_FOUND."""

    def __init__(self, message: str, reason: str, code: grpc.StatusCode) -> None:
        super().__init__(message)
        self.reason = reason
        self.code = code

    @property
    def passing(self) -> bool:
        """Whether trying again later may help: podd is away or stops, which ends calls as cancelled."""
        return self.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


class Client:
    """The way to one podd, found as podctl finds it. Its calls fail with a PoddError. It is safe for several threads."""

    def __init__(
        self,
        socket: str | None = None,
        state_dir: str | None = None,
        *,
        name: str = "a program",
        retry_for: float = 30.0,
    ) -> None:
        """name is who answers calls, as podd's log shows it. retry_for is how long submit tries after podd went away, in seconds."""
        state, self._socket = _places(socket, state_dir)
        self._token = state / "client.token"
        self._name = name
        self._retry_for = retry_for
        self._reached = False  # whether podd has ever answered
        self.channel = grpc.insecure_channel("unix:" + urllib.parse.quote(str(self._socket)), options=_CHANNEL)
        """For the services of v1 that have no attribute here: v1.JobService(client.channel)."""
        self.pods = v1.PodService(self.channel)
        self.approvals = v1.ApprovalService(self.channel)

    def close(self) -> None:
        self.channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, method: Callable[..., T], request: Any, *, token: bool = False) -> T:
        """Makes a call: client.call(client.pods.GetPod, v1.GetPodRequest(pod="p")). Some calls need the client token."""
        self._check()
        metadata = self._metadata() if token else None
        try:
            reply = method(request, timeout=CALL_TIME, metadata=metadata)
        except grpc.RpcError as e:
            raise self._error(e) from None
        self._reached = True
        return reply

    def list(self, directory: str = "") -> Sequence[v1.Pod]:
        """The pods in the order of their names: all, or those of a directory."""
        return self.call(self.pods.ListPods, v1.ListPodsRequest(dir=directory)).pods

    def create(self, name: str, directory: str) -> v1.Pod:
        """Creates a pod with a workspace."""
        request = v1.CreatePodRequest(name=name, spec=v1.PodSpec(dir=directory))
        return self.call(self.pods.CreatePod, request, token=True).pod

    def submit(
        self,
        pod: str,
        prompt: str | Sequence[v1.Segment],
        *,
        request_id: str | None = None,
        steer: bool = False,
        plan: bool | None = None,
        no_questions: bool = False,
    ) -> v1.SubmitResponse:
        """Submits a prompt to a pod, once: if podd goes away in the middle, it is sent again with the same request id.

        It returns when podd has the prompt on disk. steer joins the running turn; plan begins a turn that only plans,
        no_questions one that asks no questions.
        """
        segments = [v1.Segment(text=v1.TextSegment(text=prompt))] if isinstance(prompt, str) else prompt
        request = v1.SubmitRequest(
            pod=pod,
            segments=segments,
            request_id=request_id or str(uuid.uuid4()),
            mode=v1.SubmitMode.STEER if steer else v1.SubmitMode.QUEUE,
            parse_refs=True,
            plan=plan,
            no_questions=no_questions,
        )
        end = time.monotonic() + self._retry_for
        pause = 0.05
        while True:
            try:
                return self.call(self.pods.Submit, request)
            except PoddError as e:
                away = e.reason == "UNREACHABLE" and not self._reached
                if not e.passing or away or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def stream(
        self,
        pod: str,
        *,
        after: int = 0,
        follow: bool = True,
        deltas: bool = False,
        lost: Callable[[PoddError], None] | None = None,
        restarted: Callable[[], None] | None = None,
    ) -> Iterator[v1.StreamResponse]:
        """Reads a pod's log above the sequence after: each entry once and in order.

        With follow it goes on with new entries, across restarts of podd, until its reader stops. deltas adds live text.
        lost is called when podd goes away: unfinished blocks are sent again. restarted is called when the log is read again
        from its start, because what was read is no longer part of it; without restarted, that is an error.
        """
        seq, pause = after, 0.05
        while True:
            try:
                for message in self._read(v1.StreamRequest(pod=pod, after_seq=seq, follow=follow, deltas=deltas)):
                    pause = 0.05
                    if message.WhichOneof("kind") == "entry":
                        new = message.entry.seq
                        if new <= seq:
                            continue  # It was read before.
                        if seq and new != seq + 1:
                            raise PoddError(f"the log of {pod} jumps from entry {seq} to {new}: run podd check", "STREAM_GAP", grpc.StatusCode.DATA_LOSS)
                        seq = new
                    yield message
                    if not follow and message.WhichOneof("kind") == "caught_up":
                        return
            except PoddError as e:
                if restarted and e.reason in ("PURGED", "BEYOND_END"):
                    seq = self._before_first(pod)
                    restarted()
                elif not e.passing:
                    raise
                elif lost:
                    lost(e)
            time.sleep(pause)
            pause = min(2 * pause, 2.0)

    def waiting(self, pod: str = "") -> Sequence[v1.Approval]:
        """The calls of a pod, or of all pods, that wait for a person, the oldest first."""
        return self.call(self.approvals.ListApprovals, v1.ListApprovalsRequest(pod=pod)).approvals

    def answer(
        self, what: v1.Approval, approve: bool, *, always: bool = False, reason: str = "", replies: Sequence[v1.FormReply] = (), dismiss: bool = False
    ) -> None:
        """Decides on a call; it applies to exactly what the approval shows. always adds a rule, reason is for the model.

        A call with a form needs approve and replies, one for each question; dismiss without approve leaves it to the model."""
        request = v1.ResolveApprovalRequest(
            pod=what.pod, call_seq=what.call_seq, digest=what.digest, approve=approve, always=always, reason=reason, client=self._name,
            replies=replies, dismiss=dismiss,
        )
        self.call(self.approvals.ResolveApproval, request, token=True)

    def _before_first(self, pod: str) -> int:
        """The sequence before the first entry of a log, whose start may have been purged."""
        try:
            first = self.call(self.pods.GetPod, v1.GetPodRequest(pod=pod)).pod.first_seq
        except PoddError as e:
            if not e.passing:
                raise
            first = 0
        return max(first, 1) - 1

    def _read(self, request: v1.StreamRequest) -> Iterator[v1.StreamResponse]:
        self._check()
        call: Any = self.pods.Stream(request)
        try:
            for message in call:
                self._reached = True
                yield message
        except grpc.RpcError as e:
            raise self._error(e) from None
        finally:
            call.cancel()

    def _error(self, e: Any) -> PoddError:
        self._reached = self._reached or e.code() != grpc.StatusCode.UNAVAILABLE
        return PoddError(e.details() or str(e), _reason(e), e.code())

    def _check(self) -> None:
        """Messages, and the token among them, are only for a podd of the same user."""
        why = ""
        try:
            info = self._socket.stat()
        except OSError:
            why = f'cannot reach podd: the socket {self._socket} does not exist; start podd with "podd service install" or "podd &"'
        else:
            if not stat.S_ISSOCK(info.st_mode):
                why = f"{self._socket} is not a socket: name the socket of podd"
            elif info.st_uid != os.getuid():
                why = f"the socket {self._socket} belongs to another user (uid {info.st_uid}); podd serves only the user who started it"
        if why:
            raise PoddError(why, "UNREACHABLE", grpc.StatusCode.UNAVAILABLE)

    def _metadata(self) -> Any:
        """The token is read at each call, since a reinstalled podd has a new one."""
        try:
            return [("authorization", f"Bearer {self._token.read_text().strip()}")]
        except OSError as e:
            why = f"cannot read the client token: {e}; set the state directory to podd's"
            raise PoddError(why, "CLIENT_TOKEN", grpc.StatusCode.UNAUTHENTICATED) from None


def _places(socket: str | None, state_dir: str | None) -> tuple[pathlib.Path, pathlib.Path]:
    """The state directory and the socket: what is set, then PODD_SOCKET and PODD_STATE_DIR, then the XDG directories."""

    def absolute(name: str) -> str | None:
        path = os.environ.get(name, "")
        return path if os.path.isabs(path) else None

    named = state_dir or os.environ.get("PODD_STATE_DIR")
    state = pathlib.Path(named or pathlib.Path(absolute("XDG_STATE_HOME") or pathlib.Path.home() / ".local" / "state") / "podd")
    runtime = absolute("XDG_RUNTIME_DIR")
    found = socket or os.environ.get("PODD_SOCKET")
    if found:
        return state, pathlib.Path(found)
    return state, state / "podd.sock" if named or not runtime else pathlib.Path(runtime) / "podd" / "podd.sock"


def _reason(e: Any) -> str:
    """The reason of an error: Status{details=3: Any{type_url=1, value=2: ErrorInfo{reason=1}}} in the trailer."""
    for key, value in e.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in _fields(value, 3):
                if b"".join(_fields(detail, 1)).endswith(b"/google.rpc.ErrorInfo"):
                    return b"".join(b"".join(_fields(info, 1)) for info in _fields(detail, 2)).decode()
    return ""


def _fields(message: bytes, wanted: int) -> list[bytes]:
    """The length-delimited fields of a protobuf message with one number."""
    found: list[bytes] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while at < len(message):
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            varint()
        elif key & 7 == 2:
            length = varint()
            if key >> 3 == wanted:
                found.append(message[at : at + length])
            at += length
        else:
            break  # A Status has no other wire type.
    return found
