#!/usr/bin/env python3
"""Gives the pod of a directory a prompt and shows its turn: ask.py DIR PROMPT."""
import os
import re
import sys

from podd import Client, PoddError, Transcript


def safe(text):
    """Text that does not drive the terminal and hides nothing."""
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def find_pod(podd, directory):
    """The pod of a directory; it is created if it does not exist."""
    found = podd.list(directory)
    name = re.sub("[^a-z0-9-]", "-", os.path.basename(directory).lower()).strip("-")[:63] or "pod"
    return found[0].id if found else podd.create(name, directory).id


def answer_calls(podd, pod):
    """Shows each waiting call in full and sends the person's answer."""
    for call in podd.waiting(pod):
        print(f"? {safe(call.tool)} {safe(call.arguments)}\nRun it? y/n: ", end="", flush=True)
        try:
            podd.answer(call, sys.stdin.readline().strip() == "y")
        except PoddError as e:
            print(f"! {e}")  # another client was first, for example


class Printer:
    """Prints the model's text as it grows, and the results of calls."""

    def __init__(self):
        self.printed = {}

    def print(self, block):
        before = self.printed.get(block.id, "")
        if block.kind == "answer" and block.state != "lost":
            new = block.text[len(before):] if block.text.startswith(before) else "\n" + block.text
            print(safe(new), end="\n" if block.state == "done" else "", flush=True)
            self.printed[block.id] = block.text
        elif block.kind == "call" and not block.open:
            print("·", safe(block.text), flush=True)


def show(podd, pod, accepted):
    """Shows the turn of a submit until it ends; returns the block of its end."""
    transcript, printer, turn = Transcript(), Printer(), 0
    for message in podd.stream(pod, after=accepted.seq - 1, deltas=True, lost=lambda why: transcript.lost()):
        for block in transcript.take(message).put:
            printer.print(block)
            if block.id == f"s:{accepted.request_id}":
                turn = block.turn  # the turn that took the prompt
            if block.kind == "end" and block.turn == turn:
                return block
        asks = message.entry.WhichOneof("kind") == "approval_requested"
        if asks or message.WhichOneof("kind") == "caught_up":
            answer_calls(podd, pod)


def main(directory, prompt):
    with Client(name="ask.py") as podd:
        try:
            pod = find_pod(podd, os.path.realpath(directory))
            end = show(podd, pod, podd.submit(pod, prompt))
        except PoddError as e:
            sys.exit(f"{e.reason}: {e}")
    print(f"[{end.end['outcome']}] {safe(end.text)}".rstrip())


main(*sys.argv[1:])
