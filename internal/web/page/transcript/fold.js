// A stream as blocks. The page and the extension of VS Code share this directory: fold.js makes the blocks
// of a stream, blocks.js makes elements of them.

/** @import { Block, Change, Delta, Entry, Image, Item, Picture, State, StreamResponse } from "../types.d.ts" */

/** The length up to which the output of a running call is kept: its end. */
const maxOutput = 1 << 20;

const isLive = (/** @type {Block} */ b) => b.state === "live" || b.state === "writing" || b.state === "lost";
const isOpen = (/** @type {Block} */ b) => b.state !== "done" && b.state !== "failed";

/** @typedef {{ kind: Block["kind"], state: State, grows: "text" | "detail" }} Grows */

/** @type {Record<string, Grows>} */
const liveKinds = {
  DELTA_KIND_TEXT: { kind: "answer", state: "live", grows: "text" },
  DELTA_KIND_REASONING: { kind: "thought", state: "live", grows: "text" },
  DELTA_KIND_TOOL_ARGUMENTS: { kind: "call", state: "writing", grows: "detail" },
};

/** What follows the result of a call that podd's end interrupted. @type {Record<string, string>} */
const remarks = {
  RECOVERY_FOUND: " (found after a restart)",
  RECOVERY_AGAIN: " (run again after a restart)",
};

/** pictures are descriptions of images; undefined if there are none. @param {Picture[]} [list] @returns {Image[] | undefined} */
function pictures(list = []) {
  if (list.length === 0) return undefined;
  return list.map((i) => ({ name: i.name ?? "", media_type: i.mediaType ?? "", width: i.width ?? 0, height: i.height ?? 0, bytes: num(i.bytes), digest: i.digest ?? "" }));
}

/** typed is the text of a prompt without the lines that tell the model where its pictures are. @param {string} text @param {Image[]} [images] */
function typed(text, images = []) {
  let left = `\n${text}`;
  for (const i of images) {
    const bytes = Number(i.bytes);
    const size = bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} KB`;
    const line = `\n[${i.name && `${i.name}, `}image ${i.width}x${i.height}, ${size}]\n`;
    const at = left.indexOf(line);
    if (at < 0) continue;
    const after = left.slice(at + line.length);
    left = left.slice(0, at) + (after && `\n${after}`);
  }
  return left.replace(/^\n/, "");
}

const paths = (/** @type {string | number} */ n) => (Number(n) === 1 ? "1 path" : `${n} paths`);
const liveId = (/** @type {Delta} */ d) => `t${num(d.turn)}:${d.block ?? ""}`;

/**
 * Transcript folds a stream into blocks, as pkg/transcript does in Go: both pass the cases
 * of its testdata. Give it each message once and in order, in protobuf's JSON.
 */
export class Transcript {
  /** @type {Block[]} */
  #blocks = [];
  /** The steps of live blocks, by their ids. @type {Map<string, number>} */
  #steps = new Map();
  /** The running turn's submits whose message has not arrived. @type {string[]} */
  #claimed = [];
  #isLost = false;
  #cuts = 0;
  /** @type {Change} */
  #change = { drop: [], put: [] };

  /** all returns the blocks to show, in order. */
  all() {
    return this.#blocks.filter((b) => b.state !== "lost");
  }

  /** lost says that the stream broke: after the next caught_up, live text either continues or is dropped. */
  lost() {
    this.#isLost = true;
  }

  /**
   * take applies the next message and returns its effect.
   * @param {StreamResponse} m
   * @returns {Change}
   */
  take(m) {
    this.#change = { drop: [], put: [] };
    if (m.entry) this.#entry(m.entry);
    else if (m.delta) this.#delta(m.delta);
    else if (m.inFlight) this.#inFlight(m.inFlight.blocks ?? []);
    else if (m.caughtUp && this.#isLost) this.#hide();
    return this.#change;
  }

  /** put shows a block, in place of the one with its id, otherwise at the end. @param {Block} b */
  #put(b) {
    const at = this.#blocks.findLastIndex((other) => other.id === b.id);
    if (at >= 0) this.#blocks[at] = b;
    else this.#blocks.push(b);
    this.#change.put.push(b);
  }

  /** @param {(b: Block) => boolean} gone */
  #drop(gone) {
    const dropped = this.#blocks.filter(gone).map((b) => b.id);
    if (dropped.length === 0) return false;
    this.#blocks = this.#blocks.filter((b) => !dropped.includes(b.id));
    this.#change.drop.push(...dropped);
    return true;
  }

  /** @param {Entry} e */
  #entry(e) {
    if (e.submitted) {
      const { requestId = "", text = "", segments = [] } = e.submitted;
      const images = pictures(segments.flatMap((s) => (s.image ? [s.image.image ?? {}] : [])));
      this.#put(block(e, `s:${requestId}`, "user", { turn: "0", state: "queued", text: typed(text, images), images }));
    } else if (e.turnStarted) {
      this.#claimed = [...(e.turnStarted.requestIds ?? [])];
    } else if (e.promoted) {
      this.#claimed.push(...(e.promoted.requestIds ?? []));
    } else if (e.withdrawn) {
      const ids = (e.withdrawn.requestIds ?? []).map((id) => `s:${id}`);
      this.#drop((b) => b.state === "queued" && ids.includes(b.id));
      this.#notice(e, "withdrawn", "a queued prompt was removed");
    } else if (e.item) {
      this.#item(e, e.item);
    } else if (e.toolStarted) {
      const { callId = "", tool = "", arguments: args = "" } = e.toolStarted;
      this.#call(e.turn, callId, { state: "running" }, { tool, arguments: args, question: undefined });
    } else if (e.approvalRequested) {
      const { callId = "", tool = "", question = "", arguments: args = "", digest = "", previews = [], form } = e.approvalRequested;
      const call_seq = this.#open(callId)?.seq ?? "0";
      const runs = previews.filter((p) => p.runs).length;
      const asked = { text: question, digest: hex(digest), call_seq, files: previews.length - runs || undefined, runs: runs || undefined, form: form ? true : undefined };
      this.#call(e.turn, callId, { state: "asks" }, { tool, arguments: args, question: asked });
    } else if (e.approvalResolved) {
      const { callId = "", approved = false, by = "", reason = "", key = "", dismissed, withdrawn } = e.approvalResolved;
      // A call with a form goes on.
      if (this.#open(callId)?.state === "asks") this.#call(e.turn, callId, { state: key ? "running" : "to_run" }, { question: undefined });
      const code = approved ? "approved" : "denied";
      const how = !key ? code : withdrawn ? "withdrawn" : dismissed ? "dismissed" : approved ? "answered" : "declined";
      this.#notice(e, code, `${how}${by && ` by ${by}`}${reason && `: ${reason}`}`);
    } else if (e.alert) {
      this.#alert(e, e.alert);
    } else if (e.recovered) {
      // The turn repeats its step, perhaps with the same words.
      this.#isLost = true;
      this.#hide();
      this.#notice(e, "recovered", `the turn resumes: ${e.recovered.reason ?? ""}`);
    } else if (e.turnEnded) {
      this.#ended(e, e.turnEnded);
    } else if (e.compaction) {
      this.#notice(e, "compaction", "the conversation above is sent to the model as a summary from now on");
    } else if (e.rewind) {
      this.#notice(e, "rewind", `rewound to entry ${num(e.rewind.toSeq)}; the model no longer sees later entries`);
    } else if (e.restore) {
      if (!e.restore.ended) return;
      const kept = e.restore.kept?.length ?? 0;
      const also = kept ? `, ${paths(kept)} kept, because somebody changed them since` : "";
      this.#notice(e, "restore", `changes of files were taken back: ${paths(num(e.restore.changed))} changed${also}`);
    } else if (e.wing) {
      if (e.wing.line) this.#notice(e, "wing", e.wing.line);
    } else if (e.purged) {
      this.#notice(e, "purged", `older entries were removed: ${e.purged.reason ?? ""}`);
    }
  }

  /** @param {Entry} e @param {Item} it */
  #item(e, it) {
    if (it.userMessage) {
      const claimed = this.#claimed.shift();
      const images = pictures(it.userMessage.images);
      this.#user(e, claimed === undefined ? `e${num(e.seq)}` : `s:${claimed}`, typed(it.userMessage.text ?? "", images), images);
    } else if (it.assistantMessage) {
      this.#message(e, "answer", it.assistantMessage.text ?? "");
    } else if (it.reasoning) {
      this.#message(e, "thought", it.reasoning.text ?? "");
    } else if (it.systemMessage) {
      const { origin = "", text = "", images } = it.systemMessage;
      // The day, the schema of an answer and the like are for the model.
      if (!["state", "answer_schema"].includes(origin)) this.#notice(e, origin, text, pictures(images));
    } else if (it.toolCall) {
      const { callId = "", name = "", arguments: args = "" } = it.toolCall;
      const written = this.#finished(e, "call");
      this.#drop((b) => b === written);
      this.#call(e.turn, callId, { seq: num(e.seq) }, { tool: name, arguments: args });
    } else if (it.toolResult) {
      const { callId = "", tool = "", summary = "", content = "", isError, durationMs, images, recovery = "" } = it.toolResult;
      const state = isError ? "failed" : "done";
      this.#call(e.turn, callId, { state, text: summary + (remarks[recovery] ?? ""), detail: content, images: pictures(images) }, { tool, question: undefined, duration_ms: Number(durationMs ?? 0) || undefined });
    }
  }

  /** user shows a message of the user in its place in the conversation. @param {Entry} e @param {string} id @param {string} text @param {Image[] | undefined} images */
  #user(e, id, text, images, seq = num(e.seq)) {
    this.#drop((b) => b.id === id);
    this.#put(block(e, id, "user", { seq, text, images }));
  }

  /** message adds a finished message, which replaces the live one. A message without text gets no block. @param {Entry} e @param {"answer" | "thought"} kind @param {string} text */
  #message(e, kind, text) {
    const live = this.#finished(e, kind);
    if (text) this.#put(block(e, live?.id ?? `e${num(e.seq)}`, kind, { text }));
    else this.#drop((b) => b === live);
  }

  /** @param {string} callId */
  #open(callId) {
    return this.#blocks.findLast((b) => b.call?.id === callId && isOpen(b) && !isLive(b));
  }

  /**
   * call changes a tool call without a result. It is created if the log was not read from its beginning.
   * @param {string | number | undefined} turn @param {string} id @param {Partial<Block>} to @param {Partial<import("../types.d.ts").Call>} call
   */
  #call(turn, id, to, call) {
    let b = this.#open(id);
    if (!b) {
      this.#drop((old) => old.id === `c:${id}`);
      b = { id: `c:${id}`, kind: "call", seq: "0", turn: num(turn), state: "to_run", text: "", detail: "" };
    }
    const before = b.call ?? { id, tool: "", arguments: "" };
    this.#put({ ...b, ...to, call: { ...before, ...call, tool: call.tool || before.tool } });
  }

  /** @param {Entry} e @param {string} code @param {string} text @param {Image[]} [images] */
  #notice(e, code, text, images) {
    this.#put(block(e, `e${num(e.seq)}`, "notice", { code, text, images }));
  }

  /** @param {Entry} e @param {NonNullable<Entry["alert"]>} a */
  #alert(e, a) {
    if (repeats(a)) return;
    const alert = { seq: num(a.seq), level: named(a.level, "ALERT_LEVEL_"), source: a.source ?? "", count: num(a.count) };
    this.#put(block(e, `e${num(e.seq)}`, "alert", { text: a.text ?? "", alert }));
  }

  /** ended ends the turn and its unfinished blocks. @param {Entry} e @param {NonNullable<Entry["turnEnded"]>} end */
  #ended(e, end) {
    this.#drop(isLive);
    // A turn that ends before its first request has no message of the user.
    for (const id of this.#claimed) {
      const b = this.#blocks.find((b) => b.state === "queued" && b.id === `s:${id}`);
      if (b) this.#user(e, b.id, b.text, b.images, b.seq);
    }
    this.#claimed = [];
    for (const b of this.#blocks) {
      if (b.kind === "call" && b.call && isOpen(b)) this.#put({ ...b, state: "failed", call: { ...b.call, question: undefined } });
    }
    const u = end.usage ?? {};
    const usage = {
      input_tokens: num(u.inputTokens),
      cached_input_tokens: num(u.cachedInputTokens),
      cache_write_tokens: num(u.cacheWriteTokens),
      output_tokens: num(u.outputTokens),
      reasoning_tokens: num(u.reasoningTokens),
      requests: num(u.requests),
    };
    const outcome = named(end.outcome, "OUTCOME_");
    this.#put(block(e, `e${num(e.seq)}`, "end", { text: end.cause ?? "", end: { outcome, reason: end.reason ?? "", steps: end.steps ?? 0, usage } }));
  }

  /** delta adds a fragment. @param {Delta} d */
  #delta(d) {
    if (d.restarted) {
      if (this.#drop((b) => isLive(b) && b.turn === num(d.turn) && this.#steps.get(b.id) === (d.step ?? 0))) {
        const id = `t${num(d.turn)}.${d.step ?? 0}:cut${++this.#cuts}`;
        this.#put({ id, kind: "notice", seq: "0", turn: num(d.turn), state: "done", text: d.text ?? "", detail: "", code: "cut" });
      }
      return;
    }
    if (this.#isLost) {
      // podd has not sent the live text again: it was discarded.
      this.#drop(isLive);
      this.#isLost = false;
    }
    this.#grow(d, false);
  }

  /** inFlight replaces the live text with all text so far. @param {Delta[]} all */
  #inFlight(all) {
    this.#isLost = false;
    this.#drop((b) => isLive(b) && !all.some((d) => b.id === liveId(d)));
    for (const d of all) this.#grow(d, true);
  }

  /** hide marks live blocks as lost: podd's next messages say which of them continue. */
  #hide() {
    for (const b of this.#blocks) {
      if (isLive(b) && b.state !== "lost") this.#put({ ...b, state: "lost" });
    }
  }

  /** grow adds text to the block of a fragment, or replaces all of its text. @param {Delta} d @param {boolean} whole */
  #grow(d, whole) {
    const { callId = "", tool = "", text = "" } = d;
    if (d.kind === "DELTA_KIND_TOOL_OUTPUT") {
      if (this.#blocks.some((b) => b.id === `c:${callId}` && !isOpen(b))) return;
      const so = ((whole ? "" : this.#open(callId)?.detail) ?? "") + text;
      this.#call(d.turn, callId, { state: "running", detail: so.length > maxOutput ? so.slice(-maxOutput / 2) : so }, { tool });
      return;
    }
    const as = liveKinds[d.kind ?? ""];
    const id = liveId(d);
    const b = this.#blocks.findLast((b) => b.id === id && isLive(b));
    if (!as || (!b && !text && as.kind !== "call")) return;
    if (!b) this.#steps.set(id, d.step ?? 0);
    const so = ((whole ? "" : b?.[as.grows]) ?? "") + text;
    /** @type {Block} */
    const made = b ?? { id, kind: as.kind, seq: "0", turn: num(d.turn), state: as.state, text: "", detail: "" };
    const call = as.kind === "call" ? { call: { id, arguments: "", tool: tool || made.call?.tool || "" } } : {};
    this.#put({ ...made, ...call, state: as.state, [as.grows]: so });
  }

  /** finished returns the oldest live block of a kind in the entry's turn, which the entry finishes. @param {Entry} e @param {Block["kind"]} kind */
  #finished(e, kind) {
    return this.#blocks.find((b) => isLive(b) && b.kind === kind && b.turn === num(e.turn));
  }
}

/** @param {Entry} e @param {string} id @param {Block["kind"]} kind @param {Partial<Block>} more @returns {Block} */
function block(e, id, kind, more) {
  return { id, kind, seq: num(e.seq), turn: num(e.turn), state: "done", text: "", detail: "", ...more };
}

/**
 * repeats says that another entry says the same: how a turn ended, or that a call waits. An
 * alert without a reason may be from before reasons existed.
 * @param {NonNullable<Entry["alert"]>} a
 */
function repeats(a) {
  if (a.reason) return a.reason === "TURN_ENDED" || a.reason === "APPROVAL_WAITS";
  return a.source === "approval" || (a.source === "turn" && a.level === "ALERT_LEVEL_INFO");
}

/** num is a number of the JSON, which leaves zero out, in decimal. @param {string | number | undefined} n */
const num = (n) => String(n ?? 0);

/** named is the name of an enum's value without the enum's. @param {string | undefined} value @param {string} prefix */
const named = (value, prefix) => (value ?? `${prefix}UNSPECIFIED`).replace(prefix, "").toLowerCase();

/** hex is base64 in hexadecimal. @param {string} base64 */
const hex = (base64) => Array.from(atob(base64), (c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("");
