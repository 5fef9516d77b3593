// The messages that the page reads, in protobuf's JSON: fields with their zero value are
// missing, 64-bit numbers are strings, enums are names, bytes are base64, times RFC 3339.

export interface Usage {
  inputTokens?: string;
  cachedInputTokens?: string;
  cacheWriteTokens?: string;
  outputTokens?: string;
  reasoningTokens?: string;
  requests?: string;
}

export interface Pod {
  id: string;
  name: string;
  spec?: { dir?: string; checkout?: { source?: string; branch?: string }; model?: string; parent?: string; parentCall?: string; plan?: boolean };
  state?: string;
  stateReason?: string;
  lastOutcome?: string;
  checkFailed?: boolean;
  turn?: string;
  firstSeq?: string;
  lastSeq?: string;
  queued?: number;
  /** How many waiting calls ask for an answer. */
  questions?: number;
  /** How many letters no turn has taken. */
  letters?: number;
  usage?: Usage;
  createdAt?: string;
  lastActivity?: string;
  pause?: { reason?: string; until?: string };
  waitUntil?: string;
  jobs?: number;
  node?: string;
}

export interface Work {
  turnBegan?: string;
  tools?: string[];
  tokensPerSecond?: number;
  contextTokens?: string;
  window?: string;
  turnCostUsd?: number;
  turnUnpricedRequests?: string;
  dayCostUsd?: number;
  dayUnpricedRequests?: string;
}

export interface WatchedPod {
  pod: Pod;
  approvals?: number;
  work?: Work;
}

export interface Preview {
  path?: string;
  diff?: string;
  movesTo?: string;
  deletes?: boolean;
  omitted?: string;
  runs?: boolean;
}

export interface Approval {
  pod: string;
  podName?: string;
  callSeq: string;
  callId: string;
  tool: string;
  arguments?: string;
  question?: string;
  time?: string;
  digest?: string;
  expires?: string;
  turn?: string;
  previews?: Preview[];
  /** What the running call asks; missing for an approval. */
  form?: Form;
}

export interface Form {
  from?: string;
  text?: string;
  questions?: FormQuestion[];
}

export interface FormQuestion {
  header?: string;
  text?: string;
  options?: { label?: string; description?: string }[];
  multiple?: boolean;
}

export interface FormReply {
  choices?: number[];
  text?: string;
}

/** An answer to a question. */
export interface ResolveApproval {
  approve?: boolean;
  reason?: string;
  replies?: FormReply[];
  dismiss?: boolean;
}

export interface Trigger {
  /** The pod's id. */
  pod: string;
  name: string;
  spec?: { prompt?: string };
  condition?: string;
  next?: string;
  paused?: string;
  firesToday?: string;
  spentTodayUsd?: number;
}

export interface Receipt {
  kind?: string;
  due?: string;
  count?: string;
  podName?: string;
  submittedSeq?: string;
  turn?: string;
  outcome?: string;
  cause?: string;
}

export interface Alert {
  seq: string;
  /** The pod's id; missing for podd itself. */
  pod?: string;
  level?: string;
  source?: string;
  text?: string;
  time?: string;
  count?: string;
  acked?: boolean;
  reason?: string;
}

/** The description of an image in the log. */
export interface Picture {
  name?: string;
  mediaType?: string;
  width?: number;
  height?: number;
  bytes?: string | number;
  digest?: string;
}

export interface Item {
  userMessage?: { text?: string; images?: Picture[] };
  systemMessage?: { origin?: string; text?: string; images?: Picture[] };
  assistantMessage?: { text?: string };
  reasoning?: { text?: string };
  toolCall?: { callId?: string; name?: string; arguments?: string };
  toolResult?: {
    callId?: string;
    tool?: string;
    summary?: string;
    content?: string;
    isError?: boolean;
    recovery?: string;
    durationMs?: string | number;
    images?: Picture[];
    diffs?: { path?: string; diff?: string }[];
  };
}

export interface Entry {
  seq?: string | number;
  time?: string;
  turn?: string | number;
  submitted?: { requestId?: string; text?: string; segments?: { image?: { image?: Picture } }[] };
  promoted?: { requestIds?: string[] };
  turnStarted?: { requestIds?: string[] };
  turnEnded?: { outcome?: string; cause?: string; reason?: string; steps?: number; usage?: { [name in keyof Usage]?: string | number }; costUsd?: number };
  item?: Item;
  toolStarted?: { callId?: string; tool?: string; arguments?: string };
  approvalRequested?: { callId?: string; digest?: string; question?: string; tool?: string; arguments?: string; previews?: Preview[]; form?: Form };
  approvalResolved?: { callId?: string; approved?: boolean; by?: string; reason?: string; key?: string; dismissed?: boolean; withdrawn?: boolean };
  compaction?: {};
  rewind?: { toSeq?: string | number };
  restore?: { ended?: boolean; changed?: string | number; kept?: string[] };
  wing?: { line?: string };
  recovered?: { reason?: string };
  alert?: { seq?: string | number; level?: string; source?: string; text?: string; count?: string | number; reason?: string };
  purged?: { reason?: string };
  withdrawn?: { requestIds?: string[] };
}

export interface Delta {
  turn?: string | number;
  step?: number;
  block?: string;
  kind?: string;
  callId?: string;
  tool?: string;
  text?: string;
  restarted?: boolean;
}

export interface StreamResponse {
  entry?: Entry;
  delta?: Delta;
  inFlight?: { blocks?: Delta[] };
  caughtUp?: { seq?: string | number };
}

export interface WatchResponse {
  pod?: WatchedPod;
  removed?: string;
  complete?: boolean;
  log?: StreamResponse;
  alert?: Alert;
  beat?: string;
}

export interface ChangedFile {
  path?: string;
  by?: string;
  /** What it was and what it is: file, link or dir; missing for nothing. */
  before?: string;
  after?: string;
  mode?: string;
  added?: string;
  removed?: string;
  diff?: string;
}

export interface SearchHit {
  pod: string;
  podName?: string;
  seq: string;
  turn?: string;
  time?: string;
  kind?: string;
  excerpt?: string;
  matchStart?: number;
  matchEnd?: number;
  takenBack?: boolean;
}

export interface UsageSum {
  day?: string;
  pod?: string;
  podName?: string;
  usage?: Usage;
  costUsd?: number;
  unpricedRequests?: string;
  largestInput?: string;
}

export interface UsageSeries {
  sums?: UsageSum[];
  firstDay?: string;
  lastDay?: string;
  damaged?: string[];
  purged?: string[];
}

export type State = "queued" | "live" | "lost" | "done" | "writing" | "to_run" | "asks" | "running" | "failed";

/** The approval question about a call, or what the running call asks; digest identifies exactly what will run, in hexadecimal. */
export interface Question {
  text: string;
  digest: string;
  call_seq: string;
  /** How many files the call would change by its previews, and how many previews show a file that it executes. */
  files?: number;
  runs?: number;
  /** The call runs and asks for an answer, not for an approval. */
  form?: boolean;
}

export interface Call {
  id: string;
  tool: string;
  arguments: string;
  question?: Question;
  duration_ms?: number;
}

/** A picture of a block; GetImage returns its bytes by the digest. */
export interface Image {
  name: string;
  media_type: string;
  width: number;
  height: number;
  bytes: string;
  digest: string;
}

/** One piece of a transcript; docs/clients.md has its fields. A block never changes; it is replaced. */
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

/** The effect of a message: removed blocks, then new ones, which go to the end, and changed ones, which stay in place. */
export interface Change {
  drop: string[];
  put: Block[];
}
