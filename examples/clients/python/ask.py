#!/usr/bin/env python3
"""Gives the pod of a directory a prompt and follows the turn: ask.py DIR PROMPT.

Needs grpcio (Debian: python3-grpcio), and on PYTHONPATH what grpcio-tools makes of podd's
proto files.
"""
import os
import re
import sys
import time
import uuid

import grpc

import rpc_error_pb2 as rpc_error
from podd.v1 import approval_pb2 as approvals, approval_pb2_grpc as approval_service
from podd.v1 import entry_pb2 as entries, item_pb2 as items
from podd.v1 import pod_pb2 as pods, pod_pb2_grpc as pod_service

STATE = os.environ.get("PODD_STATE_DIR") or os.path.expanduser("~/.local/state/podd")


def socket_path():
    """The path of podd's socket."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if os.environ.get("PODD_SOCKET"):
        return os.environ["PODD_SOCKET"]
    if not os.environ.get("PODD_STATE_DIR") and runtime:
        return os.path.join(runtime, "podd/podd.sock")
    return os.path.join(STATE, "podd.sock")


def token():
    """The metadata of calls that need the client token."""
    with open(os.path.join(STATE, "client.token")) as f:
        return [("authorization", "Bearer " + f.read().strip())]


def reason(error):
    """The reason of an error of podd: a word for programs; "" when it has none."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in rpc_error.Status.FromString(value).details:
                return rpc_error.ErrorInfo.FromString(detail.value).reason
    return ""


def safe(text):
    """Text that does not drive the terminal and hides nothing."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Answer:
    """Shows the assistant's text once: live fragments, then what of the entry is new."""

    def __init__(self):
        self.block, self.shown = None, ""

    def show(self, block, text):
        if block != self.block:
            self.block, self.shown = block, ""
        self.shown += text
        print(safe(text), end="", flush=True)

    def so_far(self, block, text):
        """All text so far: what in_flight says after a connection was lost."""
        if block == self.block and text.startswith(self.shown):
            text = text[len(self.shown):]
        else:
            self.block = None
        self.show(block, text)

    def done(self, text):
        self.so_far(self.block, text)
        self.block, self.shown = None, ""
        print(flush=True)

    def void(self):
        if self.shown:
            print()
        self.block, self.shown = None, ""


def find_pod(stub, directory):
    """The pod of a directory; it is made when there is none."""
    found = stub.ListPods(pods.ListPodsRequest(dir=directory)).pods
    if found:
        return found[0].name
    name = re.sub("[^a-z0-9-]", "-", os.path.basename(directory).lower()).strip("-")[:63] or "pod"
    spec = pods.PodSpec(dir=directory)
    return stub.CreatePod(pods.CreatePodRequest(name=name, spec=spec), metadata=token()).pod.name


def submit(stub, pod, prompt):
    """Gives the pod a prompt. The request id makes it count once, however often it is sent."""
    request = pods.SubmitRequest(
        pod=pod, request_id=str(uuid.uuid4()), parse_refs=True,
        segments=[items.Segment(text=items.TextSegment(text=prompt))])
    while True:
        try:
            return stub.Submit(request)
        except grpc.RpcError as e:
            if e.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            time.sleep(0.2)  # podd restarts


def answer_calls(stub, pod):
    """Shows each call that waits, whole, and answers it as the person says."""
    for call in stub.ListApprovals(approvals.ListApprovalsRequest(pod=pod)).approvals:
        print(f"? {safe(call.tool)} {safe(call.arguments)}\nRun it? y/n: ", end="", flush=True)
        yes = sys.stdin.readline().strip() == "y"
        try:
            stub.ResolveApproval(approvals.ResolveApprovalRequest(
                pod=pod, call_seq=call.call_seq, approve=yes, client="ask.py",
                digest=call.digest), metadata=token())  # the digest: of what was shown
        except grpc.RpcError as e:
            print(f"! {e.details()}")  # another client was first, say


def follow(channel, pod, accepted):
    """Shows what comes of a submit until its turn has ended."""
    stub = pod_service.PodServiceStub(channel)
    calls = approval_service.ApprovalServiceStub(channel)
    cursor, turn, answer = accepted.seq, 0, Answer()
    while True:
        caught_up = False
        request = pods.StreamRequest(pod=pod, after_seq=cursor, follow=True, deltas=True)
        try:
            for message in stub.Stream(request):
                kind = message.WhichOneof("kind")
                if kind == "entry":
                    entry, cursor = message.entry, message.entry.seq
                    what = entry.WhichOneof("kind")
                    if what == "turn_started" and accepted.request_id in entry.turn_started.request_ids:
                        turn = entry.turn
                    elif what == "promoted" and accepted.request_id in entry.promoted.request_ids:
                        turn = entry.turn
                    elif what == "item" and entry.item.HasField("assistant_message"):
                        answer.done(entry.item.assistant_message.text)
                    elif what == "item" and entry.item.HasField("tool_result"):
                        print("·", safe(entry.item.tool_result.summary), flush=True)
                    elif what == "approval_requested" and caught_up:
                        answer_calls(calls, pod)
                    elif what == "turn_ended" and entry.turn == turn:
                        return entry.turn_ended
                elif kind == "caught_up":
                    caught_up = True
                    answer_calls(calls, pod)
                elif kind == "in_flight":
                    for block in message.in_flight.blocks:
                        if block.kind == pods.DELTA_KIND_TEXT:
                            answer.so_far(block.block, block.text)
                elif message.delta.restarted:
                    answer.void()
                elif message.delta.kind == pods.DELTA_KIND_TEXT:
                    answer.show(message.delta.block, message.delta.text)
        except grpc.RpcError as e:
            if e.code() != grpc.StatusCode.UNAVAILABLE:
                raise
        time.sleep(0.2)  # podd restarts: go on behind the last entry


def main():
    directory, prompt = os.path.realpath(sys.argv[1]), sys.argv[2]
    options = [("grpc.max_receive_message_length", 16 << 20), ("grpc.max_reconnect_backoff_ms", 500)]
    with grpc.insecure_channel("unix:" + socket_path(), options=options) as channel:
        stub = pod_service.PodServiceStub(channel)
        try:
            pod = find_pod(stub, directory)
            end = follow(channel, pod, submit(stub, pod, prompt))
        except grpc.RpcError as e:
            sys.exit(f"{e.code().name} {reason(e)}: {e.details()}")
    print(f"[{entries.Outcome.Name(end.outcome)}] {safe(end.cause)}".rstrip())


main()
