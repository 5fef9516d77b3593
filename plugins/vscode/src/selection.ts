import type { Segment } from "./gen/podd/v1/item";

/** Selected is what a person has selected in an editor. */
export interface Selected {
  text: string;
  /** Path of the file in the pod's workspace; empty if it is elsewhere or not saved. */
  path: string;
  /** What the file is called. */
  name: string;
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
    : { kind: { $case: "paste", value: { text: s.text, name: pasteName(s) } } };
  return [...said, what];
}

/** pasteName says what a paste is, in less than the 256 bytes that podd takes. */
function pasteName(s: Selected): string {
  return `${s.name.slice(-50)}:${s.start}-${s.end}, as it is in the editor`;
}
