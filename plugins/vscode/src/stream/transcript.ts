import { type Alert, AlertLevel, type Entry, Outcome } from "../gen/podd/v1/entry";
import type { Item, Segment } from "../gen/podd/v1/item";
import { type Delta, DeltaKind, type StreamResponse } from "../gen/podd/v1/pod";
import { visible } from "./visible";

/** Block is one piece of what the stream view shows. */
export interface Block {
  /** Unique in the transcript. */
  id: string;
  kind: "user" | "assistant" | "reasoning" | "tool" | "note" | "alert" | "end";
  /** The text; for a tool its summary or, while it runs, nothing. */
  text: string;
  /** What is folded away at first: a tool's output, a file, reasoning. */
  detail?: string;
  /** For a tool: its name and what it was called with. */
  tool?: string;
  arguments?: string;
  /** For a tool: where it is; for the rest: whether it is still being written. */
  state?: "writing" | "waiting" | "running" | "done" | "error" | "live" | "queued";
  /** For a tool that waits: the sequence that an answer names, and what is asked. */
  question?: string;
  callId?: string;
  /** For a tool that waits: the digest of exactly what is shown, in hexadecimal. */
  digest?: string;
  level?: "info" | "warn" | "error";
}

/**
 * Change is what a message changed: ids that are gone, and then blocks that are new or other.
 * A block that moves to the end is in both.
 */
export interface Change {
  put: Block[];
  drop: string[];
}

/**
 * Transcript turns a pod's log into blocks. It does not know how they are shown. Give it
 * each message of a stream once and in order.
 */
export class Transcript {
  private blocks = new Map<string, Block>();
  private order = new Map<string, number>();
  private put = new Set<string>();
  private drop = new Set<string>();
  private sequence = 0;

  /** all gives every block in the order in which they are shown. */
  all(): Block[] {
    return [...this.blocks.values()].sort((a, b) => this.order.get(a.id)! - this.order.get(b.id)!).map(plain);
  }

  /** take takes the next message and says what it changed. */
  take(m: StreamResponse): Change {
    switch (m.kind?.$case) {
      case "entry":
        this.entry(m.kind.value);
        break;
      case "delta":
        this.delta(m.kind.value, false);
        break;
      case "inFlight":
        this.forget(() => true);
        for (const d of m.kind.value.blocks) this.delta(d, true);
        break;
    }
    return this.flush();
  }

  /** lost forgets what was unfinished when the stream broke: it comes anew. */
  lost(): Change {
    this.forget(() => true);
    return this.flush();
  }

  private flush(): Change {
    const change = {
      put: [...this.put].map((id) => plain(this.blocks.get(id)!)),
      drop: [...this.drop],
    };
    this.put.clear();
    this.drop.clear();
    return change;
  }

  private set(b: Block): void {
    if (!this.blocks.has(b.id)) this.order.set(b.id, this.sequence++);
    this.blocks.set(b.id, b);
    this.put.add(b.id);
  }

  private change(id: string, to: Partial<Block>): void {
    const b = this.blocks.get(id);
    if (b) this.set({ ...b, ...to });
  }

  private remove(id: string): void {
    if (!this.blocks.delete(id)) return;
    this.order.delete(id);
    this.put.delete(id);
    this.drop.add(id);
  }

  private entry(e: Entry): void {
    const id = `e${e.seq}`;
    switch (e.kind?.$case) {
      case "submitted": {
        const { requestId, segments, text } = e.kind.value;
        this.set({ id: `u${requestId}`, kind: "user", text: text || spoken(segments), state: "queued" });
        break;
      }
      case "turnStarted":
      case "promoted":
        for (const request of e.kind.value.requestIds) this.join(`u${request}`);
        break;
      case "withdrawn":
        for (const request of e.kind.value.requestIds) this.remove(`u${request}`);
        break;
      case "item":
        this.item(id, e.turn, e.kind.value);
        break;
      case "toolStarted":
        this.change(`c${e.kind.value.callId}`, { state: "running", arguments: e.kind.value.arguments, question: undefined });
        break;
      case "approvalRequested":
        this.change(`c${e.kind.value.callId}`, {
          state: "waiting",
          question: e.kind.value.question,
          arguments: e.kind.value.arguments,
          callId: e.kind.value.callId,
          digest: Buffer.from(e.kind.value.digest).toString("hex"),
        });
        break;
      case "approvalResolved": {
        const { callId, approved, by, reason } = e.kind.value;
        this.change(`c${callId}`, { state: "running", question: undefined });
        this.note(id, `${approved ? "approved" : "denied"} by ${by}${reason ? `: ${reason}` : ""}`);
        break;
      }
      case "turnEnded":
        this.ended(id, e);
        break;
      case "compaction":
        this.note(id, `a summary stands for the entries up to ${e.kind.value.upToSeq}`, content(e.kind.value.summary));
        break;
      case "rewind":
        this.note(id, `history goes on from entry ${e.kind.value.toSeq}; what came after it is not sent any more`);
        break;
      case "note":
        this.note(id, e.kind.value.text);
        break;
      case "purged":
        this.note(id, `${e.kind.value.entries} older entries were removed: ${e.kind.value.reason}`);
        break;
      case "alert":
        if (repeats(e.kind.value)) break;
        this.set({ id, kind: "alert", text: e.kind.value.text, level: levels[e.kind.value.level] ?? "info" });
        break;
    }
  }

  /** A submit joins the conversation where its turn begins. */
  private join(id: string): void {
    const b = this.blocks.get(id);
    if (!b) return;
    this.remove(id);
    this.set({ ...b, state: undefined });
  }

  private item(id: string, turn: number, it: Item): void {
    switch (it.kind?.$case) {
      case "assistantMessage":
        this.finish(`t${turn}/`, DeltaKind.TEXT);
        this.set({ id, kind: "assistant", text: it.kind.value.text });
        break;
      case "reasoning":
        this.finish(`t${turn}/`, DeltaKind.REASONING);
        if (it.kind.value.text) this.set({ id, kind: "reasoning", text: "reasoning", detail: it.kind.value.text });
        break;
      case "toolCall": {
        const { callId, name, arguments: args } = it.kind.value;
        this.finish(`t${turn}/`, DeltaKind.TOOL_ARGUMENTS);
        this.set({ id: `c${callId}`, kind: "tool", text: "", tool: name, arguments: args, state: "writing", callId });
        break;
      }
      case "toolResult": {
        const { callId, summary, content: detail, isError } = it.kind.value;
        this.change(`c${callId}`, { text: summary, detail, state: isError ? "error" : "done", question: undefined });
        break;
      }
      case "systemMessage":
        this.note(id, it.kind.value.text.split("\n", 1)[0]!, it.kind.value.text);
        break;
      // A user message says what its submit said.
    }
  }

  private ended(id: string, e: Entry): void {
    this.forget((b) => b.startsWith(`t${e.turn}/`));
    for (const b of this.blocks.values()) {
      if (b.state === "writing" || b.state === "waiting" || b.state === "running") {
        this.change(b.id, { state: "error", question: undefined });
      }
    }
    if (e.kind?.$case !== "turnEnded") return;
    const { outcome, cause, usage, steps } = e.kind.value;
    const said = outcome === Outcome.FINISHED ? "finished" : (Outcome[outcome] ?? "ended").toLowerCase();
    const spent = usage ? ` · ${steps} ${steps === 1 ? "step" : "steps"} · ${usage.inputTokens} tokens in, ${usage.outputTokens} out` : "";
    this.set({ id, kind: "end", text: `turn ${e.turn} ${said}${cause ? `: ${cause}` : ""}${spent}` });
  }

  private note(id: string, text: string, detail?: string): void {
    this.set({ id, kind: "note", text, detail: detail === text ? undefined : detail });
  }

  private delta(d: Delta, whole: boolean): void {
    if (d.restarted) {
      this.forget((id) => id.startsWith(`t${d.turn}/${d.step}/`));
      return;
    }
    if (d.kind === DeltaKind.TOOL_OUTPUT || d.kind === DeltaKind.TOOL_ARGUMENTS) {
      this.toolDelta(d, whole);
      return;
    }
    const id = `t${d.turn}/${d.step}/${d.kind}/${d.block}`;
    const before = whole ? "" : (this.blocks.get(id)?.detail ?? this.blocks.get(id)?.text ?? "");
    if (d.kind === DeltaKind.REASONING) {
      this.set({ id, kind: "reasoning", text: "reasoning", detail: before + d.text, state: "live" });
    } else {
      this.set({ id, kind: "assistant", text: before + d.text, state: "live" });
    }
  }

  /** What a tool prints goes into its block; a call that is being written has one of its own. */
  private toolDelta(d: Delta, whole: boolean): void {
    const known = d.callId ? this.blocks.get(`c${d.callId}`) : undefined;
    if (d.kind === DeltaKind.TOOL_OUTPUT) {
      if (known) this.change(known.id, { detail: (whole ? "" : (known.detail ?? "")) + d.text });
      return;
    }
    const id = `t${d.turn}/${d.step}/${d.kind}/${d.block}`;
    const before = whole ? "" : (this.blocks.get(id)?.arguments ?? "");
    this.set({ id, kind: "tool", text: "", tool: d.tool, arguments: before + d.text, state: "writing" });
  }

  /** finish drops the first live block of a kind: its entry has come. */
  private finish(turn: string, kind: DeltaKind): void {
    const id = [...this.blocks.keys()].find((b) => b.startsWith(turn) && b.split("/")[2] === String(kind));
    if (id) this.remove(id);
  }

  private forget(which: (id: string) => boolean): void {
    for (const id of [...this.blocks.keys()]) {
      if (id.startsWith("t") && which(id)) this.remove(id);
    }
  }
}

/** plain is a block whose texts hide nothing. */
function plain(b: Block): Block {
  const p = { ...b, text: visible(b.text) };
  for (const key of ["detail", "tool", "arguments", "question"] as const) {
    if (p[key] !== undefined) p[key] = visible(p[key]);
  }
  return p;
}

const levels: Partial<Record<AlertLevel, Block["level"]>> = {
  [AlertLevel.INFO]: "info",
  [AlertLevel.WARN]: "warn",
  [AlertLevel.ERROR]: "error",
};

/**
 * repeats says that another entry says the same: how a turn ended, or that a call waits. An
 * alert without a reason may be older than reasons are.
 */
function repeats(a: Alert): boolean {
  if (a.reason !== "") return a.reason === "TURN_ENDED" || a.reason === "APPROVAL_WAITS";
  return a.source === "approval" || (a.source === "turn" && a.level === AlertLevel.INFO);
}

/** spoken is what segments say, in one text. */
function spoken(segments: Segment[]): string {
  return segments
    .map((s) => {
      switch (s.kind?.$case) {
        case "text":
        case "paste":
          return s.kind.value.text;
        case "fileRef":
          return `@${s.kind.value.path}`;
        default:
          return "";
      }
    })
    .join("");
}

function content(it: Item | undefined): string | undefined {
  return it?.kind?.$case === "systemMessage" ? it.kind.value.text : undefined;
}
