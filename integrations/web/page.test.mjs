// The page in Chromium, as a person uses it. Go starts podd, its model and the page's server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test as run } from "node:test";

import { Browser } from "./browser.mjs";

const { WORK: work } = process.env;
const podctl = (...args) => execFileSync("podctl", args, { encoding: "utf8" });
const submit = (pod, text) => podctl("submit", "-p", pod, text);
const create = (name, ...args) => podctl("create", name, "--dir", work, ...args);

/** @type {Browser} */
let b;
before(async () => {
  b = await Browser.open();
});
after(() => b?.close());

const test = (name, f) => run(name, { timeout: 120_000 }, f);

const phone = { width: 360, height: 640 };
const narrow = { width: 320, height: 640 };
const wide = { width: 1440, height: 900 };

const evil = `<img src="http://127.0.0.1:9/x" onerror="pwned=1"><script>pwned=1</script> [a](javascript:pwned=1) ![i](http://127.0.0.1:9/i) [b](data:text/html,x) \u202egnirts\u200b`;

/** asks awaits a question of a pod; it returns the number of the call. */
async function asks(pod, what = "") {
  let found = "";
  await b.until(`${pod} asks`, () => (found = podctl("approvals", pod, "-o", "json")).includes("call_seq") && found.includes(what));
  return String(JSON.parse(found.trim().split("\n")[0]).call_seq);
}

/** limited makes a pod whose turn a limit ends, with an alert. */
function limited(name) {
  create(name, "--ask", "never", "--max-steps", "1");
  submit(name, "run true");
}

const answer = (verb, pod, call) => podctl(verb, pod, call);

test("text of a stranger is only text", async () => {
  const file = path.join(work, "<b>evil.txt");
  fs.writeFileSync(file, `${evil}\n`);
  create("hostile", "--ask", "never");
  podctl("submit", "-p", "hostile", "-f", `say ${evil}`);
  podctl("submit", "-p", "hostile", "-f", `run cat '${file}'; echo '<script>pwned=1</script>'`);
  create("hostile-asks", "--ask", "always");
  submit("hostile-asks", `run echo '${evil}'`);
  const call = await asks("hostile-asks");
  podctl("submit", "-p", "hostile", "-f", "say #\n\n| | a |\n|---|---|\n| 1 | 2 |");
  await b.size(wide);
  await b.goto("#/pod/hostile");
  await b.page.locator(".end", { hasText: "Turn 3 finished" }).waitFor();
  await b.page.locator(".answer td:empty").waitFor();
  assert.equal(await b.page.locator("h2:empty, th:empty").count(), 0, "what is empty has no role");
  await b.page.locator("details").evaluateAll((all) => all.forEach((d) => (d.open = true)));
  const text = await b.page.locator(".transcript").innerText();
  assert.ok(text.includes("<script>pwned=1</script>"), "markup is shown as text");
  assert.ok(text.includes("\\u{202e}") && text.includes("\\u{200b}"), "hidden characters are shown as code");
  await b.goto("#/ask");
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("hostile-asks")').click();
  await b.page.getByText("hidden characters, shown as code").waitFor();
  await b.goto("#/alerts");
  await b.page.getByRole("heading", { name: "Alerts" }).waitFor();
  await b.goto(`#/search?q=${encodeURIComponent("pwned=1")}`);
  await b.page.locator(".hits a").first().waitFor();
  // podctl finds the same.
  await b.page.getByText(/^\d+ hits$/).waitFor();
  const found = podctl("search", "-o", "json", "pwned=1").trim().split("\n").map((line) => JSON.parse(line));
  const hits = await b.page.locator(".hits a").evaluateAll((all) => all.map((a) => a.hash));
  assert.deepEqual(hits, found.map((hit) => `#/pod/${hit.pod_name}/${hit.seq}`));
  const links = await b.page.evaluate(() => [...document.links].map((l) => l.protocol));
  assert.deepEqual(links.filter((p) => p !== "http:" && p !== "https:"), []);
  assert.equal(await b.page.evaluate(() => globalThis.pwned), undefined);
  assert.equal(await b.page.evaluate(() => document.querySelectorAll("img, iframe, object, script:not([src='/app.js'])").length), 0);
  b.clean();
  answer("deny", "hostile-asks", call);
});

test("a slash offers prompts, which the keyboard takes", async () => {
  const commands = path.join(work, ".claude", "commands", "front");
  fs.mkdirSync(commands, { recursive: true });
  fs.writeFileSync(path.join(commands, "ship.md"), `---\ndescription: ships ${evil}\nargument-hint: [where]\n---\nsay Shipped to $1.`);
  fs.writeFileSync(path.join(commands, "shut.md"), "say Shut.");
  create("slashes", "--ask", "never");
  await b.size(narrow);
  await b.goto("#/pod/slashes");
  const field = b.page.getByLabel("Write to slashes");
  const offers = b.page.locator(".offers button");
  await field.waitFor(); // Until the page has the pod, its field is hidden, and a key is for the page.
  await field.pressSequentially("/sh");
  await offers.nth(1).waitFor();
  assert.match(await offers.first().innerText(), /^\/front:ship where ships <img src=/);
  assert.equal(await offers.first().getAttribute("aria-current"), "true");
  await field.press("ArrowDown");
  assert.equal(await offers.nth(1).getAttribute("aria-current"), "true");
  await field.press("ArrowDown");
  await field.press("Enter");
  assert.equal(await field.inputValue(), "/front:ship ");
  assert.equal(await offers.count(), 0);
  await field.pressSequentially("the moon");
  await field.press("Enter");
  await b.page.locator(".answer", { hasText: "Shipped to the." }).waitFor();
  // Escape leaves the text, and what is no prompt is sent as it is.
  await field.pressSequentially("/front:shut");
  await offers.first().waitFor();
  await field.press("Escape");
  assert.equal(await offers.count(), 0);
  assert.equal(await field.inputValue(), "/front:shut");
  await field.press("Enter");
  await b.page.locator(".answer", { hasText: "Shut." }).waitFor();
  await field.pressSequentially("/");
  await offers.getByText("/front:shut", { exact: true }).click();
  assert.equal(await field.inputValue(), "/front:shut ");
  await field.fill("");
  // A name that was typed in full is sent, though a longer one sorts before it.
  fs.writeFileSync(path.join(commands, "shut-all.md"), "say All.");
  await field.pressSequentially("/front:shut");
  await offers.nth(1).waitFor();
  await field.press("Enter");
  await b.page.locator(".answer", { hasText: "Shut." }).nth(1).waitFor();
  // What podd refuses stays in the field.
  fs.writeFileSync(path.join(commands, "empty.md"), "");
  await field.fill("/front:empty x");
  await field.press("Enter");
  await b.page.getByText("/front:empty cannot be used: it says nothing").waitFor();
  assert.equal(await field.inputValue(), "/front:empty x");
  fs.rmSync(path.join(work, ".claude"), { recursive: true });
  await field.fill("");
  b.clean();
});

test("a picture is a line", async () => {
  const file = path.join(work, "dot.png");
  fs.writeFileSync(file, Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==", "base64"));
  create("pictures", "--ask", "never");
  podctl("submit", "-p", "pictures", "-f", "--image", file, "look");
  await b.goto("#/pod/pictures");
  await b.page.locator(".block.user .picture", { hasText: "[picture dot.png, PNG 1×1, 67 bytes]" }).waitFor();
});

test("a call is approved with two taps, once all of it was on the screen", async () => {
  create("taps", "--ask", "always");
  submit("taps", "run echo tapped");
  await asks("taps");
  await b.size(phone);
  await b.goto("#/");
  const card = b.page.locator('a.ask-card:has-text("taps")');
  await card.waitFor();
  // When all was on the screen, and when the buttons began to work.
  await b.page.evaluate(() => {
    globalThis.moments = {};
    const observer = new MutationObserver(() => {
      if (document.querySelector('.whole[data-seen="100"]')) globalThis.moments.seen ??= performance.now();
      if (document.querySelector("button.yes:enabled")) globalThis.moments.works ??= performance.now();
      if (globalThis.moments.works) observer.disconnect();
    });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await card.click();
  await b.page.locator("button.yes:enabled").click();
  const { seen, works } = await b.page.evaluate(() => globalThis.moments);
  // A timer is never early.
  assert.ok(works - seen >= 499, `the buttons work ${works - seen} ms after all was seen`);
  await b.page.getByText("Approved: shell of taps").waitFor();
  await b.until("the end", () => podctl("tail", "taps").includes("turn 1 finished"));
});

test("a call that does not fit is read to its end first", async () => {
  create("long", "--ask", "always");
  submit("long", `run ${Array.from({ length: 120 }, (_, i) => `echo line ${i}`).join("; ")}`);
  await asks("long");
  await b.size(phone);
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("long")').click();
  await b.page.getByText(/Read all of it to approve/).waitFor();
  assert.ok(await b.page.locator("button.no").isEnabled(), "a call can be denied unread");
  assert.ok((await b.page.locator(".argument").first().innerText()).includes("echo line 119"), "nothing is cut");
  const bottom = () => b.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await bottom();
  await b.frame();
  assert.ok(await b.page.locator("button.yes").isDisabled(), "a jump to the end leaves a piece out");
  await b.page.evaluate(() => scrollTo(0, 0));
  for (let i = 0; i < 40 && !(await b.page.locator("button.yes").isEnabled()); i++) {
    await b.page.mouse.wheel(0, 200);
    await b.frame();
    if (await b.page.evaluate(() => innerHeight + scrollY >= document.documentElement.scrollHeight - 2)) break;
  }
  await b.page.locator("button.no:enabled").click();
  await b.page.getByText("Denied: shell of long").waitFor();
});

test("a script that a command executes is shown", async () => {
  fs.writeFileSync(path.join(work, "shown.sh"), "echo one\n\nrm -r \u202eout\n");
  create("scripted", "--ask", "always");
  submit("scripted", "run sh shown.sh");
  const call = await asks("scripted");
  await b.size(wide);
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("scripted")').click();
  await b.page.locator(".argument", { hasText: "sh shown.sh" }).waitFor();
  await b.page.locator(".whole figcaption", { hasText: "runs shown.sh" }).waitFor();
  await b.page.locator(".whole .diff", { hasText: "echo one" }).waitFor();
  await b.page.locator(".whole .warning", { hasText: "1 hidden character" }).waitFor();
  answer("deny", "scripted", call);
});

test("a call that changed is shown anew", async () => {
  fs.writeFileSync(path.join(work, "changed.txt"), "one\ntwo\nthree\n");
  create("changes", "--ask", "always");
  submit("changes", "patch *** Begin Patch\n*** Update File: changed.txt\n@@\n-three\n+four\n*** End Patch\n");
  const call = await asks("changes");
  // A page of its own: what is routed here streams no more.
  const page = await b.context.newPage();
  await page.setViewportSize(wide);
  await page.goto(b.base);
  await page.locator('a.ask-card:has-text("changes")').click();
  await page.locator(".diff .plus", { hasText: "four" }).waitFor();
  await page.locator("button.yes:enabled").waitFor();
  // Another device answers first, and podd asks again, for the file has changed.
  await page.route("**/ResolveApproval", async (route) => {
    fs.writeFileSync(path.join(work, "changed.txt"), "one\nTWO\nthree\n");
    answer("approve", "changes", call);
    await asks("changes", "TWO");
    await route.continue();
  }, { times: 1 });
  await page.locator("button.yes").click();
  await page.getByText("The call has changed since you saw it").waitFor();
  await page.locator(".diff", { hasText: "TWO" }).waitFor();
  await page.locator("button.yes:enabled").click();
  await page.getByText("Approved: apply_patch of changes").waitFor();
  await page.close();
});

test("another device may be first", async () => {
  create("second", "--ask", "always");
  submit("second", "run echo second");
  const call = await asks("second");
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("second")').click();
  await b.page.locator("button.yes:enabled").waitFor();
  answer("approve", "second", call);
  await b.page.getByText("The question is no longer open.").waitFor();
  assert.equal(await b.page.locator("button.yes").count(), 0);
});

/** other answers the question that a tab shows in another one. */
const other = (page, pod, how) =>
  b.page.evaluate(async ([pod, seq, how]) => {
    const { call } = await import("/rpc.js");
    const { approvals } = await call("ApprovalService/ListApprovals", { pod });
    const { digest } = approvals.find((a) => a.callSeq === seq);
    await call("ApprovalService/ResolveApproval", { pod, callSeq: seq, digest, client: "web", ...how });
  }, [pod, new URL(page.url()).hash.split("/").at(-1), how]);

/** asked makes a pod ask questions, and opens them. */
async function asked(pod, questions, page = b.page, verb = "ask") {
  create(pod);
  submit(pod, `${verb} ${JSON.stringify({ questions })}`);
  await asks(pod);
  if (page === b.page) await b.goto("#/");
  await page.locator(`a.ask-card:has-text("${pod}")`).first().click();
  await page.getByRole("heading", { name: `${pod} asks you` }).waitFor();
}
const told = (pod) => podctl("tail", pod, "--after", "0", "-o", "json");

test("questions are answered in a form", async () => {
  await b.size(phone);
  await asked("three", [
    { question: `Which? ${evil}`, header: "Database", options: [{ label: "SQLite", description: "one file" }, { label: `${evil}` }] },
    { question: "Where?", header: "Place", multiple: true, options: [{ label: "dev" }, { label: "staging" }, { label: "production" }] },
    { question: "When?", header: "Time" },
  ]);
  const yes = b.page.getByRole("button", { name: "Answer", exact: true });
  assert.equal(await b.page.getByRole("button", { name: /Approve|Deny/ }).count(), 0, "it is no approval");
  const first = b.page.getByRole("group", { name: /Which/ });
  assert.ok((await first.innerText()).includes("<script>pwned=1</script>") && (await first.innerText()).includes("\\u{202e}"), "markup and hidden characters are shown as text");
  assert.ok(await yes.isDisabled(), "nothing is answered");
  await b.page.getByText("3 questions without an answer").waitFor();
  assert.deepEqual(await b.axe(), []);
  await b.page.getByRole("radio", { name: /SQLite/ }).check();
  await b.page.getByRole("checkbox", { name: "dev" }).check();
  await b.page.getByRole("checkbox", { name: "production" }).check();
  await b.page.getByText("1 question without an answer").waitFor();
  await b.page.getByRole("textbox", { name: "Answer, question 3" }).fill("at noon");
  await yes.click();
  await b.page.getByText("Answered: ask_user of three").waitFor();
  await b.until("the end", () => podctl("tail", "three").includes("turn 1 finished"));
  for (const said of ["Answer: SQLite", "Answer: dev, production", "Answer: at noon", "web"]) assert.ok(told("three").includes(said), said);
  assert.equal(await b.page.evaluate(() => globalThis.pwned), undefined);
  b.clean();
});

test("a question is answered with keys alone, in words, and left to the model", async () => {
  await b.size(wide);
  const question = [{ question: "Which?", header: "Database", options: [{ label: "SQLite" }, { label: "Postgres" }] }];
  await asked("form-keys", question);
  await b.page.getByRole("radio", { name: "SQLite" }).focus();
  await b.page.keyboard.press("ArrowDown");
  await b.page.keyboard.press("ArrowDown");
  await b.page.keyboard.press("Tab");
  await b.page.keyboard.type("neither");
  const focused = () => b.page.evaluate(() => document.activeElement?.closest("button")?.textContent ?? "");
  for (let i = 0; i < 20 && (await focused()) !== "Answer"; i++) await b.page.keyboard.press("Tab");
  await b.page.keyboard.press("Enter");
  await b.page.getByText("Answered: ask_user of form-keys").waitFor();
  await b.until("the answer", () => told("form-keys").includes("Answer: neither"));
  await asked("form-left", question);
  await b.page.getByRole("button", { name: "Let the model decide" }).click();
  await b.page.getByText("Left to the model: ask_user of form-left").waitFor();
  await b.until("the answer", () => told("form-left").includes("decide yourself"));
  b.clean();
});

test("of two answers to a question the second shows the first", async () => {
  // A page of its own: what is routed here streams no more.
  const page = await b.context.newPage();
  await page.setViewportSize(wide);
  await page.goto(b.base);
  const question = [{ question: "Which?", header: "Database", options: [{ label: "SQLite" }, { label: "Postgres" }] }];
  // The second question keeps the turn open.
  await asked("form-second", question, page, "asks");
  await page.getByRole("radio", { name: "SQLite" }).check();
  await page.route("**/ResolveApproval", async (route) => {
    await other(page, "form-second", { approve: true, replies: [{ choices: [2] }] });
    await route.continue();
  }, { times: 1 });
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.getByText(/the question was already answered by .*: Postgres at/).waitFor();
  podctl("cancel", "form-second");
  await page.goto(b.base);
  await asked("form-gone", question, page);
  await other(page, "form-gone", { dismiss: true });
  await page.getByText("The question is no longer open.").waitFor();
  await page.close();
});

test("a person writes, and reads the answer as it is written", async () => {
  create("writes", "--ask", "never");
  await b.size(wide);
  await b.goto("#/pod/writes");
  await b.page.locator("textarea").waitFor();
  await b.page.keyboard.press("i");
  await b.page.keyboard.type("say **hello** from the page");
  await b.page.keyboard.press("Enter");
  await b.page.locator(".answer strong", { hasText: "hello" }).waitFor();
  await b.page.locator(".end", { hasText: "Turn 1 finished" }).waitFor();
  await b.page.locator("textarea").fill("slow");
  await b.page.keyboard.press("Enter");
  await b.page.locator('.answer[aria-busy="true"]').waitFor();
  await b.page.getByRole("button", { name: "Cancel turn" }).click();
  await b.page.locator(".end", { hasText: "Turn 2 cancelled" }).waitFor();
  b.clean();
});

test("a pasted @path stays text, wherever the draft goes", async () => {
  fs.writeFileSync(path.join(work, "pasted.txt"), "pasted\n");
  fs.writeFileSync(path.join(work, "typed.txt"), "typed\n");
  create("pastes", "--ask", "never");
  await b.goto("#/pod/pastes");
  const field = b.page.locator("textarea");
  await field.fill("@pasted.txt ");
  await field.press("Control+A");
  await field.press("Control+X");
  await field.pressSequentially("say @typed.txt ");
  await field.press("Home");
  await field.press("Control+V");
  await field.press("Control+V");
  await field.press("Control+Z");
  await field.press("Control+Shift+Z");
  await field.press("Home");
  await field.pressSequentially("x ");
  await b.goto("#/");
  await b.goto("#/pod/pastes");
  await field.press("Enter");
  await b.page.locator(".end", { hasText: "Turn 1 finished" }).waitFor();
  const log = podctl("tail", "pastes", "--after", "0", "-o", "json");
  assert.equal(log.split('{"file_ref":').length - 1, 1, log);
  assert.ok(log.includes("[File: typed.txt]") && !log.includes("[File: pasted.txt]"), log);
  b.clean();
});

test("a prompt that waits stands at the end, and then above its answer", async () => {
  create("queue", "--ask", "never");
  await b.goto("#/pod/queue");
  podctl("submit", "-p", "queue", "slow");
  await b.page.locator('.answer[aria-busy="true"]').waitFor();
  podctl("submit", "-p", "queue", "say second");
  const order = () => b.page.locator(".transcript > .block").evaluateAll((all) => all.map((e) => (e.matches(".user, .answer, .end") ? `${e.classList[1]} ${e.textContent.slice(0, 12)}` : "")).filter(Boolean));
  await b.until("the prompt at the end", async () => /^user say second/.test((await order()).at(-1) ?? ""));
  await b.page.getByRole("button", { name: "Cancel turn" }).click();
  await b.page.locator(".end", { hasText: "Turn 2 finished" }).waitFor();
  for (const when of ["at once", "later"]) {
    const rows = await order();
    assert.deepEqual(rows.slice(-4).map((row) => row.slice(0, 8)), ["end Turn", "user say", "answer s", "end Turn"], `${when}: ${rows.join("|")}`);
    await b.goto("#/pod/queue");
    await b.page.locator(".end", { hasText: "Turn 2 finished" }).waitFor();
  }
  b.clean();
});

test("what a pod changed in files is shown by turn, with what podd does not keep", async () => {
  create("writer", "--ask", "never");
  fs.writeFileSync(path.join(work, "kept.txt"), "one\ntwo\n");
  podctl("submit", "-p", "writer", "-f", "patch *** Begin Patch\n*** Add File: made.txt\n+fresh\n*** Update File: kept.txt\n@@\n-two\n+zwei\n*** End Patch\n");
  podctl("submit", "-p", "writer", "-f", "say nothing");
  await b.size(wide);
  await b.goto("#/pod/writer");
  await b.page.locator(".end", { hasText: "Turn 2 finished" }).waitFor();
  await b.page.getByRole("link", { name: "Changes", exact: true }).click();
  const file = (name) => b.page.locator(".changed .file", { has: b.page.locator(".path", { hasText: name }) });
  await file("kept.txt").locator(".diff .plus", { hasText: "zwei" }).waitFor();
  await file("made.txt").locator(".tag", { hasText: "new" }).waitFor();
  assert.equal(await file("made.txt").locator(".stat").innerText(), "+1 −0");
  await b.page.getByLabel("Turn", { exact: true }).selectOption("2");
  await b.page.getByText("Turn 2 changed no files.").waitFor();
  await b.page.getByLabel("Turn", { exact: true }).selectOption("1");
  await b.page.getByText("2 files changed").waitFor();
  fs.mkdirSync(path.join(work, "node_modules"), { recursive: true });
  fs.writeFileSync(path.join(work, "node_modules", "x.js"), "x");
  fs.writeFileSync(path.join(work, ".gitignore"), "node_modules/\n");
  await b.page.getByLabel("also paths whose changes podd does not record").check();
  await b.page.locator(".left-out li", { hasText: "node_modules/" }).waitFor();
  b.clean();
});

test("triggers are shown with what became of each due time, and are paused and resumed", async () => {
  create("timed", "--ask", "never");
  podctl("trigger", "add", "nightly", "-p", "timed", "--cron", "0 3 * * *", "--no-stdin", "say good night");
  podctl("trigger", "fire", "nightly", "--no-stdin");
  await b.until("the fire", () => podctl("trigger", "show", "nightly").includes("fired, finished"));
  await b.size(wide);
  await b.goto("#/pod/timed");
  await b.page.getByRole("link", { name: "Triggers", exact: true }).click();
  await b.page.getByText("1 trigger", { exact: true }).waitFor();
  await b.page.locator(".trigger .facts", { hasText: /0 3 \* \* \*.*next due .*today 1/ }).waitFor();
  await b.page.locator(".receipts li", { hasText: "fired, finished" }).waitFor();
  assert.deepEqual(await b.axe(), []);
  await b.page.getByRole("button", { name: "Pause trigger nightly" }).click();
  await b.page.locator(".trigger .facts", { hasText: "paused: by a person" }).waitFor();
  await b.page.getByRole("button", { name: "Resume trigger nightly" }).click();
  await b.page.locator(".trigger .facts", { hasText: "next due" }).waitFor();
  assert.ok(podctl("trigger", "list", "timed").includes(" on"));
  await b.page.locator(".receipts a", { hasText: "turn 1" }).click();
  await b.page.locator(".block.user", { hasText: "say good night" }).waitFor();
  b.clean();
});

test("a pod in a checkout shows its branch", async () => {
  const repo = path.join(work, "repo");
  const git = (...args) => execFileSync("git", ["-C", repo, "-c", "user.name=a", "-c", "user.email=a@example.org", ...args]);
  fs.mkdirSync(repo);
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "begin");
  podctl("create", "branched", "--dir", repo, "--worktree", "--ask", "never");
  await b.size(wide);
  await b.goto("#/");
  await b.page.locator("main .row", { hasText: "repo (podd/branched)" }).click();
  await b.page.locator(".facts", { hasText: "repo (podd/branched)" }).waitFor();
  b.clean();
});

test("keys alone lead everywhere", async () => {
  await b.size(wide);
  await b.goto("#/");
  await b.page.locator("main .row").first().waitFor();
  await b.page.keyboard.press("?");
  await b.page.getByRole("dialog", { name: "Keys" }).waitFor();
  await b.page.keyboard.press("Escape");
  await b.page.keyboard.press("/");
  await b.page.keyboard.type("writes");
  await b.until("the filter", async () => (await b.page.locator("main .row").count()) === 1);
  await b.page.keyboard.press("Escape");
  await b.page.keyboard.press("j");
  assert.equal(await b.page.evaluate(() => document.activeElement.querySelector("b").textContent), "writes");
  await b.page.keyboard.press("Enter");
  await b.page.getByRole("heading", { name: "writes", exact: true }).waitFor();
  await b.page.keyboard.press("/");
  await b.page.getByRole("heading", { name: "Search" }).waitFor();
  await b.page.keyboard.type("from the page");
  await b.page.locator(".hits mark", { hasText: "from the page" }).first().waitFor();
  await b.page.keyboard.press("Escape");
  await b.page.keyboard.press("j");
  await b.page.keyboard.press("Enter");
  await b.page.locator(".block.found").waitFor();
});

test("alerts are acknowledged, and usage is in plots and tables", async () => {
  create("alerted", "--ask", "always");
  submit("alerted", "run echo alerted");
  await asks("alerted");
  limited("stopped");
  await b.goto("#/alerts");
  await b.page.locator(".alerts li", { hasText: "stopped" }).waitFor();
  // A question is a card, and no alert, as soon as the page has both.
  await b.page.locator(".alerts li", { hasText: "alerted" }).waitFor({ state: "detached" });
  const all = b.page.getByRole("button", { name: "Acknowledge all" });
  await all.click();
  await b.page.getByText("Nothing to acknowledge.").waitFor();
  const left = podctl("alerts", "--unacked", "-o", "json").trim().split("\n");
  assert.deepEqual(left.filter((l) => !l.includes("APPROVAL_WAITS")), []);
  podctl("cancel", "alerted");
  for (const by of ["DAY", "POD"]) {
    await b.goto(`#/usage?by=${by}`);
    await b.page.locator(".plot").nth(3).waitFor();
    await b.page.locator(".plot summary").nth(1).click();
    await b.page.locator(".plot").nth(1).locator("tbody td").first().waitFor();
    assert.ok((await b.page.locator(".plot .bar").count()) > 0);
    // podctl shows the same numbers.
    const sums = JSON.parse(podctl("stats", "--by", by.toLowerCase(), "-o", "json")).sums;
    const rows = (plot) => b.page.locator(".plot").nth(plot).locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll(",", "")).slice(0, 3).join("\t")).sort());
    const of = (...values) => values.map((v) => v ?? 0).join("\t");
    assert.deepEqual(await rows(1), sums.map((s) => of(s.day || s.pod_name, s.usage?.input_tokens, s.usage?.output_tokens)).sort());
    assert.deepEqual((await rows(0)).map((row) => row.split("\t")[2]).sort(), sums.map((s) => of(s.usage?.requests)).sort());
  }
  b.clean();
});

const views = { fleet: "#/", pod: "#/pod/hostile", files: "#/files/writer", search: "#/search?q=pwned", usage: "#/usage", alerts: "#/alerts" };

test("each view fits from 320 pixels on, and axe finds nothing", async () => {
  create("shown", "--ask", "always");
  submit("shown", "run echo shown");
  await asks("shown");
  limited("alert");
  for (const size of [narrow, wide]) {
    await b.size(size);
    for (const scheme of ["light", "dark"]) {
      await b.page.emulateMedia({ colorScheme: scheme });
      for (const [name, at] of Object.entries({ ...views, ask: "#/" })) {
        await b.goto(at);
        if (name === "ask") await b.page.locator('a.ask-card:has-text("shown")').click();
        await b.page.locator({ fleet: "main .row", pod: ".block.end", files: ".changed .diff", search: ".hits a", usage: ".plot", alerts: ".alerts li", ask: ".answers" }[name]).first().waitFor();
        const where = `${name}, ${scheme}, ${size.width} px`;
        const [is, has] = await b.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(is <= has, `${where}: ${is} px wide`);
        assert.deepEqual(await b.axe(), [], where);
        await b.shot(`${name}-${scheme}-${size.width}`);
      }
    }
  }
  b.clean();
});

test("axe finds nothing in pairing, in the list of keys, and where there is nothing to show", async () => {
  create("fresh", "--ask", "never");
  const stranger = await b.chromium.newContext();
  const page = await stranger.newPage();
  await page.goto(b.base);
  await page.getByRole("heading", { name: "Pair this browser" }).waitFor();
  for (const width of [320, 1440]) {
    for (const colorScheme of ["light", "dark"]) {
      const where = `${colorScheme}-${width}`;
      await page.setViewportSize({ width, height: 700 });
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await b.axe(page), [], `pairing, ${where}`);
      await b.shot(`pair-${where}`, page);
      await b.size({ width, height: 700 });
      await b.page.emulateMedia({ colorScheme });
      for (const [name, at, says] of [["nothing", "#/search?q=nosuchtext", "Nothing found."], ["fresh", "#/pod/fresh", "Nothing yet."], ["unchanged", "#/files/fresh", "No turn has changed files."], ["unknown", "#/pod/nosuchpod", "No pod has the name"]]) {
        await b.goto(at);
        await b.page.getByText(says).waitFor();
        assert.deepEqual(await b.axe(), [], `${name}, ${where}`);
        await b.shot(`${name}-${where}`);
      }
      await b.page.keyboard.press("?");
      await b.page.getByRole("dialog", { name: "Keys" }).waitFor();
      assert.deepEqual(await b.axe(), [], `keys, ${where}`);
      await b.shot(`keys-${where}`);
      await b.page.keyboard.press("Escape");
    }
  }
  await stranger.close();
});

test("a call is answered with keys alone", async () => {
  create("by-keys", "--ask", "always");
  submit("by-keys", "run echo keys");
  await asks("by-keys");
  await b.size(wide);
  await b.goto("#/");
  await b.page.locator('a.ask-card:has-text("by-keys")').waitFor();
  const focused = () => b.page.evaluate(() => document.activeElement?.closest("a, button")?.textContent ?? "");
  for (let i = 0; i < 20 && !(await focused()).includes("by-keys"); i++) await b.page.keyboard.press("j");
  await b.page.keyboard.press("Enter");
  await b.page.locator("button.yes:enabled").waitFor();
  for (let i = 0; i < 20 && (await focused()) !== "Approve"; i++) await b.page.keyboard.press("Tab");
  await b.page.keyboard.press("Enter");
  await b.page.getByText("Approved: shell of by-keys").waitFor();
});

test("a login that the browser sends twice is made anew", async () => {
  const [at, headers] = ["/podd.v1.DeviceService/Login", { "Content-Type": "application/json", "Connect-Protocol-Version": "1" }];
  let logins = 0;
  let twice = false;
  await b.page.route(`**${at}`, async (route) => {
    // As a browser does whose connection breaks after the request: podd gets it twice.
    if (!twice && logins++ < 3) {
      twice = true;
      await b.page.evaluate(([at, headers, body]) => fetch(at, { method: "POST", headers, body }).then((r) => r.text()), [at, headers, route.request().postData()]);
      twice = false;
    }
    await route.continue();
  });
  await b.page.evaluate(() => import("/device.js").then((m) => m.device.expired()));
  b.cut();
  await b.until("a login that counts", () => logins > 3);
  await b.until("the fleet", () => b.page.evaluate(() => import("/live.js").then(({ live }) => live.complete && !live.away && !live.ended)));
  await b.page.unroute(`**${at}`);
});

test("the first paint", async (its) => {
  const paints = [];
  const rows = [];
  for (let i = 0; i < 20; i++) {
    const page = await b.context.newPage();
    await page.goto(b.base);
    await page.locator("main .row").first().waitFor();
    const [paint, row] = await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0].startTime, performance.now()]);
    paints.push(paint);
    rows.push(row);
    await page.close();
  }
  const p95 = (all) => Math.round(all.sort((x, y) => x - y)[Math.ceil(0.95 * all.length) - 1]);
  its.diagnostic(`measured: first contentful paint ${p95(paints)} ms, the fleet's first row ${p95(rows)} ms, p95 of ${paints.length} loads`);
});

test("podd away is said, and what was written is kept", async () => {
  await b.goto("#/pod/writes");
  await b.page.locator(".end", { hasText: "Turn 2 cancelled" }).waitFor();
  b.stop();
  await b.page.getByText(/podd is away since/).waitFor();
  assert.deepEqual(await b.axe(), [], "away");
  await b.shot("away");
  assert.ok(await b.page.getByRole("button", { name: "Send" }).isDisabled());
  await b.page.locator(".end", { hasText: "Turn 2 cancelled" }).waitFor();
  b.go();
  await b.page.getByText(/podd is away since/).waitFor({ state: "hidden" });
  assert.ok(await b.page.getByRole("button", { name: "Send" }).isEnabled());
});

test("a browser that is revoked sees nothing any more", async () => {
  await b.goto("#/pod/writes");
  await b.page.locator(".end", { hasText: "Turn 2 cancelled" }).waitFor();
  const [device] = podctl("web", "devices", "-o", "json").trim().split("\n").map((line) => JSON.parse(line));
  podctl("web", "revoke", device.name);
  await b.page.getByRole("heading", { name: "Pair this browser" }).waitFor();
  await b.page.getByText("this browser is not paired any more").waitFor();
  assert.equal(await b.page.locator(".transcript, .row, .ask-card").count(), 0);
  assert.ok(!(await b.page.content()).includes("writes"), "a pod's name is left");
  await b.page.reload();
  await b.page.getByRole("heading", { name: "Pair this browser" }).waitFor();
  b.clean();
});
