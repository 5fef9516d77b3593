import type { PageBlock, PageChange } from "./page";

/** Kept is which pod a page shows. */
export interface Kept {
  pod: string;
  name: string;
}

/** What the extension tells the page. */
export type ToPage =
  /** What the page keeps, so that its tab finds its pod again when the window is loaded again. */
  | { type: "keep"; state: Kept }
  | { type: "reset"; blocks: PageBlock[] }
  | ({ type: "change" } & PageChange)
  | { type: "state"; text: string; busy: boolean }
  | { type: "paths"; prefix: string; paths: string[] };

/** What the page tells the extension. */
export type FromPage =
  | { type: "ready" }
  | { type: "submit"; text: string; steer: boolean }
  | { type: "complete"; prefix: string }
  | { type: "answer"; callId: string; digest: string; approve: boolean; always: boolean }
  | { type: "cancel" };
