import type { StreamResponse as Message } from "../../../internal/web/page/types";
import { AlertLevel, Outcome } from "./gen/podd/v1/entry";
import { Recovery } from "./gen/podd/v1/item";
import { DeltaKind, type StreamResponse } from "./gen/podd/v1/pod";

/** The fields with a name of an enum, by their own names: the prefix of its values in JSON, and the values. */
const enums: Record<string, [prefix: string, names: Record<number, string>]> = {
  level: ["ALERT_LEVEL_", AlertLevel],
  outcome: ["OUTCOME_", Outcome],
  kind: ["DELTA_KIND_", DeltaKind],
  recovery: ["RECOVERY_", Recovery],
};

/** json is a message in protobuf's JSON, as the transcript reads it. */
export function json(m: StreamResponse): Message {
  return plain(m) as Message;
}

function plain(v: unknown): unknown {
  if (v instanceof Uint8Array) return Buffer.from(v).toString("base64");
  if (v instanceof Date) return v.toISOString();
  if (Array.isArray(v)) return v.map(plain);
  if (typeof v !== "object" || v === null) return v;
  return Object.fromEntries(Object.entries(v).map(([name, x]) => (isOneof(x) ? [x.$case, plain(x.value)] : [name, field(name, x)])));
}

const isOneof = (x: unknown): x is { $case: string; value: unknown } => typeof x === "object" && x !== null && "$case" in x;

function field(name: string, x: unknown): unknown {
  const found = typeof x === "number" ? enums[name] : undefined;
  return found ? `${found[0]}${found[1][x as number] ?? "UNSPECIFIED"}` : plain(x);
}
