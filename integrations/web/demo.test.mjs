// What make demo-web shows.
import assert from "node:assert/strict";
import { after, before, test as run } from "node:test";

import { Browser } from "./browser.mjs";
import { Golden, flags } from "./golden.mjs";

/** @type {Browser} */
let b;
before(async () => {
  b = await Browser.open({ unasked: true, args: flags });
});
after(() => b?.close());

const test = (name, f) => run(name, { timeout: 300_000 }, f);

test("the address works at once, and there is something to see in each view", async () => {
  await b.page.locator("main .row").nth(4).waitFor();
  await b.page.locator("main .ask-card").nth(1).waitFor();
  await b.page.locator('.row[data-state="running"]').waitFor();
  await b.page.locator('.row[data-state="paused"]').waitFor();
  await b.page.locator('a.ask-card:has-text("pricing")').click();
  await b.page.locator(".diff .plus", { hasText: "School" }).waitFor();
  await b.goto("#/usage");
  await b.page.locator(".plot").nth(3).waitFor();
  const days = await b.page.locator(".plot").first().locator(".bar").evaluateAll((bars) => bars.filter((bar) => bar.style.blockSize !== "0px").length);
  assert.ok(days >= 5, `usage of ${days} days`);
  await b.goto("#/alerts");
  await b.page.locator('.alerts li[data-level="error"]').first().waitFor();
  await b.goto("#/pod/audit");
  await b.page.locator('.block.answer[aria-busy="true"]').waitFor();
  b.clean();
});

/** The views with pictures: where they are, and what they show when they are complete. */
const views = {
  fleet: ["#/", "main .row:nth-of-type(4)"],
  pod: ["#/pod/ledger", ".block.end:last-child"],
  files: ["#/files/ledger", ".changed .diff"],
  usage: ["#/usage?by=DAY&days=30&pod=ledger", ".plot:nth-child(4)"],
  search: ["#/search?q=total", ".hits li:nth-child(3)"],
  alerts: ["#/alerts", ".alerts li:nth-child(2)"],
  ask: ["#/", 'a.ask-card:has-text("pricing")'],
};

/** settle keeps what the page shows as it is, and replaces what differs from run to run. */
function settle() {
  globalThis.draws ??= globalThis.requestAnimationFrame;
  // Nothing is drawn anew.
  globalThis.requestAnimationFrame = () => 0;
  const put = (select, text) => {
    for (const e of document.querySelectorAll(select)) if (e.textContent && e.childElementCount === 0) e.textContent = text;
  };
  put(".when", "5 min ago");
  put(".took", "1 s");
  put(".elapsed", "2 min");
  put(".axis span", "2026-11-01");
  put(".digest code", "0123abcd ".repeat(7) + "0123abcd");
  put('.row[data-state="running"] .doing', "runs shell");
  put('.row[data-state="running"] .value', "27 %");
  for (const e of document.querySelectorAll('.row[data-state="running"] .cost')) e.textContent = "$0.10";
  for (const e of document.querySelectorAll(".doing, .facts span")) if (/^(last active|asked) /.test(e.textContent)) e.textContent = "5 min ago";
  for (const e of document.querySelectorAll(".alerts p, .doing, .side a span")) if (e.childElementCount === 0) e.textContent = e.textContent.replace(/127[.]0[.]0[.]1:[0-9]+/, "127.0.0.1:8080");
  for (const e of document.querySelectorAll("main .sum")) e.textContent = e.textContent.replace(/[$][0-9.]+ today/, "$0.30 today").replace(/[0-9]{4}-[0-9]{2}-[0-9]{2}/g, "2026-11-01");
}

/** plain has a page use fonts that each machine with Chromium has. */
function plain() {
  document.body.style.fontFamily = '"DejaVu Sans"';
  document.documentElement.style.setProperty("--mono", '"DejaVu Sans Mono"');
}

test("each view looks as its picture", async () => {
  const golden = await Golden.open(b.chromium);
  const stranger = await (await b.chromium.newContext()).newPage();
  await stranger.goto(b.base);
  for (const page of [b.page, stranger]) await page.evaluate(plain);
  for (const [width, height] of [[360, 740], [1440, 900]]) {
    for (const page of [b.page, stranger]) await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      for (const page of [b.page, stranger]) await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await golden.check(`pair-${colorScheme}-${width}`, async () => {
        await stranger.getByRole("heading", { name: "Pair this browser" }).waitFor();
        return stranger.screenshot({ animations: "disabled" });
      });
      for (const [name, [at, complete]] of Object.entries(views)) {
        await golden.check(`${name}-${colorScheme}-${width}`, async () => {
          await b.goto(at);
          await b.page.locator(complete).first().waitFor();
          if (name === "ask") {
            await b.page.locator(complete).click();
            await b.page.locator(".answers").waitFor();
          }
          await b.page.mouse.move(0, 0);
          await b.frame();
          await b.page.evaluate(settle);
          try {
            return await b.page.screenshot({ animations: "disabled" });
          } finally {
            await b.page.evaluate(() => (globalThis.requestAnimationFrame = globalThis.draws));
          }
        });
      }
    }
  }
});

test("the head of a pod that works has room for its buttons", async () => {
  for (const width of [320, 360, 800, 1440]) {
    await b.size({ width, height: 800 });
    await b.goto("#/pod/audit");
    await b.page.getByRole("button", { name: "Cancel turn" }).waitFor();
    const covered = await b.page.evaluate(() => {
      const boxes = (select) => [...document.querySelectorAll(`.pod-head ${select}`)].filter((e) => e.textContent).map((e) => [e.textContent, e.getBoundingClientRect()]);
      const buttons = boxes(".acts > *");
      const heights = new Set(buttons.map(([, r]) => Math.round(r.height)));
      const below = boxes(".doing, .facts > span").filter(([, t]) => buttons.some(([, r]) => t.left < r.right && r.left < t.right && t.top < r.bottom && r.top < t.bottom));
      return [...below.map(([text]) => text), ...(heights.size > 1 ? ["buttons of two heights"] : [])];
    });
    assert.deepEqual(covered, [], `${width} px`);
  }
});

test("a click is one though the page draws anew between its press and its release", async () => {
  const press = async (select, redraw) => {
    await b.page.locator(select).hover();
    await b.page.mouse.down();
    await b.page.evaluate(redraw);
    await b.frame();
    await b.page.mouse.up();
  };
  await b.goto("#/");
  await press('a.ask-card:has-text("pricing") .go', async () => (await import("/live.js")).live.ask());
  await b.page.locator("button.yes").waitFor();
  const grow = async () => {
    const { live } = await import("/live.js");
    live.named("audit").pod.turn++;
    live.named("audit").work.dayCostUsd++;
    live.pods.set(live.named("audit").pod.id, { ...live.named("audit") });
    live.changed();
  };
  await b.goto("#/");
  await press('main .row:has-text("audit") .doing', grow);
  await b.page.getByRole("button", { name: "Cancel turn" }).waitFor();
  await press('[data-act="files"]', grow);
  await b.page.getByRole("heading", { name: "Changes of audit" }).waitFor();
});

test("a question of the demo is answered, and its pod goes on", async () => {
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("pricing")').click();
  const approve = b.page.locator("button.yes");
  for (let i = 0; i < 40 && !(await approve.isEnabled()); i++) {
    await b.page.mouse.wheel(0, 200);
    await b.frame();
  }
  await approve.click();
  await b.page.getByText("Approved: edit_file of pricing").waitFor();
  await b.goto("#/pod/pricing");
  await b.page.locator(".end", { hasText: /Turn \d+ finished · 2 steps/ }).waitFor();
});
