import { type Alert, AlertLevel, type Entry, Outcome } from "../vscode/src/gen/podd/v1/entry";
import type { Image as Picture, Item } from "../vscode/src/gen/podd/v1/item";
import { type Delta, DeltaKind, type StreamResponse } from "../vscode/src/gen/podd/v1/pod";

export type State = "queued" | "live" | "lost" | "done" | "writing" | "to_run" | "asks" | "running" | "failed";

/** Question is the approval question about a call; digest identifies exactly what will run, in hexadecimal. */
export interface Question {
  text: string;
  digest: string;
  call_seq: string;
  /** How many files a preview of the call shows. */
  files?: number;
}

export interface Call {
  id: string;
  tool: string;
  arguments: string;
  question?: Question;
  duration_ms?: number;
}

/** Image describes a picture of a block; GetImage returns its bytes by the digest. */
export interface Image {
  name: string;
  media_type: string;
  width: number;
  height: number;
  bytes: string;
  digest: string;
}

/** Block is one piece of a transcript; docs/bridge.md has its fields. A block never changes; it is replaced. */
export interface Block {
  id: string;
  kind: "user" | "answer" | "thought" | "call" | "notice" | "alert" | "end";
  seq: string;
  turn: string;
  state: State;
  text: string;
  detail: string;
  code?: string;
  /** The pictures of a prompt, a notice or a result. */
  images?: Image[];
  call?: Call;
  alert?: { seq: string; level: string; source: string; count: string };
  end?: { outcome: string; reason: string; steps: number; usage: Record<string, string> };
}

/** Change is the effect of a message: removed blocks, then new ones, which go to the end, and changed ones, which stay in place. */
export interface Change {
  drop: string[];
  put: Block[];
}

/** The length up to which the output of a running call is kept: its end. */
const maxOutput = 1 << 20;

const isLive = (b: Block) => b.state === "live" || b.state === "writing" || b.state === "lost";
const isOpen = (b: Block) => b.state !== "done" && b.state !== "failed";

/**
 * Transcript folds a stream into blocks, as pkg/transcript does in Go: both pass the cases
 * of its testdata. Give it each message once and in order.
 */
export class Transcript {
  private blocks: Block[] = [];
  /** The steps of live blocks, by their ids. */
  private readonly steps = new Map<string, number>();
  /** The running turn's submits whose message has not arrived. */
  private claimed: string[] = [];
  private isLost = false;
  private cuts = 0;
  private change: Change = { drop: [], put: [] };

  /** all returns the blocks to show, in order. */
  all(): Block[] {
    return this.blocks.filter((b) => b.state !== "lost");
  }

  /** lost says that the stream broke: after the next caught_up, live text either continues or is dropped. */
  lost(): void {
    this.isLost = true;
  }

  /** take applies the next message and returns its effect. */
  take(m: StreamResponse): Change {
    this.change = { drop: [], put: [] };
    switch (m.kind?.$case) {
      case "entry":
        this.entry(m.kind.value);
        break;
      case "delta":
        this.delta(m.kind.value);
        break;
      case "inFlight":
        this.inFlight(m.kind.value.blocks);
        break;
      case "caughtUp":
        if (this.isLost) this.hide();
        break;
    }
    return this.change;
  }

  /** put shows a block, in place of the one with its id, otherwise at the end. */
  private put(b: Block): void {
    const at = this.blocks.findIndex((other) => other.id === b.id);
    if (at >= 0) this.blocks[at] = b;
    else this.blocks.push(b);
    this.change.put.push(b);
  }

  private drop(gone: (b: Block) => boolean): boolean {
    const dropped = this.blocks.filter(gone).map((b) => b.id);
    this.blocks = this.blocks.filter((b) => !dropped.includes(b.id));
    this.change.drop.push(...dropped);
    return dropped.length > 0;
  }

  private entry(e: Entry): void {
    switch (e.kind?.$case) {
      case "submitted": {
        const { requestId, text, segments } = e.kind.value;
        const images = pictures(segments.flatMap((s) => (s.kind?.$case === "image" ? [s.kind.value.image ?? noImage] : [])));
        this.put(block(e, `s:${requestId}`, "user", { turn: "0", state: "queued", text, images }));
        break;
      }
      case "turnStarted":
        this.claimed = [...e.kind.value.requestIds];
        break;
      case "promoted":
        this.claimed.push(...e.kind.value.requestIds);
        break;
      case "withdrawn": {
        const ids = e.kind.value.requestIds.map((id) => `s:${id}`);
        this.drop((b) => b.state === "queued" && ids.includes(b.id));
        this.notice(e, "withdrawn", "a queued prompt was removed");
        break;
      }
      case "item":
        this.item(e, e.kind.value);
        break;
      case "toolStarted":
        this.call(e.turn, e.kind.value.callId, { state: "running" }, { tool: e.kind.value.tool, arguments: e.kind.value.arguments, question: undefined });
        break;
      case "approvalRequested": {
        const { callId, tool, question, arguments: args, digest, previews } = e.kind.value;
        const call_seq = this.open(callId)?.seq ?? "0";
        this.call(e.turn, callId, { state: "asks" }, { tool, arguments: args, question: { text: question, digest: Buffer.from(digest).toString("hex"), call_seq, files: previews.length || undefined } });
        break;
      }
      case "approvalResolved": {
        const { callId, approved, by, reason } = e.kind.value;
        if (this.open(callId)?.state === "asks") this.call(e.turn, callId, { state: "to_run" }, { question: undefined });
        const code = approved ? "approved" : "denied";
        this.notice(e, code, `${code}${by && ` by ${by}`}${reason && `: ${reason}`}`);
        break;
      }
      case "alert":
        this.alert(e, e.kind.value);
        break;
      case "recovered":
        // The turn repeats its step, perhaps with the same words.
        this.isLost = true;
        this.hide();
        break;
      case "turnEnded":
        this.ended(e);
        break;
      case "compaction":
        this.notice(e, "compaction", "the conversation above is sent to the model as a summary from now on");
        break;
      case "rewind":
        this.notice(e, "rewind", `rewound to entry ${e.kind.value.toSeq}; the model no longer sees later entries`);
        break;
      case "restore": {
        const { ended, changed, kept } = e.kind.value;
        if (!ended) break;
        const also = kept.length ? `, ${paths(kept.length)} kept, because somebody changed them since` : "";
        this.notice(e, "restore", `changes of files were taken back: ${paths(changed)} changed${also}`);
        break;
      }
      case "purged":
        this.notice(e, "purged", `older entries were removed: ${e.kind.value.reason}`);
        break;
    }
  }

  private item(e: Entry, it: Item): void {
    switch (it.kind?.$case) {
      case "userMessage": {
        const claimed = this.claimed.shift();
        this.user(e, claimed === undefined ? `e${e.seq}` : `s:${claimed}`, it.kind.value.text, pictures(it.kind.value.images));
        break;
      }
      case "assistantMessage":
        this.message(e, "answer", it.kind.value.text);
        break;
      case "reasoning":
        this.message(e, "thought", it.kind.value.text);
        break;
      case "systemMessage": {
        const { origin, text, images } = it.kind.value;
        // The day, the schema of an answer and the like are for the model.
        if (!["state", "answer_schema"].includes(origin)) this.notice(e, origin, text, pictures(images));
        break;
      }
      case "toolCall": {
        const { callId, name, arguments: args } = it.kind.value;
        const written = this.finished(e.turn, "call");
        this.drop((b) => b === written);
        this.call(e.turn, callId, { seq: String(e.seq) }, { tool: name, arguments: args });
        break;
      }
      case "toolResult": {
        const { callId, tool, summary, content, isError, durationMs, images } = it.kind.value;
        const state = isError ? "failed" : "done";
        this.call(e.turn, callId, { state, text: summary, detail: content, images: pictures(images) }, { tool, question: undefined, duration_ms: durationMs || undefined });
        break;
      }
    }
  }

  /** user shows a message of the user in its place in the conversation. */
  private user(e: Entry, id: string, text: string, images: Image[] | undefined, seq = String(e.seq)): void {
    this.drop((b) => b.id === id);
    this.put(block(e, id, "user", { seq, text, images }));
  }

  /** message adds a finished message, which replaces the live one. A message without text gets no block. */
  private message(e: Entry, kind: "answer" | "thought", text: string): void {
    const live = this.finished(e.turn, kind);
    if (text) this.put(block(e, live?.id ?? `e${e.seq}`, kind, { text }));
    else this.drop((b) => b === live);
  }

  private open(callId: string): Block | undefined {
    return this.blocks.findLast((b) => b.call?.id === callId && isOpen(b) && !isLive(b));
  }

  /** call changes a tool call without a result. It is created if the log was not read from its beginning. */
  private call(turn: number, id: string, to: Partial<Block>, call: Partial<Call>): void {
    let b = this.open(id);
    if (!b) {
      this.drop((old) => old.id === `c:${id}`);
      b = { id: `c:${id}`, kind: "call", seq: "0", turn: String(turn), state: "to_run", text: "", detail: "", call: { id, tool: "", arguments: "" } };
    }
    this.put({ ...b, ...to, call: { ...b.call!, ...call, tool: call.tool || b.call!.tool } });
  }

  private notice(e: Entry, code: string, text: string, images?: Image[]): void {
    this.put(block(e, `e${e.seq}`, "notice", { code, text, images }));
  }

  private alert(e: Entry, a: Alert): void {
    if (repeats(a)) return;
    const level = AlertLevel[a.level]?.toLowerCase() ?? "";
    this.put(block(e, `e${e.seq}`, "alert", { text: a.text, alert: { seq: String(a.seq), level, source: a.source, count: String(a.count) } }));
  }

  /** ended ends the turn and its unfinished blocks. */
  private ended(e: Entry): void {
    if (e.kind?.$case !== "turnEnded") return;
    this.drop(isLive);
    // A turn that ends before its first request has no message of the user.
    for (const id of this.claimed) {
      const b = this.blocks.find((b) => b.state === "queued" && b.id === `s:${id}`);
      if (b) this.user(e, b.id, b.text, b.images, b.seq);
    }
    this.claimed = [];
    for (const b of this.blocks) {
      if (b.kind === "call" && isOpen(b)) this.put({ ...b, state: "failed", call: { ...b.call!, question: undefined } });
    }
    const { outcome, reason, cause, steps, usage: u } = e.kind.value;
    const usage = {
      input_tokens: String(u?.inputTokens ?? 0),
      cached_input_tokens: String(u?.cachedInputTokens ?? 0),
      cache_write_tokens: String(u?.cacheWriteTokens ?? 0),
      output_tokens: String(u?.outputTokens ?? 0),
      reasoning_tokens: String(u?.reasoningTokens ?? 0),
      requests: String(u?.requests ?? 0),
    };
    this.put(block(e, `e${e.seq}`, "end", { text: cause, end: { outcome: Outcome[outcome]?.toLowerCase() ?? "", reason, steps, usage } }));
  }

  /** delta adds a fragment. */
  private delta(d: Delta): void {
    if (d.restarted) {
      if (this.drop((b) => isLive(b) && b.turn === String(d.turn) && this.steps.get(b.id) === d.step)) {
        const id = `t${d.turn}.${d.step}:cut${++this.cuts}`;
        this.put({ id, kind: "notice", seq: "0", turn: String(d.turn), state: "done", text: d.text, detail: "", code: "cut" });
      }
      return;
    }
    if (this.isLost) {
      // podd has not sent the live text again: it was discarded.
      this.drop(isLive);
      this.isLost = false;
    }
    this.grow(d, false);
  }

  /** inFlight replaces the live text with all text so far. */
  private inFlight(all: Delta[]): void {
    this.isLost = false;
    this.drop((b) => isLive(b) && !all.some((d) => b.id === liveId(d)));
    for (const d of all) this.grow(d, true);
  }

  /** hide marks live blocks as lost: podd's next messages say which of them continue. */
  private hide(): void {
    for (const b of this.blocks) {
      if (isLive(b) && b.state !== "lost") this.put({ ...b, state: "lost" });
    }
  }

  /** grow adds text to the block of a fragment, or replaces all of its text. */
  private grow(d: Delta, whole: boolean): void {
    if (d.kind === DeltaKind.TOOL_OUTPUT) {
      if (this.blocks.some((b) => b.id === `c:${d.callId}` && !isOpen(b))) return;
      const so = ((whole ? "" : this.open(d.callId)?.detail) ?? "") + d.text;
      this.call(d.turn, d.callId, { state: "running", detail: so.length > maxOutput ? so.slice(-maxOutput / 2) : so }, { tool: d.tool });
      return;
    }
    const as = liveKinds[d.kind];
    const id = liveId(d);
    const b = this.blocks.find((b) => b.id === id && isLive(b));
    if (!as || (!b && !d.text && as.kind !== "call")) return;
    if (!b) this.steps.set(id, d.step);
    const so = ((whole ? "" : b?.[as.grows]) ?? "") + d.text;
    const made: Block = b ?? { id, kind: as.kind, seq: "0", turn: String(d.turn), state: as.state, text: "", detail: "" };
    const call = as.kind === "call" ? { call: { id, arguments: "", tool: d.tool || made.call?.tool || "" } } : {};
    this.put({ ...made, ...call, state: as.state, [as.grows]: so });
  }

  /** finished returns the oldest live block of a kind and turn, for the entry that finishes it. */
  private finished(turn: number, kind: Block["kind"]): Block | undefined {
    return this.blocks.find((b) => isLive(b) && b.kind === kind && b.turn === String(turn));
  }
}

const liveKinds: Partial<Record<DeltaKind, { kind: "answer" | "thought" | "call"; state: State; grows: "text" | "detail" }>> = {
  [DeltaKind.TEXT]: { kind: "answer", state: "live", grows: "text" },
  [DeltaKind.REASONING]: { kind: "thought", state: "live", grows: "text" },
  [DeltaKind.TOOL_ARGUMENTS]: { kind: "call", state: "writing", grows: "detail" },
};

/** noImage is what an image is without a description. */
const noImage: Picture = { name: "", mediaType: "", width: 0, height: 0, bytes: 0, digest: "" };

/** pictures are descriptions of images; undefined if there are none. */
function pictures(list: Picture[]): Image[] | undefined {
  if (list.length === 0) return undefined;
  return list.map((i) => ({ name: i.name, media_type: i.mediaType, width: i.width, height: i.height, bytes: String(i.bytes), digest: i.digest }));
}

/** picture describes an image in a line: [picture shot.png, PNG 800×600, 41 KB]. */
export function picture(i: Image): string {
  const bytes = Number(i.bytes);
  const size = bytes < 1000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} KB`;
  const format = i.media_type.replace(/^image\//, "").toUpperCase();
  return `[picture ${i.name || "without a name"}, ${format} ${i.width}×${i.height}, ${size}]`;
}

const paths = (n: number | string) => (Number(n) === 1 ? "1 path" : `${n} paths`);
const liveId = (d: Delta) => `t${d.turn}:${d.block}`;

function block(e: Entry, id: string, kind: Block["kind"], more: Partial<Block>): Block {
  return { id, kind, seq: String(e.seq), turn: String(e.turn), state: "done", text: "", detail: "", ...more };
}

/**
 * repeats says that another entry says the same: how a turn ended, or that a call waits. An
 * alert without a reason may be from before reasons existed.
 */
function repeats(a: Alert): boolean {
  if (a.reason) return a.reason === "TURN_ENDED" || a.reason === "APPROVAL_WAITS";
  return a.source === "approval" || (a.source === "turn" && a.level === AlertLevel.INFO);
}
