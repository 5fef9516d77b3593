// Drives the extension's client layer against a real podd, which integrations/vscode starts:
// PODD_STATE_DIR names it, WORK is an empty workspace. Its model calls shell with the text
// after "run", asks the questions after "ask", and echoes any other prompt.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { Outcome, type PoddError, type Segment, Transcript, places } from "podd";

import { Connection } from "../src/podd/connection";
import { images } from "../src/images";
import { effortChoices, modelChoices, modelOf } from "../src/podd/models";
import { type State, Watch } from "../src/podd/watch";
import { segments } from "../src/selection";
import { ending } from "../../../internal/web/page/transcript/blocks.js";
import type { Block } from "../../../internal/web/page/types";

const work = process.env.WORK!;
const c = new Connection(places());
after(() => c.close());

const text = (t: string): Segment => ({ kind: { $case: "text", value: { text: t } } });

/** seen follows a pod until its transcript has what the test looks for. */
async function seen(pod: string, until: (t: Transcript) => boolean): Promise<{ transcript: Transcript; seqs: number[] }> {
  const transcript = new Transcript();
  const seqs: number[] = [];
  for await (const m of c.stream(pod, { deltas: true })) {
    if (m.kind?.$case === "entry") seqs.push(m.kind.value.seq);
    transcript.take(m);
    if (until(transcript)) break;
  }
  return { transcript, seqs };
}

/** line is what the page says of a block. */
const line = (b: Block) => (b.kind === "end" ? ending(b) : b.text);
const said = (t: Transcript, what: string) => t.all().some((b) => line(b).includes(what));

test("a pod is made, given input, and its stream is shown", async () => {
  await c.create("talk", work);
  const reply = await c.send("talk", [text("good morning")]);
  assert.equal(reply.seq, 1);
  const { transcript, seqs } = await seen("talk", (t) => said(t, "Turn 1 finished"));
  assert.deepEqual(
    transcript.all().map((b) => [b.kind, line(b).split(" ·")[0], b.state]),
    [
      ["user", "good morning", "done"],
      ["answer", "You said: good morning", "done"],
      ["end", "Turn 1 finished", "done"],
    ],
  );
  assert.deepEqual(seqs, seqs.map((_, i) => i + 1), "each entry once and in order");
  const pod = (await c.settings("talk")).pod!;
  assert.deepEqual([await c.outcome(pod, 1), await c.outcome(pod, 2)], [Outcome.FINISHED, undefined]);
});

test("what a call asks is answered", async () => {
  await c.create("form", work);
  await c.send("form", [text(`ask ${JSON.stringify({ questions: [{ question: "Which?", header: "Database", options: [{ label: "SQLite" }, { label: "Postgres" }] }] })}`)]);
  const { transcript } = await seen("form", (t) => t.all().some((b) => b.state === "asks"));
  assert.ok(transcript.all().find((b) => b.state === "asks")!.call!.question!.form);
  const what = (await c.waiting("form"))[0]!;
  assert.deepEqual(what.form!.questions[0]!.options.map((o) => o.label), ["SQLite", "Postgres"]);
  await assert.rejects(c.answer(what, { approve: true }), (err: PoddError) => err.reason === "ANSWER_MISMATCH");
  await c.answer(what, { approve: true, replies: [{ choices: [2], text: "" }] });
  const after = await seen("form", (t) => said(t, "You said") || said(t, "Turn 1 finished"));
  assert.ok(said(after.transcript, "answered by VS Code"));
});

test("while plan mode is on, a prompt begins a turn that only plans, and one that steers does not say", async () => {
  await c.create("plans", work);
  const runs: [plan: boolean, steer: boolean][] = [[true, false], [true, true], [false, false]];
  for (const [i, [plan, steer]] of runs.entries()) {
    c.plans.set("plans", plan);
    await c.send("plans", [text("hello")], steer);
    await seen("plans", (t) => said(t, `Turn ${i + 1} finished`));
  }
  const planned: boolean[] = [];
  for await (const m of c.stream("plans", { follow: false })) {
    const entry = m.kind?.$case === "entry" ? m.kind.value.kind : undefined;
    if (entry?.$case === "turnStarted") planned.push(entry.value.plan);
  }
  assert.deepEqual(planned, [true, false, false]);
});

test("a selection is a reference to lines, or a paste", async () => {
  fs.writeFileSync(path.join(work, "three.txt"), "one\ntwo\nthree\n");
  await c.create("select", work);
  await c.send("select", segments("look", { text: "two", path: "three.txt", name: "three.txt", start: 2, end: 2 }));
  const { transcript } = await seen("select", (t) => said(t, "Turn 1 finished"));
  const note = transcript.all().find((b) => b.kind === "notice");
  assert.match(note?.text ?? "", /two/);
  assert.doesNotMatch(note?.text ?? "", /three\n/);
  await c.send("select", segments("", { text: "pasted @three.txt", path: "", name: "new.txt", start: 1, end: 1 }));
  await seen("select", (t) => said(t, 'You said: <paste name="new.txt:1-1, as it is in the editor"'));
});

test("images go with a prompt, byte for byte", async () => {
  const shot = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAAEklEQVR4nGP4z8CAFWEXpZMEADMoL9HswQX5AAAAAElFTkSuQmCC", "base64");
  const file = (name: string, data: Buffer | string) => {
    fs.writeFileSync(path.join(work, name), data);
    return path.join(work, name);
  };
  await c.create("pictures", work);
  await c.send("pictures", [text("what is this?"), ...(await images([file("shot.png", shot), file("again.png", shot)]))]);
  const { transcript } = await seen("pictures", (t) => said(t, "Turn 1 finished"));
  assert.ok(transcript.all().some((b) => b.kind === "user" && b.text === "what is this?" && b.images?.map((i) => i.name).join() === "shot.png,again.png"));
  const digest = createHash("sha256").update(shot).digest("hex");
  assert.deepEqual(Buffer.from(await c.image(digest)), shot);
  await assert.rejects(c.image("00"), (e: PoddError) => e.reason === "IMAGE_NOT_FOUND");
  const refused = async (name: string, data: Buffer | string) => c.send("pictures", await images([file(name, data)]));
  await assert.rejects(refused("text.png", "no image"), (e: PoddError) => e.reason === "BAD_IMAGE" && /text\.png/.test(e.message));
  await assert.rejects(refused("empty.png", ""), /empty\.png is empty/);
  await assert.rejects(refused("large.png", Buffer.alloc((10 << 20) + 1)), /large\.png is too large/);
  await assert.rejects(images([path.join(work, "missing.png")]), /ENOENT/);
});

test("paths are completed", async () => {
  assert.deepEqual(await c.complete("talk", "thr"), ["three.txt"]);
});

test("a prompt of the person's own takes the place of its name, and /compact begins no turn", async () => {
  fs.mkdirSync(path.join(work, ".claude", "commands"), { recursive: true });
  fs.writeFileSync(path.join(work, ".claude", "commands", "lint.md"), "Lint $1 well.\n");
  fs.writeFileSync(path.join(work, ".claude", "commands", "empty.md"), "");
  await c.create("prompts", work);
  assert.deepEqual([await c.names("prompts", "/li"), await c.names("prompts", "/compac"), await c.names("prompts", "/no")], [["/lint"], ["/compact"], []]);
  await c.send("prompts", [text("/lint all")]);
  await seen("prompts", (t) => said(t, "You said: Lint all well."));
  await c.send("prompts", segments("/lint it", { text: "new", path: "", name: "new.txt", start: 1, end: 1 }));
  await seen("prompts", (t) => said(t, "You said: Lint it well.\n\n<paste name="));
  await seen("prompts", (t) => said(t, "Turn 2 finished"));
  await assert.rejects(c.send("prompts", [text("/empty")]), (err: PoddError) => err.reason === "PROMPT" && err.message === "/empty cannot be used: it says nothing");
  await assert.rejects(c.send("prompts", [text("/compact")]), /nothing to compact/);
});

test("a call that asks is shown whole, answered once, and disappears", async () => {
  await c.create("asks", work);
  const states: State[] = [];
  let changed = () => {};
  const watch = new Watch(() => c, 20, (now) => {
    states.push(now);
    changed();
  });
  const until = (which: (s: State) => boolean) =>
    new Promise<void>((resolve) => {
      changed = () => which(watch.state) && resolve();
      changed();
    });
  watch.start();
  try {
    await c.send("asks", [text("run rm -rf ./build")]);
    await until((s) => s.approvals.some((a) => a.podName === "asks"));
    const what = watch.state.approvals.find((a) => a.podName === "asks")!;
    assert.equal(JSON.parse(what.arguments).command, "rm -rf ./build");
    const { transcript } = await seen("asks", (t) => t.all().some((b) => b.state === "asks"));
    const block = transcript.all().find((b) => b.state === "asks")!;
    assert.equal(block.call?.id, what.callId);
    assert.match(block.call?.arguments ?? "", /rm -rf/);
    await c.answer(what, { approve: false, reason: "not today" });
    await until((s) => !s.approvals.some((a) => a.podName === "asks"));
    await assert.rejects(c.answer(what, { approve: true }), (e: PoddError) => e.reason === "APPROVAL_RESOLVED" && /VS Code/.test(e.message));
    const after = await seen("asks", (t) => said(t, "Turn 1 finished"));
    assert.ok(said(after.transcript, "denied by"));
    assert.ok(!after.transcript.all().some((b) => b.state === "asks"));
  } finally {
    watch.stop();
  }
});

test("a digest of something else approves nothing", async () => {
  await c.create("digest", work);
  await c.send("digest", [text("run rm -rf ./dist")]);
  await seen("digest", (t) => t.all().some((b) => b.state === "asks"));
  const what = (await c.waiting()).find((a) => a.podName === "digest")!;
  await assert.rejects(c.answer({ ...what, digest: Buffer.alloc(32) }, { approve: true }), (e: PoddError) => e.reason === "APPROVAL_CHANGED");
  assert.ok(await c.cancel("digest"));
});

test("a pod's model and effort are chosen from what podd lists", async () => {
  await c.create("chooser", work);
  const look = () => Promise.all([c.settings("chooser"), c.models()]);
  const [before, listed] = await look();
  const models = modelChoices(before, listed);
  assert.equal(models[0]?.value, "");
  assert.match(models[0]?.description ?? "", /^now default\//);
  const value = models[1]!.value;
  assert.deepEqual(await c.choose("chooser", "model", value), []);
  const warned = await c.choose("chooser", "model", "default/nothing-like-it");
  assert.match(warned.join(), /lists no model "nothing-like-it"/);
  await c.choose("chooser", "model", value);
  assert.deepEqual(effortChoices(...(await look())).map((e) => e.value), ["", "low", "max"]);
  await c.choose("chooser", "effort", "max");
  const [after, again] = await look();
  assert.equal(modelOf(after), value);
  assert.equal(modelChoices(after, again).find((m) => m.value === value)!.description, "now");
  assert.equal(effortChoices(after, again).find((e) => e.now)!.description, "now, from pod");
  // What the pod has is in the list, also if its model is not known to take it, or is not listed.
  await c.choose("chooser", "model", "default/nothing-like-it");
  await c.choose("chooser", "effort", "odd");
  const [odd, all] = await look();
  assert.deepEqual(effortChoices(odd, all).map((e) => [e.value, e.now]), [["", false], ["low", false], ["medium", false], ["high", false], ["odd", true]]);
  assert.equal(modelChoices(odd, all).find((m) => m.now)!.value, "default/nothing-like-it");
  await c.choose("chooser", "effort", "");
  await assert.rejects(c.choose("chooser", "effort", "very high"), (e: PoddError) => e.reason === "BAD_OPTION" && /very high/.test(e.message));
});

test("errors have one sentence and a reason", async () => {
  await assert.rejects(c.send("unknown", [text("x")]), (e: PoddError) => e.reason === "POD_NOT_FOUND" && !e.passing);
  await assert.rejects(c.create("Not A Name", work), (e: PoddError) => e.reason === "BAD_NAME" && e.message.length > 10);
  const away = new Connection({ socket: path.join(work, "none"), token: "" });
  await assert.rejects(away.list(), (e: PoddError) => e.reason === "UNREACHABLE" && /start podd with/.test(e.message));
  away.close();
});
