import type { Block, Change } from "../../../../internal/web/page/types";

/** Kept identifies the pod that a page shows. */
export interface Kept {
  pod: string;
  name: string;
}

/** Messages from the extension to the page. */
export type ToPage =
  /** The page's saved state, by which its tab finds its pod again after a reload of the window. */
  | { type: "keep"; state: Kept }
  | { type: "reset"; blocks: Block[] }
  | ({ type: "change" } & Change)
  /** An answer was given, or not after all: then its call asks on. */
  | { type: "answered" }
  /** A text was sent with images. */
  | { type: "sent"; text: string }
  | { type: "state"; text: string; busy: boolean; plan: boolean }
  /** A picture as a data URI. */
  | { type: "picture"; digest: string; uri: string }
  | { type: "paths"; prefix: string; paths: string[] };

/** Messages from the page to the extension. */
export type FromPage =
  | { type: "ready" }
  /** pasted is where the text has pasted @; missing if nowhere. */
  | { type: "submit"; text: string; pasted?: number[]; steer: boolean }
  /** Choose images and submit them with the text. */
  | { type: "image"; text: string; pasted?: number[] }
  | { type: "plan"; on: boolean }
  | { type: "complete"; prefix: string }
  /** Complete the name of a prompt; its prefix begins with the slash. */
  | { type: "names"; prefix: string }
  | { type: "answer"; callId: string; digest: string; approve: boolean; always: boolean }
  /** Ask the person what a call asks. */
  | { type: "form"; callId: string; digest: string; dismiss: boolean }
  /** Show what a call that waits would change. */
  | { type: "diff"; callId: string }
  /** Send a picture that has come into view. */
  | { type: "picture"; digest: string }
  | { type: "cancel" };
