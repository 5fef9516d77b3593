// What podd tells the page: one stream, which comes back when it is lost.

import { device } from "./device.js";
import { RpcError, call, stream } from "./rpc.js";

/** @import { Alert, Approval, StreamResponse, WatchedPod, WatchResponse } from "./types.d.ts" */

/**
 * Sink takes a pod's log: each entry once and in order.
 * @typedef {object} Sink
 * @property {(m: StreamResponse) => void} take
 * @property {() => void} lost the stream broke, and goes on after the last entry
 * @property {(firstSeq: number) => void} again the log is read again from an entry on
 * @property {(e: RpcError) => void} failed the log cannot be read
 */

/** @typedef {{ pod: string, cursor: number, sink: Sink }} Log */

/** How long podd may be silent, in milliseconds. It sends a beat every 15 seconds. */
const silence = 40_000;
/** How long a hidden tab goes on, in milliseconds. */
const unseen = 60_000;

class Live {
  /** By id. @type {Map<string, WatchedPod>} */
  pods = new Map();
  /** Whether all pods are known. */
  complete = false;
  /** The unacknowledged ones, by sequence. @type {Map<string, Alert>} */
  alerts = new Map();
  /** @type {Approval[]} */
  approvals = [];
  /** Since when podd does not answer. @type {Date | undefined} */
  away = undefined;
  /** Whether a hidden tab goes on, so that it can notify. */
  awake = false;
  /** Why the page cannot go on, such as a revoked device. @type {RpcError | undefined} */
  ended = undefined;

  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** @type {Set<(alert: Alert | undefined, approval: Approval | undefined) => void>} */
  #hearers = new Set();
  /** @type {Log | undefined} */
  #log = undefined;
  #abort = new AbortController();
  #asleep = false;
  #failures = 0;
  #frame = 0;
  #asking = false;
  #askAgain = false;
  /** Wakes the pause between two attempts. */
  #wake = () => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #silence = undefined;

  /** start watches for as long as the page is open. */
  start() {
    addEventListener("online", () => this.restart());
    addEventListener("offline", () => this.restart());
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let hidden;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(hidden);
      if (document.visibilityState === "hidden") {
        hidden = setTimeout(() => {
          if (this.awake) return;
          this.#asleep = true;
          this.restart();
        }, unseen);
      } else if (this.#asleep) {
        this.#asleep = false;
        this.#wake();
      }
    });
    void this.#run();
  }

  /** watch calls a function, at most once a frame, when something has changed. @param {() => void} f @returns {() => void} ends it */
  watch(f) {
    this.#watchers.add(f);
    return () => this.#watchers.delete(f);
  }

  /** hear calls a function at each new alert and each new question. @param {(alert: Alert | undefined, approval: Approval | undefined) => void} f */
  hear(f) {
    this.#hearers.add(f);
  }

  /** follow also reads a pod's log above a sequence, in place of another's. @param {string} pod @param {number} after @param {Sink} sink */
  follow(pod, after, sink) {
    this.#log = { pod, cursor: after, sink };
    this.restart();
    return () => {
      if (this.#log?.sink !== sink) return;
      this.#log = undefined;
    };
  }

  /** named finds a pod by its name or its id. @param {string} name */
  named(name) {
    return this.pods.get(name) ?? [...this.pods.values()].find((p) => p.pod.name === name);
  }

  /** news are the alerts, the newest first, without those about a question that is open. */
  get news() {
    const asks = (/** @type {Alert} */ a) => a.reason === "APPROVAL_WAITS" && this.approvals.some((q) => q.pod === a.pod);
    return [...this.alerts.values()].filter((a) => !asks(a)).sort((a, b) => Number(b.seq) - Number(a.seq));
  }

  /** restart ends the stream; the next one begins at once. */
  restart() {
    this.#failures = 0;
    this.#abort.abort();
    this.#wake();
  }

  /** changed tells the watchers with the next frame. */
  changed() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      for (const f of [...this.#watchers]) f();
    });
  }

  async #run() {
    while (!this.ended) {
      if (this.#asleep) await new Promise((go) => (this.#wake = () => go(undefined)));
      const abort = (this.#abort = new AbortController());
      try {
        await this.#once(abort);
        this.#failed(new RpcError("unavailable", "podd ended the stream", ""));
      } catch (e) {
        this.#log?.sink.lost();
        // A stream that the page ended itself is no failure, and neither is its own broken sink.
        if (!abort.signal.aborted || abort.signal.reason === "silence") this.#failed(e);
      } finally {
        clearTimeout(this.#silence);
        abort.abort();
      }
      await this.#pause();
    }
  }

  /** @param {AbortController} abort */
  async #once(abort) {
    /** @type {Set<string>} */
    const seen = new Set();
    const log = this.#log;
    const request = { work: true, alerts: true, beats: true, ...(log && { pod: log.pod, afterSeq: String(log.cursor), deltas: true }) };
    this.complete = false;
    this.#beat(abort);
    /** @type {Map<string, Alert>} */
    const known = this.alerts;
    this.alerts = new Map();
    for await (const m of stream("FleetService/Watch", request, abort.signal)) {
      if (abort.signal.aborted) return;
      this.#beat(abort);
      this.#failures = 0;
      if (this.away) {
        this.away = undefined;
        this.#ask();
      }
      this.#take(m, seen, log, known);
      this.changed();
    }
  }

  /** @param {WatchResponse} m @param {Set<string>} seen @param {Log | undefined} log @param {Map<string, Alert>} known */
  #take(m, seen, log, known) {
    if (m.pod) {
      const before = this.pods.get(m.pod.pod.id);
      seen.add(m.pod.pod.id);
      this.pods.set(m.pod.pod.id, m.pod);
      if (m.pod.approvals || before?.approvals) this.#ask();
      // Answers acknowledge the alerts of their questions.
      if (before?.approvals && !m.pod.approvals) {
        for (const a of this.alerts.values()) if (a.pod === m.pod.pod.id && a.reason === "APPROVAL_WAITS") this.alerts.delete(a.seq);
      }
    } else if (m.removed) {
      this.pods.delete(m.removed);
    } else if (m.complete) {
      for (const id of this.pods.keys()) if (!seen.has(id)) this.pods.delete(id);
      this.complete = true;
    } else if (m.alert) {
      this.alerts.set(m.alert.seq, m.alert);
      if (this.complete && !known.has(m.alert.seq)) for (const f of this.#hearers) f(m.alert, undefined);
    } else if (m.log && log && log === this.#log) {
      this.#entry(m.log, log);
    }
  }

  /** @param {StreamResponse} m @param {Log} log */
  #entry(m, log) {
    if (m.entry) {
      const seq = Number(m.entry.seq);
      if (seq <= log.cursor) return;
      // The log has no gaps, except for what was purged before its first entry.
      if (seq > log.cursor + 1 && log.cursor > 0 && !m.entry.purged) throw new RpcError("unavailable", "an entry is missing", "GAP");
      log.cursor = seq;
    }
    log.sink.take(m);
  }

  /** @param {AbortController} abort */
  #beat(abort) {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => abort.abort("silence"), silence);
  }

  /** @param {unknown} e */
  #failed(e) {
    const failure = e instanceof RpcError ? e : new RpcError("unavailable", String(e), "");
    if (failure.reason === "GAP") return;
    if (failure.reason === "BEARER_EXPIRED" || failure.reason === "BEARER_UNKNOWN") {
      device.expired();
      this.#failures++;
      return;
    }
    // What this browser has read goes, too.
    if (failure.reason === "DEVICE_REVOKED" || failure.reason === "DEVICE_UNKNOWN") location.reload();
    const log = this.#log;
    if (failure.code === "unauthenticated" || failure.code === "permission_denied") {
      this.ended = failure;
    } else if (log && failure.reason === "PURGED") {
      const first = Number(/#(\d+)$/.exec(failure.message)?.[1] ?? 0) || Number(this.named(log.pod)?.pod.firstSeq ?? 1);
      log.cursor = Math.max(0, first - 1);
      log.sink.again(first);
      return;
    } else if (log && ["not_found", "out_of_range", "data_loss", "failed_precondition"].includes(failure.code)) {
      this.#log = undefined;
      log.sink.failed(failure);
      return;
    }
    this.#failures++;
    this.away ??= new Date();
    this.changed();
  }

  /** pause waits before the next attempt: from a quarter of a second to five seconds. */
  async #pause() {
    if (this.#failures === 0) return;
    const most = Math.min(5000, 250 * 2 ** (this.#failures - 1));
    const ms = 250 + Math.random() * (most - 250);
    await new Promise((go) => {
      const timer = setTimeout(go, ms);
      this.#wake = () => {
        clearTimeout(timer);
        go(undefined);
      };
    });
  }

  /** ask reads the questions that wait. */
  async ask() {
    /** @type {Approval[]} */
    const now = (await call("ApprovalService/ListApprovals", {})).approvals ?? [];
    const before = new Set(this.approvals.map(question));
    this.approvals = now;
    for (const a of now) if (!before.has(question(a))) for (const f of this.#hearers) f(undefined, a);
    this.changed();
  }

  /** ask soon; changes meanwhile ask once more. */
  #ask() {
    this.#askAgain = true;
    if (!this.#asking) void this.#askAll();
  }

  async #askAll() {
    this.#asking = true;
    while (this.#askAgain) {
      this.#askAgain = false;
      try {
        await this.ask();
      } catch {
        // The stream says that podd is away, and asks when it is back.
      }
      await new Promise((go) => setTimeout(go, 150));
    }
    this.#asking = false;
  }
}

/** question identifies what a person is asked. @param {Approval} a */
export const question = (a) => `${a.pod} ${a.callSeq} ${a.digest ?? ""}`;

export const live = new Live();
