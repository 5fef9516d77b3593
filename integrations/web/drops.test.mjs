// Connections that break while a pod works, and a podd that is killed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { Browser } from "./browser.mjs";

const { WORK: work } = process.env;
const podctl = (...args) => execFileSync("podctl", args, { encoding: "utf8" });

/** @type {Browser} */
let b;
before(async () => {
  b = await Browser.open();
});
after(() => b?.close());

/** kill asks Go to kill podd and to start it again. */
async function kill() {
  const file = path.join(work, "kill");
  fs.writeFileSync(file, "");
  await b.until("podd is back", () => !fs.existsSync(file));
}

/** follows waits until the page follows the pod's log again. */
async function follows() {
  await b.until("the stream", () => b.page.evaluate(() => import("/live.js").then(({ live }) => live.complete && !live.away && !live.ended)));
}

const drops = Number(process.env.PODD_DROPS || 40);

test("broken connections lose nothing and repeat nothing", { timeout: 60_000 + drops * 10_000 }, async (its) => {
  podctl("create", "drops", "--dir", work, "--ask", "never");
  await b.goto("#/pod/drops");
  await b.page.locator("textarea").waitFor();
  // Each entry that reaches the transcript, in order.
  await b.page.evaluate(async () => {
    const { Transcript } = await import("/transcript/fold.js");
    const { take } = Transcript.prototype;
    globalThis.seqs = [];
    Transcript.prototype.take = function (m) {
      if (m.entry) globalThis.seqs.push(Number(m.entry.seq));
      return take.call(this, m);
    };
  });
  let [turns, kills, running] = [0, 0, 0];
  for (let i = 0; i < drops; i++) {
    if (i % 4 === 0) podctl("submit", "-p", "drops", `quick ${turns++}`);
    await follows();
    if ((await b.page.locator(".chip").getAttribute("data-state")) === "running") running++;
    b.cut();
    if (i % 20 === 10) {
      await kill();
      kills++;
    }
  }
  await b.page.locator(".end", { hasText: `Turn ${turns} finished` }).waitFor({ timeout: 60_000 + drops * 2000 });
  const last = Number(JSON.parse(podctl("show", "drops", "-o", "json")).last_seq);
  const seqs = await b.page.evaluate(() => globalThis.seqs);
  assert.deepEqual(seqs, Array.from({ length: last }, (_, i) => i + 1), "each entry once and in order");
  const shown = await b.page.locator(".transcript > .block").evaluateAll((all) => all.map((e) => e.dataset.seq).filter((seq) => seq !== "0"));
  assert.equal(new Set(shown).size, shown.length, "nothing is there twice");
  assert.equal(await b.page.locator(".block.end").count(), turns, "no end is missing");
  const text = await b.page.locator(".block.answer").allInnerTexts();
  assert.equal(text.length, turns);
  for (const t of text) assert.equal(t, text[0], "each answer is whole");
  b.clean();
  its.diagnostic(`measured: ${drops} drops, ${running} of them while a turn ran, ${kills} kills of podd: ${last} entries in ${turns} turns, 0 gaps, 0 duplicates`);
});
