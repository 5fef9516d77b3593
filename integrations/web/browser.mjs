import * as net from "node:net";
import * as fs from "node:fs";
import * as path from "node:path";
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const require = createRequire(path.join(process.env.PODD_NPM, "package.json"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Browser is Chromium with the page. A proxy stands between the two, which cuts connections. */
export class Browser {
  /** What the page must not do: errors, requests to others, reports of its policy. */
  wrong = [];
  /** What the page's server answered: the request's line, the status, and whether another page asked. */
  heard = [];
  #sockets = new Set();
  #closed = false;

  /** open starts it and pairs it; options are the browser's, and hosts says where names lead. */
  static async open(options = {}) {
    const b = new Browser();
    const to = new URL(process.env.PAGE);
    b.server = net.createServer((from) => {
      if (b.#closed) return from.destroy();
      const on = net.connect(Number(to.port), "127.0.0.1");
      for (const s of [from, on]) {
        b.#sockets.add(s);
        s.on("error", () => {});
        s.on("close", () => (b.#sockets.delete(s), from.destroy(), on.destroy()));
      }
      let asked;
      from.on("data", (data) => {
        const head = data.toString("latin1");
        const line = /^[A-Z]+ \S+ HTTP\/1\.1/.exec(head)?.[0];
        if (line) asked = { line, foreign: /^sec-fetch-site: (cross|same)-site/im.test(head) };
      });
      on.on("data", (data) => {
        const status = /^HTTP\/1\.1 (\d+)/.exec(data.toString("latin1"))?.[1];
        if (status && asked) b.heard.push({ ...asked, status });
      });
      from.pipe(on).pipe(from);
    });
    await new Promise((go) => b.server.listen(0, "127.0.0.1", go));
    b.base = to.origin;
    b.chromium = await chromium.launch({
      executablePath: process.env.PODD_CHROMIUM,
      args: ["--no-sandbox", ...(options.args ?? []), `--host-resolver-rules=MAP ${to.host} 127.0.0.1:${b.server.address().port}${options.hosts ? `, ${options.hosts}` : ""}`],
    });
    b.context = await b.chromium.newContext();
    b.page = await b.context.newPage();
    b.page.setDefaultTimeout(20_000);
    b.page.on("pageerror", (e) => b.wrong.push(e.stack));
    b.page.on("console", (m) => /Content.Security|Trusted/i.test(m.text()) && b.wrong.push(m.text()));
    b.page.on("dialog", (d) => (b.wrong.push(d.message()), d.dismiss()));
    b.page.on("request", (r) => !r.url().startsWith(b.base) && b.wrong.push(`a request to ${r.url()}`));
    try {
      await b.page.goto(process.env.PAGE);
      if (!options.unasked) {
        // The person compares this number with that of the terminal.
        await b.page.locator(".number").waitFor();
        const number = await b.page.locator(".number").innerText();
        fs.writeFileSync(path.join(process.env.WORK, "number"), number.replace(" ", ""));
      }
      await b.page.getByRole("heading", { name: "Fleet" }).waitFor();
    } catch (e) {
      await b.close();
      throw e;
    }
    return b;
  }

  /** goto shows a view as a new one. */
  async goto(hash) {
    await this.page.evaluate((h) => {
      if (location.hash === h) location.hash = "#/nowhere";
      setTimeout(() => (location.hash = h));
    }, hash);
    await this.page.waitForFunction((h) => location.hash.startsWith(h), hash);
  }

  size(size) {
    return this.page.setViewportSize(size);
  }

  /** frame waits until what has changed is drawn. */
  frame() {
    return this.page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))));
  }

  async until(what, holds) {
    for (let end = Date.now() + 20_000; !(await holds()); await new Promise((go) => setTimeout(go, 30))) {
      assert.ok(Date.now() < end, `not in 20 seconds: ${what}`);
    }
  }

  /** cut ends all connections. */
  cut() {
    for (const s of this.#sockets) s.destroy();
  }

  stop() {
    this.#closed = true;
    this.cut();
  }

  go() {
    this.#closed = false;
  }

  clean() {
    assert.deepEqual(this.wrong, []);
  }

  /** axe are what axe finds, in short. */
  async axe(page = this.page) {
    const context = await page.context().newCDPSession(page);
    // As a debugger does: the page's policy forbids scripts of others.
    await context.send("Runtime.evaluate", { expression: axe });
    const { result } = await context.send("Runtime.evaluate", {
      expression: "axe.run().then((r) => JSON.stringify(r.violations.map((v) => [v.id, ...v.nodes.map((n) => n.html.slice(0, 200) + ' ' + n.failureSummary)])))",
      awaitPromise: true,
      returnByValue: true,
    });
    await context.detach();
    return JSON.parse(result.value);
  }

  async shot(name, page = this.page) {
    if (process.env.PODD_SCREENSHOTS) await page.screenshot({ path: path.join(process.env.PODD_SCREENSHOTS, `${name}.png`) });
  }

  async close() {
    await this.chromium?.close();
    this.server.close();
    this.cut();
  }
}
