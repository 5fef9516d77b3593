import type { Block } from "./transcript";

/** What the extension tells the page. */
export type ToPage =
  | { type: "reset"; blocks: Block[] }
  | { type: "change"; put: Block[]; drop: string[] }
  | { type: "state"; text: string; running: boolean }
  | { type: "paths"; prefix: string; paths: string[] };

/** What the page tells the extension. */
export type FromPage =
  | { type: "ready" }
  | { type: "submit"; text: string; steer: boolean }
  | { type: "complete"; prefix: string }
  | { type: "answer"; callId: string; digest: string; approve: boolean; always: boolean }
  | { type: "cancel" };
