import type { Segment } from "podd";
import { parts } from "../../../internal/web/page/transcript/written.js";

/** Selected is the selection in an editor. */
export interface Selected {
  text: string;
  /** Path of the file in the pod's workspace; empty if it is elsewhere or not saved. */
  path: string;
  /** The file's name. */
  name: string;
  /** First and last line, from 1. */
  start: number;
  end: number;
}

/**
 * segments is a message with the selection: as a reference to the file's lines, which podd
 * resolves, or as a paste if podd could not find them on disk.
 */
export function segments(message: string, s: Selected | undefined): Segment[] {
  const said: Segment[] = message ? [{ kind: { $case: "text", value: { text: `${message}\n` } } }] : [];
  if (!s) return said;
  const what: Segment = s.path
    ? { kind: { $case: "fileRef", value: { path: s.path, startLine: s.start, endLine: s.end } } }
    : { kind: { $case: "paste", value: { text: s.text, name: pasteName(s) } } };
  return [...said, what];
}

/** said is a message of a field, without the @ that were pasted: they add no file. */
export function said(text: string, pasted: number[] | undefined): Segment[] {
  return parts(text, pasted).map((p): Segment => ({ kind: p.pasted ? { $case: "paste", value: { text: p.text, name: "" } } : { $case: "text", value: { text: p.text } } }));
}

/** pasteName names a paste, in less than podd's limit of 256 bytes. */
function pasteName(s: Selected): string {
  return `${s.name.slice(-50)}:${s.start}-${s.end}, as it is in the editor`;
}
