// A thousand pods on the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";

import { Browser } from "./browser.mjs";

const podctl = (...args) => execFileSync("podctl", args, { encoding: "utf8" });

/** @type {Browser} */
let b;
before(async () => {
  b = await Browser.open();
});
after(() => b?.close());

test("a fleet of a thousand pods", { timeout: 240_000 }, async (its) => {
  const pods = podctl("list", "-o", "json").trim().split("\n").length;
  assert.ok(pods >= 1000, `${pods} pods`);
  await b.goto("#/");
  await b.until("all rows", async () => (await b.page.locator("main .row").count()) === pods);
  await b.page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => globalThis.long.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" });
  });
  // Pods work, and rows move, while a person scrolls.
  for (let i = 0; i < 20; i++) {
    podctl("submit", "-p", `many-${i}`, "say done");
    await b.page.mouse.wheel(0, 600);
    await b.frame();
  }
  const sum = b.page.locator(".sum");
  await b.until("rest", async () => / 0 working /.test(await sum.innerText()));
  const long = await b.page.evaluate(() => globalThis.long);
  its.diagnostic(`measured: ${long.length} tasks above 50 ms while 20 of ${pods} pods worked; the longest took ${Math.round(Math.max(0, ...long))} ms`);
  await b.page.keyboard.press("/");
  await b.page.keyboard.type("many-99");
  await b.until("the filter", async () => (await b.page.locator("main .row").count()) < 20);
  podctl("send", "--no-wake", "many-99", "look at it later");
  const marked = b.page.locator("main .row", { hasText: "1 letter" });
  await b.until("the mark of a letter", async () => (await marked.count()) === 1 && (await marked.innerText()).includes("many-99"));
  b.clean();
});
