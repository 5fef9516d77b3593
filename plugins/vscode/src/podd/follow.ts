import type { Outcome } from "../gen/podd/v1/entry";
import type { Pod, StreamRequest, StreamResponse } from "../gen/podd/v1/pod";
import type { Connection } from "./connection";
import { drain } from "./drain";
import type { PoddError } from "./errors";

/** Follower gets the messages of a pod's log as it grows. */
export interface Follower {
  /** The next message; each entry comes once and in order. */
  message(m: StreamResponse): void;
  /** Entries read so far are no longer part of the log; it is read again. */
  restarted(): void;
  /** podd is away; follow retries. Unfinished blocks are sent again. */
  lost(why: PoddError): void;
}

/** The longest pause between two attempts, in milliseconds. */
const longestPause = 2000;

/**
 * follow reads a pod's log after the sequence `after`, and continues with new entries, across
 * restarts of podd, until signal is aborted. It fails when a retry cannot help, because the
 * pod is gone.
 */
export async function follow(c: Connection, pod: string, after: number, to: Follower, signal: AbortSignal): Promise<void> {
  let seq = after;
  let pause = 50;
  while (!signal.aborted) {
    try {
      await once(c, { pod, afterSeq: seq, follow: true, deltas: true }, signal, (m) => {
        pause = 50;
        if (m.kind?.$case === "entry") {
          if (m.kind.value.seq <= seq) return; // It was read before.
          seq = m.kind.value.seq;
        }
        to.message(m);
      });
    } catch (err) {
      if (signal.aborted) return;
      const e = err as PoddError;
      if (e.reason === "PURGED" || e.reason === "BEYOND_END") {
        // The start of the log was purged, or it is a different log.
        seq = 0;
        to.restarted();
        continue;
      }
      if (!e.passing) throw e;
      to.lost(e);
    }
    await sleep(pause, signal);
    pause = Math.min(pause * 2, longestPause);
  }
}

/** How many of the last entries are read for the end of a turn. */
const lastEntries = 100;

/** outcome is how a turn that ended just now ended; undefined if the end of the pod's log does not say. */
export async function outcome(c: Connection, pod: Pod, turn: number): Promise<Outcome | undefined> {
  let found: Outcome | undefined;
  const afterSeq = Math.max(pod.firstSeq - 1, pod.lastSeq - lastEntries, 0);
  await once(c, { pod: pod.id, afterSeq, follow: false, deltas: false }, new AbortController().signal, ({ kind }) => {
    const entry = kind?.$case === "entry" ? kind.value : undefined;
    if (entry?.turn === turn && entry.kind?.$case === "turnEnded") found = entry.kind.value.outcome;
  });
  return found;
}

/** once reads one stream to its end. That of a stream which follows is always an error. */
async function once(c: Connection, request: StreamRequest, signal: AbortSignal, take: (m: StreamResponse) => void): Promise<void> {
  c.check();
  await drain(c.pods.stream(request), take, signal);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
