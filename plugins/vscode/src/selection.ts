import type { Segment } from "./gen/podd/v1/item";

/** Selected is what a person has selected in an editor. */
export interface Selected {
  text: string;
  /** Path of the file below the pod's workspace; empty when it is not there or not saved. */
  path: string;
  /** First and last line, from 1. */
  start: number;
  end: number;
}

/**
 * segments is a message with what is selected: as a reference to the file's lines, which podd
 * resolves, or as a paste where podd could not find them on disk.
 */
export function segments(message: string, s: Selected | undefined): Segment[] {
  const said: Segment[] = message ? [{ kind: { $case: "text", value: { text: `${message}\n` } } }] : [];
  if (!s) return said;
  const what: Segment = s.path
    ? { kind: { $case: "fileRef", value: { path: s.path, startLine: s.start, endLine: s.end } } }
    : { kind: { $case: "paste", value: { text: s.text } } };
  return [...said, what];
}
