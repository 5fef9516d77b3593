// What make demo-web shows.
import assert from "node:assert/strict";
import { after, before, test as run } from "node:test";

import { Browser } from "./browser.mjs";

/** @type {Browser} */
let b;
before(async () => {
  b = await Browser.open({ unasked: true });
});
after(() => b?.close());

const test = (name, f) => run(name, { timeout: 120_000 }, f);

test("the address works at once, and there is something to see in each view", async () => {
  await b.page.locator("main .row").nth(4).waitFor();
  assert.equal(await b.page.locator("main .ask-card").count(), 2);
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

test("a question of the demo is answered, and its pod goes on", async () => {
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("pricing")').click();
  const approve = b.page.locator("button.yes");
  for (let i = 0; i < 40 && !(await approve.isEnabled()); i++) {
    await b.page.mouse.wheel(0, 200);
    await b.frame();
  }
  await approve.click();
  await b.goto("#/pod/pricing");
  await b.page.locator(".end", { hasText: "Turn 3 finished" }).waitFor();
});
