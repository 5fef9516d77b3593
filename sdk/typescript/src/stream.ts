import { type ClientReadableStream, type ServiceError, status } from "@grpc/grpc-js";

import { type Client, make } from "./client";
import { PoddError, poddError } from "./errors";
import { GetPodRequest, type StreamResponse } from "./gen/podd/v1/pod";

/** StreamOptions says which part of a pod's log to read. */
export interface StreamOptions {
  /** The sequence after which entries start; 0, the default: from the first. */
  after?: number;
  /** Whether to go on with new entries; true by default. Otherwise the stream ends at the end of the log. */
  follow?: boolean;
  /** Adds live text. */
  deltas?: boolean;
  /** Ends the stream. */
  signal?: AbortSignal;
  /** podd is away; the stream goes on when it is back, and unfinished blocks are sent again. */
  lost?: (why: PoddError) => void;
  /** Entries read so far are no longer part of the log, which is read again. Without it, that is an error. */
  restarted?: () => void;
}

/** The first and the longest pause between two attempts, in milliseconds. */
const pauses = { first: 50, longest: 2000 };

/** stream is Client.stream. */
export async function* stream(c: Client, pod: string, how: StreamOptions): AsyncGenerator<StreamResponse, void, undefined> {
  const { follow = true, deltas = false, signal } = how;
  let seq = how.after ?? 0;
  let pause = pauses.first;
  while (!signal?.aborted) {
    try {
      c.check();
      for await (const m of read(c.pods.stream({ pod, afterSeq: seq, follow, deltas }), signal)) {
        pause = pauses.first;
        if (m.kind?.$case === "entry") {
          const next = m.kind.value.seq;
          if (next <= seq) continue; // It was read before.
          if (seq > 0 && next !== seq + 1) throw new PoddError(`the log of ${pod} jumps from entry ${seq} to ${next}: run podd check`, "STREAM_GAP", status.DATA_LOSS);
          seq = next;
        }
        yield m;
        if (m.kind?.$case === "caughtUp" && !follow) return;
      }
    } catch (err) {
      if (signal?.aborted) return;
      const e = err as PoddError;
      if (how.restarted && (e.reason === "PURGED" || e.reason === "BEYOND_END")) {
        // The start of the log was purged, or it is a different log.
        seq = await beforeFirst(c, pod);
        how.restarted();
      } else if (!e.passing) {
        throw e;
      } else {
        how.lost?.(e);
      }
    }
    await sleep(pause, signal);
    pause = Math.min(pause * 2, pauses.longest);
  }
}

/** beforeFirst is the sequence before the first entry of a log, whose start may have been purged. */
async function beforeFirst(c: Client, pod: string): Promise<number> {
  try {
    const { pod: now } = await c.call(c.pods.getPod.bind(c.pods), make(GetPodRequest, { pod }));
    return Math.max(now?.firstSeq ?? 1, 1) - 1;
  } catch (err) {
    if (!(err as PoddError).passing) throw err;
    return 0;
  }
}

/** read gives the messages of a call's stream, until signal is aborted; it fails with a PoddError. */
export async function* read<M>(calling: ClientReadableStream<M>, signal?: AbortSignal): AsyncGenerator<M, void, undefined> {
  const cancel = () => calling.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  calling.on("error", () => {}); // The loop gets it, unless its reader has stopped.
  try {
    for await (const m of calling) yield m as M;
  } catch (err) {
    throw poddError(err as ServiceError);
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}

/** sleep waits, or until signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}
