import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { Pod, PodState, type Preview, StreamResponse, Transcript } from "podd";

import { ending } from "../../../internal/web/page/transcript/blocks.js";
import type { Block, Change } from "../../../internal/web/page/types";
import { visible } from "../../../internal/web/page/visible.js";
import { dataURI } from "../src/images";
import { Turns } from "../src/podd/turns";
import { Batch } from "../src/stream/batch";
import { type Proposal, proposals } from "../src/proposal";
import { pageChange } from "../src/stream/page";
import { Claims } from "../src/views/claims";

const cases = path.join("..", "..", "pkg", "transcript", "testdata");

/** Mirror is the state of a page that applies changes. */
class Mirror {
  blocks: Block[] = [];
  take(drop: string[], put: Block[]): void {
    this.blocks = this.blocks.filter((b) => !drop.includes(b.id));
    for (const b of put) {
      const at = this.blocks.findIndex((s) => s.id === b.id);
      if (at >= 0) this.blocks[at] = b;
      else this.blocks.push(b);
    }
  }
}

test("changes delivered together add up to the same", (its) => {
  its.mock.timers.enable({ apis: ["setTimeout"] });
  for (const file of fs.readdirSync(cases)) {
    const { wire } = JSON.parse(fs.readFileSync(path.join(cases, file), "utf8")) as { wire: string[] };
    const t = new Transcript();
    const [late, mine] = [new Mirror(), new Mirror()];
    const batch = new Batch((change) => late.take(change.drop, change.put));
    for (const [i, body] of wire.entries()) {
      if (body === "") t.lost();
      const got: Change = body === "" ? { drop: [], put: [] } : t.take(StreamResponse.decode(Buffer.from(body, "base64")));
      mine.take(got.drop, got.put);
      batch.add(got);
      if (i % 3 === 2) its.mock.timers.tick(30);
    }
    its.mock.timers.tick(30);
    assert.deepEqual(late.blocks, mine.blocks, file);
  }
});

const block = (b: Partial<Block>): Block => ({ id: "b", kind: "notice", seq: "1", turn: "1", state: "done", text: "", detail: "", ...b });

test("what is lost leaves the page until it comes again", () => {
  const change = pageChange({ drop: ["a"], put: [block({ state: "lost" }), block({ id: "c", text: "one\ntwo" })] });
  assert.deepEqual(change.drop, ["a", "b"]);
  assert.deepEqual(change.put.map((b) => b.id), ["c"]);
});

test("the page shows images of known types alone", () => {
  for (const [type, start] of [["png", "\x89PNG\r\n\x1a\n"], ["jpeg", "\xff\xd8\xff\xe0"], ["gif", "GIF89a"], ["webp", "RIFF\n\0\0\0WEBPVP8 "]] as const) {
    const data = Buffer.from(start + "rest", "latin1");
    assert.equal(dataURI(data), `data:image/${type};base64,${data.toString("base64")}`);
  }
  for (const other of ["", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<!doctype html>", " GIF89a", "\x89PNG\r\n\x1a\n" + "x".repeat(10 << 20)]) {
    assert.equal(dataURI(Buffer.from(other, "latin1")), undefined, other.slice(0, 20));
  }
});

test("a turn's end is one line", () => {
  const end = (text: string, steps: number) => block({ kind: "end", text, end: { outcome: "cancelled", reason: "", steps, usage: { input_tokens: "12", output_tokens: "3" } } });
  assert.equal(ending(end("cancelled by podctl", 1)), "Turn 1 cancelled: cancelled by podctl · 1 step · 12 tokens in, 3 out");
  assert.equal(ending(end("", 0)), "Turn 1 cancelled");
});

test("nothing hides in what is shown", () => {
  assert.equal(visible("rm\u202e -rf\u200b\u001b[31m\ttab\n\u{e0041}"), "rm\\u{202e} -rf\\u{200b}\\u{1b}[31m\ttab\n\\u{e0041}");
});

test("a question belongs to one window, and to another when that one ends", () => {
  const dir = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "claims-")), "questions");
  try {
    const gone = spawnSync(process.execPath, ["-e", ""]).pid;
    const [one, two, ended] = [new Claims(dir, process.pid), new Claims(dir, process.ppid), new Claims(dir, gone)];
    assert.deepEqual([one.take("a"), one.take("a"), two.take("a"), two.take("b")], [true, true, false, true]);
    one.keep(new Set(["b"]));
    assert.deepEqual([two.take("a"), one.take("b")], [true, false]);
    assert.deepEqual([ended.take("c"), one.take("c"), two.take("c")], [true, true, false]);
    two.keep(new Set());
    assert.deepEqual(fs.readdirSync(dir), ["c", `c.${gone}`]);
  } finally {
    fs.rmSync(path.dirname(dir), { recursive: true });
  }
});

test("a turn is long after a minute in sight, and ends once", () => {
  const pod = (turn: number, state: PodState) => ({ ...Pod.decode(new Uint8Array()), id: "p", turn, state });
  const [runs, idle] = [PodState.RUNNING, PodState.IDLE];
  const turns = new Turns((p) => p.state === runs);
  const ended = (p: Pod, at: number) => turns.ended([p], at).map((e) => e.turn);
  assert.deepEqual([ended(pod(1, runs), 0), ended(pod(1, runs), 59_000), ended(pod(1, idle), 60_000), ended(pod(1, idle), 61_000)], [[], [], [1], []]);
  assert.deepEqual([ended(pod(2, runs), 0), ended(pod(2, idle), 59_999)], [[], []]);
  assert.deepEqual([ended(pod(3, runs), 0), ended(pod(4, runs), 60_000), ended(pod(4, idle), 119_999)], [[], [3], []]);
});

test("a preview is the two sides of a diff, whole where the file is the one it was made from", async () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "sides-"));
  const sides = async (p: Partial<Preview>) => (await proposals([{ path: "a", diff: "", base: "", movesTo: "", deletes: false, omitted: "", runs: false, ...p }], dir))[0]!;
  const write = (text: string | Buffer) => {
    fs.writeFileSync(path.join(dir, "a"), text);
    return createHash("sha256").update(text).digest("hex");
  };
  const shown = (p: Proposal) => [p.before, p.after, p.does, p.lacks];
  try {
    const script = write("echo hi\n");
    assert.deepEqual(shown(await sides({ base: script, runs: true, diff: "@@ -1 +1 @@\n echo hi\n" })), ["echo hi\n", "echo hi\n", "to run it", ""]);
    fs.rmSync(path.join(dir, "a"));
    assert.deepEqual(shown(await sides({ diff: "@@ -0,0 +1 @@\n+x\n" })), ["", "x\n", "to create it", ""]);
    const diff = "@@ -2 +2 @@\n-two\n+2\n@@ -4,0 +5 @@\n+4.5\n@@ -6 +7 @@\n-six\n\\ No newline at end of file\n+6\n";
    let base = write("one\ntwo\n3\n4\nfive\nsix");
    const moved = await sides({ base, diff, movesTo: "d/b" });
    assert.deepEqual(shown(moved), ["one\ntwo\n3\n4\nfive\nsix", "one\n2\n3\n4\n4.5\nfive\n6\n", "to move it to d/b", ""]);
    assert.deepEqual([moved.from, moved.to], [path.join(dir, "a"), path.join(dir, "d/b")]);
    const omitted = await sides({ base, diff: "@@ -2 +2 @@\n-two\n+2\n", omitted: "9 more lines of the diff (90 bytes) are left out" });
    assert.deepEqual(shown(omitted).slice(0, 2), ["two\n… 9 more lines of the diff (90 bytes) are left out\n", "2\n… 9 more lines of the diff (90 bytes) are left out\n"]);
    assert.deepEqual([omitted.does, omitted.lacks], ["", "9 more lines of the diff (90 bytes) are left out"]);
    write("another");
    assert.deepEqual(shown(await sides({ base, diff })), ["two\n…\n…\nsix", "2\n…\n4.5\n…\n6\n", "", "the file has changed since"]);
    base = write(Buffer.from("caf\xe9\n", "latin1"));
    assert.deepEqual(shown(await sides({ base, diff: "@@ -1 +1 @@\n-caf\\xe9\n+x\n" })), ["caf\\xe9\n", "x\n", "", "only the changed lines"]);
    base = write("a\r\nb\r\n");
    assert.deepEqual(shown(await sides({ base, deletes: true, diff: "@@ -1,2 +0,0 @@\n-a\r\n-b\r\n" })), ["a\r\nb\r\n", "", "to delete it", ""]);
  } finally {
    fs.rmSync(dir, { recursive: true });
  }
});
