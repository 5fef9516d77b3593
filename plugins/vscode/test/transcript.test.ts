import assert from "node:assert/strict";
import { test } from "node:test";

import { AlertLevel, Outcome } from "../src/gen/podd/v1/entry";
import { type Delta, DeltaKind, type StreamResponse } from "../src/gen/podd/v1/pod";
import { type Block, type Change, Transcript } from "../src/stream/transcript";
import { visible } from "../src/stream/visible";

let seq = 0;
// What a test leaves out is empty, as it is on the wire.
const entry = (turn: number, $case: string, value: object): StreamResponse =>
  ({ kind: { $case: "entry", value: { seq: ++seq, turn, time: undefined, kind: { $case, value } } } }) as never;
const delta = (d: Partial<Delta>): StreamResponse => ({
  kind: { $case: "delta", value: { turn: 1, step: 1, block: "b", kind: DeltaKind.TEXT, callId: "", tool: "", text: "", restarted: false, ...d } },
});

/** Page is what the page does with changes: the order of blocks on the screen. */
class Page {
  shown: Block[] = [];
  take(c: Change): void {
    this.shown = this.shown.filter((b) => !c.drop.includes(b.id));
    for (const b of c.put) {
      const at = this.shown.findIndex((s) => s.id === b.id);
      if (at >= 0) this.shown[at] = b;
      else this.shown.push(b);
    }
  }
}

function play(...messages: StreamResponse[]): Transcript {
  const t = new Transcript();
  const page = new Page();
  for (const m of messages) {
    page.take(t.take(m));
    assert.deepEqual(page.shown, t.all(), "what changed adds up to the whole");
  }
  return t;
}

test("fragments grow, and their entry takes their place", () => {
  const live = play(delta({ text: "Good " }), delta({ text: "morning" }));
  assert.deepEqual(live.all().map((b) => [b.text, b.state]), [["Good morning", "live"]]);
  live.take(entry(1, "item", { kind: { $case: "assistantMessage", value: { text: "Good morning." } } }));
  assert.deepEqual(live.all().map((b) => [b.text, b.state]), [["Good morning.", undefined]]);
});

test("an answer that starts again voids its step alone", () => {
  const t = play(delta({ step: 1, text: "kept" }), delta({ step: 2, text: "void" }), delta({ step: 2, restarted: true }));
  assert.deepEqual(t.all().map((b) => b.text), ["kept"]);
});

test("in_flight takes the place of all that was unfinished", () => {
  const whole = delta({ text: "all so far" }).kind!.value as Delta;
  const t = play(delta({ text: "all s" }), delta({ block: "c", text: "gone" }), { kind: { $case: "inFlight", value: { blocks: [whole] } } });
  assert.deepEqual(t.all().map((b) => b.text), ["all so far"]);
});

test("a submit that waits joins where its turn begins, and one that is taken back goes", () => {
  const submitted = (requestId: string) => entry(0, "submitted", { requestId, segments: [], text: requestId });
  const t = play(
    submitted("one"),
    entry(1, "turnStarted", { requestIds: ["one"] }),
    submitted("two"),
    submitted("three"),
    entry(1, "item", { kind: { $case: "assistantMessage", value: { text: "answer" } } }),
    entry(0, "withdrawn", { requestIds: ["three"] }),
    entry(2, "turnStarted", { requestIds: ["two"] }),
  );
  assert.deepEqual(t.all().map((b) => [b.text, b.state]), [["one", undefined], ["answer", undefined], ["two", undefined]]);
});

test("a call goes from written to waiting to running to done", () => {
  const t = new Transcript();
  const state = (m: StreamResponse) => {
    t.take(m);
    return t.all().find((b) => b.kind === "tool")?.state;
  };
  assert.equal(state(entry(1, "item", { kind: { $case: "toolCall", value: { callId: "k", name: "shell", arguments: "{}" } } })), "writing");
  assert.equal(state(entry(1, "approvalRequested", { callId: "k", question: "run it?", arguments: '{"command":"ls"}', digest: Buffer.from([0x3f, 0x2a]) })), "waiting");
  assert.equal(t.all()[0]?.digest, "3f2a");
  assert.equal(state(entry(1, "approvalResolved", { callId: "k", approved: true, by: "podctl", reason: "" })), "running");
  assert.equal(state(delta({ kind: DeltaKind.TOOL_OUTPUT, callId: "k", text: "out" })), "running");
  assert.equal(t.all()[0]?.detail, "out");
  assert.equal(state(entry(1, "item", { kind: { $case: "toolResult", value: { callId: "k", summary: "s", content: "c", isError: false } } })), "done");
});

test("a call that was streamed is shown once", () => {
  const written = (block: string, tool: string) => delta({ kind: DeltaKind.TOOL_ARGUMENTS, block, tool, text: "{}" });
  const call = (callId: string, name: string) => entry(1, "item", { kind: { $case: "toolCall", value: { callId, name, arguments: "{}" } } });
  const t = play(written("b1", "shell"), written("b2", "glob"), call("k1", "shell"));
  assert.deepEqual(t.all().map((b) => [b.tool, b.state]), [["glob", "writing"], ["shell", "writing"]]);
  t.take(call("k2", "glob"));
  assert.deepEqual(t.all().map((b) => b.id), ["ck1", "ck2"]);
});

test("that a call asks, or how a turn ended, is said once", () => {
  const t = play(
    entry(1, "item", { kind: { $case: "toolCall", value: { callId: "k", name: "shell", arguments: "{}" } } }),
    entry(1, "alert", { level: AlertLevel.WARN, source: "approval", reason: "APPROVAL_WAITS", text: "shell asks" }),
    entry(1, "alert", { level: AlertLevel.ERROR, source: "turn", reason: "TURN_ENDED", text: "in any words" }),
    entry(1, "alert", { level: AlertLevel.INFO, source: "turn", reason: "", text: "of an older podd" }),
    entry(1, "alert", { level: AlertLevel.WARN, source: "file_ref", reason: "", text: "no such file" }),
  );
  assert.deepEqual(t.all().map((b) => b.kind), ["tool", "alert"]);
});

test("a turn that ends leaves nothing running", () => {
  const t = play(
    delta({ text: "half" }),
    entry(1, "item", { kind: { $case: "toolCall", value: { callId: "k", name: "shell", arguments: "{}" } } }),
    entry(1, "turnEnded", { outcome: Outcome.CANCELLED, cause: "cancelled by podctl", steps: 1 }),
  );
  assert.deepEqual(t.all().map((b) => [b.kind, b.state]), [["tool", "error"], ["end", undefined]]);
  assert.match(t.all()[1]!.text, /turn 1 cancelled: cancelled by podctl/);
});

test("nothing hides in what is shown", () => {
  assert.equal(visible("rm\u202e -rf\u200b\u001b[31m\ttab\n\u{e0041}"), "rm\\u{202e} -rf\\u{200b}\\u{1b}[31m\ttab\n\\u{e0041}");
  const t = play(entry(1, "item", { kind: { $case: "toolCall", value: { callId: "k", name: "sh\u200bell", arguments: "a\u202eb" } } }));
  assert.deepEqual([t.all()[0]!.tool, t.all()[0]!.arguments], ["sh\\u{200b}ell", "a\\u{202e}b"]);
});
