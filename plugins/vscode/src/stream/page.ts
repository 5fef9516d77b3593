import { type Block, type Change, picture } from "../../../transcript/transcript";
import { type Piece, rendered } from "./markdown";
import { visible } from "./visible";

/** PageBlock is a block as the page shows it. Its texts have no hidden characters. */
export interface PageBlock {
  /** Unique in the transcript. */
  id: string;
  kind: "user" | "assistant" | "reasoning" | "tool" | "note" | "alert" | "end";
  /** The text; for a tool its summary or, while it runs, nothing. */
  text: string;
  /** For an answer: its text as Markdown. */
  markdown?: Piece[];
  /** Folded at first: a tool's output, a file, reasoning. */
  detail?: string;
  /** For a tool: its name and its arguments. */
  tool?: string;
  arguments?: string;
  /** For a tool: its state; otherwise: whether it is still being written. */
  state?: "writing" | "waiting" | "running" | "done" | "error" | "live" | "queued";
  /** For a waiting tool: the question, and the digest of exactly what is shown, in hexadecimal. */
  question?: string;
  callId?: string;
  digest?: string;
  /** For a waiting tool: of how many files the extension can show what it would make of them. */
  files?: number;
  level?: string;
  /** The pictures: a line about each, and the digest by which the page asks for it. */
  pictures?: { line: string; digest: string }[];
}

/** PageChange is a change in the page's form. */
export interface PageChange {
  put: PageBlock[];
  drop: string[];
}

/** pageChange turns a change into the page's: lost blocks stay hidden until podd sends them again. */
export function pageChange(c: Change): PageChange {
  const lost = c.put.filter((b) => b.state === "lost").map((b) => b.id);
  return { put: c.put.filter((b) => b.state !== "lost").map(pageBlock), drop: [...c.drop, ...lost] };
}

const toolStates = { writing: "writing", to_run: "writing", asks: "waiting", running: "running", done: "done", failed: "error" } as const;

export function pageBlock(b: Block): PageBlock {
  const pictures = b.images?.map((i) => ({ line: visible(picture(i)), digest: i.digest }));
  return { ...content(b), ...(pictures && { pictures }) };
}

function content(b: Block): PageBlock {
  const id = b.id;
  const text = visible(b.text);
  switch (b.kind) {
    case "user":
      return { id, kind: "user", text, state: b.state === "queued" ? "queued" : undefined };
    case "answer":
      return { id, kind: "assistant", text, markdown: rendered(b.text), state: b.state === "live" ? "live" : undefined };
    case "thought":
      return { id, kind: "reasoning", text: "reasoning", detail: text, state: b.state === "live" ? "live" : undefined };
    case "call":
      return {
        id, kind: "tool", text,
        tool: visible(b.call!.tool),
        arguments: visible(b.state === "writing" ? b.detail : b.call!.arguments),
        detail: b.state === "writing" ? undefined : visible(b.detail),
        state: toolStates[b.state as keyof typeof toolStates],
        callId: b.call!.id,
        question: b.call!.question && visible(b.call!.question.text),
        digest: b.call!.question?.digest,
        files: b.call!.question?.files,
      };
    case "alert":
      return { id, kind: "alert", text, level: b.alert!.level };
    case "end":
      return { id, kind: "end", text: ending(b, text) };
    case "notice": {
      const first = text.split("\n", 1)[0]!;
      return { id, kind: "note", text: first, detail: first === text ? undefined : text };
    }
  }
}

function ending(b: Block, cause: string): string {
  const { outcome, steps, usage: u } = b.end!;
  const spent = ` · ${steps} ${steps === 1 ? "step" : "steps"} · ${u["input_tokens"]} tokens in, ${u["output_tokens"]} out`;
  return `turn ${b.turn} ${outcome || "ended"}${cause ? `: ${cause}` : ""}${steps ? spent : ""}`;
}
