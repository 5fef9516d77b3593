// Pages of others attack the page in Chromium, where a person is logged in to it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as http from "node:http";
import { after, before, test as run } from "node:test";

import { Browser } from "./browser.mjs";

const podctl = (...args) => execFileSync("podctl", args, { encoding: "utf8" });
const test = (name, f) => run(name, { timeout: 120_000 }, f);

/** @type {Browser} */
let b;
/** The attacker's server, and what browsers sent it. */
let evil, origins, sent;
before(async () => {
  evil = http.createServer((request, response) => {
    sent.push(request.url);
    response.setHeader("Content-Type", "text/html");
    response.end("<!doctype html><title>evil</title><body></body>");
  });
  await new Promise((go) => evil.listen(0, "127.0.0.1", go));
  sent = [];
  // New browsers ask before a page reaches this machine; podd does not rely on that.
  b = await Browser.open({ hosts: "MAP evil.example 127.0.0.1", args: ["--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"] });
  // A page of another site, and one of another port of this machine, which is the same site.
  origins = [`http://evil.example:${evil.address().port}`, `http://127.0.0.1:${evil.address().port}`];
  podctl("create", "target", "--dir", process.env.WORK, "--ask", "always");
  podctl("submit", "-p", "target", "run echo target");
  await b.until("a question", () => podctl("approvals", "target", "-o", "json").includes("call_seq"));
});
after(async () => {
  await b?.close();
  evil?.close();
});

/** stranger is a page at an address. answers are what podd web answered it: status and address. */
async function stranger(address) {
  const page = await b.context.newPage();
  page.setDefaultTimeout(20_000);
  const answers = [];
  page.on("response", (r) => new URL(r.url()).port === new URL(b.base).port && answers.push(`${r.status()} ${r.url()}`));
  await page.goto(address);
  return { page, answers };
}

/** untouched says that the attacks changed nothing: the question waits, nobody submitted. */
function untouched() {
  const log = podctl("tail", "target");
  assert.ok(!log.includes("pwned"), log);
  assert.ok(podctl("approvals", "target", "-o", "json").includes("call_seq"), "the question is answered");
}

const call = "/podd.v1.PodService/Submit";
const body = JSON.stringify({ pod: "target", segments: [{ text: { text: "pwned" } }] });

test("calls by scripts of other pages", async () => {
  for (const origin of origins) {
    const { page } = await stranger(origin);
    b.heard.length = 0;
    const got = await page.evaluate(
      async ([base, call, body]) => {
        const headers = { "Content-Type": "application/json", Authorization: "Bearer x" };
        const all = [];
        const attempt = async (what, how) => {
          try {
            const r = await how();
            all.push([what, r?.type ?? "", r?.status ?? 0, r?.text ? await r.text() : ""]);
          } catch (e) {
            all.push([what, "failed", 0, String(e)]);
          }
        };
        await attempt("JSON", () => fetch(base + call, { method: "POST", headers, body }));
        await attempt("JSON with cookies", () => fetch(base + call, { method: "POST", headers, body, credentials: "include" }));
        await attempt("text", () => fetch(base + call, { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body }));
        await attempt("a blob", () => fetch(base + call, { method: "POST", mode: "no-cors", body: new Blob([body], { type: "text/plain" }) }));
        await attempt("the document", () => fetch(base + "/"));
        await attempt("the document, opaque", () => fetch(base + "/", { mode: "no-cors" }));
        await attempt("a script as text", () => fetch(base + "/app.js"));
        await attempt("a stream", () => fetch(base + "/podd.v1.FleetService/Watch", { method: "POST", headers: { ...headers, "Content-Type": "application/connect+json" }, body: "x" }));
        await attempt("a GET of a call", () => fetch(`${base}${call}?connect=v1&encoding=json&message=${encodeURIComponent(body)}`, { mode: "no-cors" }));
        navigator.sendBeacon(base + call, new Blob([body], { type: "text/plain" }));
        await attempt("a web socket", () => new Promise((go, no) => {
          const s = new WebSocket(base.replace("http", "ws") + call);
          s.onopen = () => go({ type: "open", status: 101 });
          s.onerror = () => no(new Error("refused"));
        }));
        await attempt("events", () => new Promise((go, no) => {
          const s = new EventSource(base + "/");
          s.onopen = () => go({ type: "open", status: 200 });
          s.onerror = () => (s.close(), no(new Error("refused")));
        }));
        for (const [tag, attribute, path] of [["script", "src", "/app.js"], ["link", "href", "/app.css"], ["img", "src", "/"], ["script", "src", call]]) {
          await attempt(`${tag} ${path}`, () => new Promise((go, no) => {
            const e = document.createElement(tag);
            if (tag === "link") e.rel = "stylesheet";
            e.onload = () => go({ type: "loaded", status: 200 });
            e.onerror = () => no(new Error("refused"));
            e[attribute] = base + path;
            document.body.append(e);
          }));
        }
        return all;
      },
      [b.base, call, body],
    );
    for (const [what, type, status, text] of got) {
      // What is opaque has no status and no text.
      assert.ok(type === "failed" || (type === "opaque" && status === 0 && text === ""), `${origin}: ${what}: ${type} ${status} ${text}`);
    }
    assert.equal(got.length, 15);
    const heard = b.heard.splice(0).filter((h) => h.foreign);
    assert.ok(heard.length >= 10, `${origin}: podd web was asked: ${JSON.stringify(heard)}`);
    for (const h of heard) assert.match(h.status, /^4\d\d$/, `${origin}: ${h.line}`);
    await page.close();
  }
  untouched();
});

test("forms of other pages", async () => {
  for (const origin of origins) {
    for (const [type, name] of [["application/x-www-form-urlencoded", "x"], ["text/plain", body.slice(0, -1) + ',"x":"'], ["multipart/form-data", "x"]]) {
      const { page, answers } = await stranger(origin);
      const navigated = page.waitForResponse((r) => r.url() === b.base + call);
      await page.evaluate(
        ([to, type, name]) => {
          const form = Object.assign(document.createElement("form"), { method: "POST", action: to, enctype: type });
          form.append(Object.assign(document.createElement("input"), { name, value: '"}' }));
          document.body.append(form);
          form.submit();
        },
        [b.base + call, type, name],
      );
      assert.equal((await navigated).status(), 403, `${origin}: ${type}`);
      for (const a of answers) assert.match(a, /^4\d\d /, origin);
      await page.close();
    }
  }
  untouched();
});

test("the page in frames of other pages", async () => {
  for (const origin of origins) {
    const { page, answers } = await stranger(origin);
    for (const [tag, attribute] of [["iframe", "src"], ["object", "data"], ["embed", "src"]]) {
      const before = answers.length;
      await page.evaluate(
        ([tag, attribute, to]) => {
          const e = document.createElement(tag);
          e[attribute] = to;
          document.body.append(e);
        },
        [tag, attribute, `${b.base}/`],
      );
      await b.until(`the answer to ${tag}`, () => answers.length > before);
    }
    for (const a of answers) assert.match(a, /^403 /, origin);
    for (const f of page.frames()) assert.ok(!(await f.content().catch(() => "")).includes("app.js"), "the page is in a frame");
    await page.close();
  }
  untouched();
});

test("a window that another page opens", async () => {
  const { page } = await stranger(origins[0]);
  const opened = b.context.waitForEvent("page");
  await page.evaluate((to) => {
    globalThis.other = open(to, "other");
  }, `${b.base}/`);
  const other = await opened;
  // A link from elsewhere is refused: the document is only typed or loaded by itself.
  await other.waitForLoadState();
  assert.ok(!(await other.content()).includes("app.js"), "the page is opened by another one");
  // And whoever it opens is no longer in its hands.
  await other.goto(`${b.base}/`);
  await other.getByRole("heading", { name: "Fleet" }).waitFor();
  assert.equal(await other.evaluate(() => opener), null);
  assert.equal(await page.evaluate(() => other.closed), true);
  await other.close();
  await page.close();
});

test("a name that comes to lead to this machine", async () => {
  const rebound = `http://evil.example:${new URL(b.base).port}`;
  const { page, answers } = await stranger(`${rebound}/`);
  const got = await page.evaluate(
    async ([call, body]) => {
      const r = await fetch(call, { method: "POST", headers: { "Content-Type": "application/json", Authorization: "Bearer x" }, body });
      return [r.status, await r.text(), (await fetch("/")).status, (await fetch("/app.js")).status];
    },
    [call, body],
  );
  assert.deepEqual([got[0], got[2], got[3]], [421, 421, 421]);
  assert.ok(answers.length >= 4);
  for (const a of answers) assert.match(a, /^421 /);
  await page.close();
  untouched();
});

test("the person's own page goes on, and nothing was sent to others", async () => {
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("target")').waitFor();
  b.clean();
  assert.ok(sent.every((url) => url === "/" || url === "/favicon.ico"), `others got ${sent}`);
});
