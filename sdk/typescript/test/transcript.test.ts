import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { type Block, StreamResponse, Transcript } from "podd";

/** Case is a file of pkg/transcript/testdata. Its changes have a growing part without the kept bytes. */
interface Case {
  last?: number;
  wire: string[];
  changes: { drop?: string[]; put?: { kept: number; block: Block }[] }[];
  blocks: Block[];
}

const cases = path.join("..", "..", "pkg", "transcript", "testdata");

/** apply is what a change makes of blocks. */
function apply(blocks: Block[], drop: string[], put: Block[]): Block[] {
  const left = blocks.filter((b) => !drop.includes(b.id));
  for (const b of put) {
    const at = left.findIndex((s) => s.id === b.id);
    if (at >= 0) left[at] = b;
    else left.push(b);
  }
  return left;
}

/** plain is a block as in JSON, without a question's time of expiry. */
function plain(b: Block): unknown {
  const p = JSON.parse(JSON.stringify(b));
  delete p.call?.question?.expires;
  return p;
}

for (const file of fs.readdirSync(cases)) {
  test(`the shared case ${file}`, () => {
    const c = JSON.parse(fs.readFileSync(path.join(cases, file), "utf8")) as Case;
    const t = new Transcript();
    let mine: Block[] = [];
    let theirs: Block[] = [];
    c.wire.forEach((body, i) => {
      let got: { drop: string[]; put: Block[] } = { drop: [], put: [] };
      if (body === "") t.lost();
      else got = t.take(StreamResponse.decode(Buffer.from(body, "base64")));
      mine = apply(mine, got.drop, got.put);
      const want = c.changes[i]!;
      const whole = (want.put ?? []).map(({ kept, block }) => {
        const grows = block.kind === "call" ? "detail" : "text";
        const before = Buffer.from(theirs.find((b) => b.id === block.id)?.[grows] ?? "");
        return { ...block, [grows]: before.subarray(0, kept).toString() + block[grows] };
      });
      theirs = apply(theirs, want.drop ?? [], whole);
      assert.deepEqual(got.drop, want.drop ?? [], `what message ${i} drops`);
      assert.deepEqual(got.put.map(plain), whole.map(plain), `what message ${i} puts`);
      assert.deepEqual(t.all(), mine.filter((b) => b.state !== "lost"), "what changed adds up to the whole");
    });
    if (!c.last) assert.deepEqual(t.all().map(plain), c.blocks.map(plain));
  });
}
