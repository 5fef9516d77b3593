"""Follows a pod over a kill -9 of podd: crash.py POD. It prints what the test needs to see, one line each."""
import sys
import threading

from podd import Client


def main(pod):
    with Client() as podd:
        seqs, ended, sent = [], 0, []

        def lost(why):
            if not sent:
                print("away", flush=True)
                sent.append(threading.Thread(target=podd.submit, args=(pod, "after"), kwargs={"request_id": "r2"}))
                sent[0].start()

        podd.submit(pod, "before", request_id="r1")
        for message in podd.stream(pod, deltas=True, lost=lost):
            kind = message.WhichOneof("kind")
            if kind in ("delta", "in_flight") and not sent:
                print("live", flush=True)
            if kind == "entry":
                seqs.append(message.entry.seq)
                ended += message.entry.WhichOneof("kind") == "turn_ended"
                if ended == 2:
                    break
        sent[0].join()
        print(seqs, flush=True)


main(sys.argv[1])
