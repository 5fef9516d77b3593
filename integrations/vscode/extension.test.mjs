// The extension in VS Code, as a person uses it. Go starts podd, whose model says again
// what it is told and runs what stands behind "run"; all calls ask.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { Editor } from "./editor.mjs";
import { Neovim } from "./neovim.mjs";

const { HOME: home, WORK: work, PODD_SCREENSHOTS: screenshots } = process.env;

function podctl(...args) {
  const done = spawnSync("podctl", args, { encoding: "utf8" });
  assert.equal(done.status, 0, `podctl ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

/** waiting is the sequence of the one call of a pod that waits; undefined for none. */
function waiting(pod) {
  const line = podctl("approvals", pod, "-o", "json").trim();
  return line ? JSON.parse(line).call_seq : undefined;
}

let e;
before(async () => {
  fs.writeFileSync(path.join(work, "a.txt"), "one\ntwo\nthree\nfour\n");
  e = await Editor.open(path.join(home, "code"), work);
});
after(() => e?.close());

let failed = false;
/** check is a test that goes on in the window where the one before left it. */
function check(name, run) {
  test(name, async () => {
    assert.ok(!failed, "a test before this one failed");
    try {
      await run();
    } catch (err) {
      failed = true;
      if (screenshots) await e.page.screenshot({ path: path.join(screenshots, `${name.replace(/\W+/g, "-")}.png`) });
      throw err;
    }
  });
}

const idle = () => e.await("idle", e.statusBar.bind(e), (text) => text.includes("here: idle"));

check("the status bar shows the folder's pod", async () => {
  await idle();
});

check("a selection goes to the folder's pod, as a reference to its lines", async () => {
  await e.openFile("a.txt");
  await e.page.keyboard.press("Control+Home");
  await e.page.keyboard.press("ArrowDown");
  await e.page.keyboard.press("Shift+ArrowDown");
  await e.page.keyboard.press("Shift+End");
  await e.command("podd: Submit Selection");
  const asked = await e.await("the prompt", e.prompt.bind(e), (text) => text.includes("Message to"));
  assert.match(asked, /^Message to here about a\.txt:2-3;/);
  await e.page.locator(".quick-input-widget input").fill("explain");
  await e.page.keyboard.press("Enter");
  const page = await e.stream();
  await page.getByText("turn 1 finished").waitFor();
  assert.match(podctl("tail", "here", "--after", "0"), /a\.txt:2-3/);
  await e.await("the tokens", e.statusBar.bind(e), (text) => /here: idle · .* in, .* out/.test(text));
});

check("a call is shown once, asks once, and asks no more once it is answered", async () => {
  const page = await e.stream();
  await page.locator("#input").fill("run echo three");
  await page.locator("#input").press("Enter");
  await page.locator(".ask").first().waitFor();
  await e.await("the state", e.statusBar.bind(e), (text) => text.includes("here: asks"));
  assert.equal(await page.locator(".block.call").count(), 1);
  assert.equal(await page.locator(".ask").count(), 1);
  assert.equal(await page.locator(".alert").count(), 0);
  assert.deepEqual(await e.notifications(), []);
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("turn 2 finished").waitFor();
  assert.equal(await page.locator(".ask").count(), 0);
  assert.equal(await page.locator(".block.call").count(), 1);
  await page.locator('.block.call[data-state="done"] summary .what', { hasText: "shell" }).waitFor();
  await idle();
});

check("a turn that waits can be cancelled", async () => {
  const page = await e.stream();
  await page.locator("#input").fill("run echo four");
  await page.locator("#input").press("Enter");
  await page.locator(".ask").waitFor();
  await page.getByRole("button", { name: "Cancel turn" }).click();
  await page.getByText(/Turn 3 cancelled/).waitFor();
  assert.equal(await page.locator(".ask").count(), 0);
  await page.getByRole("button", { name: "Cancel turn" }).waitFor({ state: "hidden" });
});

// The first prompt also ends the cancelled call for the model, which runs nothing behind its result.
check("plan mode is switched below the stream", async () => {
  const page = await e.stream();
  const plan = page.getByRole("button", { name: "Plan", exact: true });
  const said = () => podctl("tail", "here", "-n", "20");
  await plan.click();
  await page.locator("#input").fill("plan it");
  await page.locator("#input").press("Enter");
  await page.getByText("turn 4 finished").waitFor();
  assert.match(said(), /turn 4 started \(plan\)/);
  assert.equal(await plan.getAttribute("aria-pressed"), "true");
  await plan.click();
  await page.locator("#input").fill("act");
  await page.locator("#input").press("Enter");
  await page.getByText("turn 5 finished").waitFor();
  assert.match(said(), /turn 5 started\n/);
});

check("the stream's tab is there again when the window is loaded again", async () => {
  // The tab is stored when it opens, what it needs to come back a little later: that names the pod.
  await e.reload(JSON.parse(podctl("show", "here", "-o", "json")).id);
  const page = await e.stream();
  await page.getByText(/Turn 3 cancelled/).waitFor();
  await e.page.locator(".tab", { hasText: "podd: here" }).waitFor();
});

check("without its stream a question is one notification of one window, which goes away with the answer; so is an alert", async () => {
  await e.closeTab("podd: here");
  const other = await e.window(process.env.OTHER);
  await e.await("the other window", other.statusBar.bind(other), (text) => text.includes("elsewhere: idle"));
  // A window of the pod's folder comes first, unless it is too slow: then another one has the notice, alone too.
  const notices = async () => (await Promise.all([e, other].map((w) => w.notifications()))).flat();
  podctl("submit", "-p", "elsewhere", "-f", "see @./missing.txt");
  await e.await("the alert", notices, (list) => list.length === 1 && list[0].includes("warning: @./missing.txt is sent as text"));
  const alert = podctl("alerts", "--unacked", "-o", "json").trim().split("\n").map((line) => JSON.parse(line)).find((a) => a.text.includes("missing.txt"));
  podctl("alerts", "ack", String(alert.seq));
  await e.await("no alert", notices, (list) => list.length === 0);
  podctl("submit", "-p", "elsewhere", "-f", "see @./missing.txt");
  await e.await("the alert", notices, (list) => list.length === 1);
  const holder = (await other.notifications()).length === 1 ? other : e;
  await holder.page.getByRole("link", { name: "Acknowledge" }).click();
  await e.await("no alert", notices, (list) => list.length === 0);
  assert.equal(podctl("alerts", "--unacked", "-o", "json").includes("missing.txt"), false);
  podctl("submit", "-p", "elsewhere", "run echo five");
  const shown = await e.await("the notification", notices, (list) => list.length > 0);
  assert.match(shown.join("\n"), /^elsewhere: .*Review and answer$/);
  await e.await("the count", e.statusBar.bind(e), (text) => text.endsWith("1"));
  assert.deepEqual(await notices(), shown);
  // The window that is left takes over.
  await other.page.close();
  await e.await("the notification", e.notifications.bind(e), (list) => list.length === 1);
  podctl("approve", "elsewhere", waiting("elsewhere"));
  await e.await("no notification", e.notifications.bind(e), (list) => list.length === 0);
});

check("a notification leads to the whole call and its answer", async () => {
  podctl("submit", "-p", "here", "run echo six");
  await e.review();
  const page = await e.stream();
  await page.locator(".ask .what", { hasText: "echo six" }).waitFor();
  await e.await("no notification", e.notifications.bind(e), (list) => list.length === 0);
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("turn 6 finished").waitFor();
});

check("an edit that waits is a diff, which goes away with the answer", async () => {
  const page = await e.stream();
  const tab = e.page.locator(".tab", { hasText: "a.txt: here proposes" });
  const show = async (text) => {
    await page.locator("#input").fill(`replace a.txt ${text}`);
    await page.locator("#input").press("Enter");
    await page.getByRole("button", { name: "Show diff" }).click();
    await tab.waitFor();
    const diff = e.page.locator(".monaco-diff-editor");
    await diff.locator(".editor.modified .view-line", { hasText: text }).first().waitFor();
    await e.await("what is replaced", () => diff.innerText(), (shown) => shown.includes("three"));
    assert.deepEqual(await e.notifications(), []);
  };
  await show("uno");
  podctl("deny", "here", waiting("here"));
  await tab.waitFor({ state: "detached" });
  await idle();
  assert.equal(fs.readFileSync(path.join(work, "a.txt"), "utf8"), "one\ntwo\nthree\nfour\n");
  await show("dos");
  await e.page.locator(".editor-actions").getByRole("button", { name: "Allow the Proposed Change" }).first().click();
  await tab.waitFor({ state: "detached" });
  await page.getByText("turn 8 finished").waitFor();
  assert.equal(fs.readFileSync(path.join(work, "a.txt"), "utf8"), "one\ntwo\ndos\nfour\n");
});

check("a file that has changed since asks anew, with a new diff", async () => {
  fs.writeFileSync(path.join(work, "c.txt"), "one\ntwo\nthree\nfour\n");
  podctl("submit", "-p", "here", "replace c.txt tres");
  const page = await e.stream();
  await page.getByRole("button", { name: "Show diff" }).click();
  const diff = e.page.locator(".monaco-diff-editor");
  await diff.locator(".editor.modified .view-line", { hasText: "tres" }).first().waitFor();
  fs.writeFileSync(path.join(work, "c.txt"), "one\nzwei\nthree\nfour\n");
  const allow = e.page.locator(".editor-actions").getByRole("button", { name: "Allow the Proposed Change" }).first();
  await allow.click();
  await diff.locator(".editor.original .view-line", { hasText: "zwei" }).first().waitFor();
  await diff.locator(".editor.modified .view-line", { hasText: "tres" }).first().waitFor();
  assert.equal(fs.readFileSync(path.join(work, "c.txt"), "utf8"), "one\nzwei\nthree\nfour\n");
  await allow.click();
  await page.getByText("turn 9 finished").waitFor();
  assert.equal(fs.readFileSync(path.join(work, "c.txt"), "utf8"), "one\nzwei\ntres\nfour\n");
});

check("files that are made, deleted and moved are diffs too", async () => {
  fs.writeFileSync(path.join(work, "old.txt"), "gone\n");
  podctl("submit", "-p", "here", "patch *** Begin Patch\n*** Add File: new.txt\n+fresh\n*** Delete File: old.txt\n*** Update File: c.txt\n*** Move to: sub/b.txt\n@@\n one\n-zwei\n+two\n*** End Patch");
  const page = await e.stream();
  await page.getByRole("button", { name: "Show 3 diffs" }).click();
  for (const [title, before, after] of [
    ["new.txt: here proposes to create it", "", "fresh"],
    ["old.txt: here proposes to delete it", "gone", ""],
    ["c.txt: here proposes to move it to sub/b.txt", "zwei", "one\ntwo\ntres\nfour"],
  ]) {
    await e.page.locator(".tab", { hasText: title }).click();
    const diff = e.page.locator(".monaco-diff-editor");
    // What a narrow diff shows in place has a class of its own.
    const modified = diff.locator(".editor.modified .view-lines:not(.line-delete)");
    await e.await(title, async () => (await modified.innerText()).trim(), (text) => text === after);
    await e.await(title, () => diff.innerText(), (text) => text.includes(before));
  }
  podctl("approve", "here", waiting("here"));
  await e.page.locator(".tab", { hasText: "here proposes" }).first().waitFor({ state: "detached" });
  await page.getByText("turn 10 finished").waitFor();
  assert.equal(fs.readFileSync(path.join(work, "sub", "b.txt"), "utf8"), "one\ntwo\ntres\nfour\n");
});

check("what the agent changed in files is shown in one editor, and taken back after a yes", async () => {
  await e.command("podd: Show Changes of Files");
  await e.page.locator(".tab", { hasText: "What here changed in files" }).waitFor();
  const shown = e.page.locator(".multiDiffEntry");
  await e.await("the changes", () => shown.allInnerTexts().then((all) => all.join("\n")), (text) => ["new.txt", "fresh", "old.txt", "gone", "c.txt", "zwei", "b.txt"].every((want) => text.includes(want)));
  const files = () => ["new.txt", "old.txt", "c.txt", "sub/b.txt"].map((name) => path.join(work, name)).map((file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""));
  const undo = async (question) => {
    await e.command("podd: Undo Changes of Files");
    const asks = e.page.locator(".monaco-dialog-box");
    await asks.getByText(question).waitFor();
    await asks.getByText(path.join(work, "new.txt")).waitFor();
    return asks;
  };
  const [made, moved] = ["fresh\n", "one\ntwo\ntres\nfour\n"];
  await (await undo("Take back the changes of turn 10 of here in 5 paths?")).getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(files(), [made, "", "", moved]);
  await (await undo("Take back the changes of turn 10 of here in 5 paths?")).getByRole("button", { name: "Take Back" }).click();
  await e.await("the files", async () => files(), (now) => now.join("|") === "|gone\n|one\nzwei\ntres\nfour\n|");
  await (await undo("Take back the last undo of here")).getByRole("button", { name: "Take Back" }).click();
  await e.await("the files", async () => files(), (now) => now.join("|") === [made, "", "", moved].join("|"));
  await e.closeTab("What here changed in files");
  await e.page.keyboard.press("Escape");
});

check("model and effort are chosen from the palette", async () => {
  const choose = async (title, row, said) => {
    await e.command(`podd: ${title}`);
    await e.page.locator(".quick-input-list .monaco-list-row", { hasText: row }).first().click();
    await e.await(row, () => podctl("show", "here"), (text) => text.includes(said));
  };
  await choose("Choose Model", "default/other", "model: other (pod)");
  await choose("Choose Effort", "max", "effort: max (pod)");
  await e.command("podd: Choose Effort");
  await e.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: "now, from pod" }).waitFor();
  await e.page.keyboard.press("Escape");
  await choose("Choose Model", "podd's default", "model: scripted (endpoint)");
});

check("a few letters of a path offer it", async () => {
  const page = await e.stream();
  await page.locator("#input").pressSequentially("see @sbt");
  await page.locator("#paths li:first-child", { hasText: "sub/b.txt" }).waitFor();
  await page.locator("#input").press("Tab");
  assert.equal(await page.locator("#input").inputValue(), "see @sub/b.txt ");
  await page.locator("#input").fill("");
});

check("a prompt of the person's own is completed, and takes the place of its name", async () => {
  fs.mkdirSync(path.join(work, ".claude", "commands"), { recursive: true });
  fs.writeFileSync(path.join(work, ".claude", "commands", "lint.md"), "Lint $1 well.\n");
  const page = await e.stream();
  await page.locator("#input").pressSequentially("/lin");
  await page.locator("#paths li:first-child", { hasText: "/lint" }).waitFor();
  await page.locator("#input").press("Tab");
  assert.equal(await page.locator("#input").inputValue(), "/lint ");
  await page.locator("#input").pressSequentially("all");
  await page.locator("#input").press("Enter");
  await page.getByText("You said: Lint all well.").waitFor();
  await idle();
});

check("the end of a long turn out of sight is a notification", async () => {
  podctl("submit", "-p", "here", "run echo seven");
  await (await e.stream()).locator(".ask").waitFor();
  await e.await("the state", e.statusBar.bind(e), (text) => text.includes("here: asks"));
  await e.closeTab("podd: here");
  await e.later(61_000);
  await e.await("the question", e.notifications.bind(e), (list) => list.length === 1 && list[0].startsWith("here: "));
  podctl("approve", "here", waiting("here"));
  await e.await("the end", e.notifications.bind(e), (list) => list.length === 1 && list[0].startsWith("podd: here finished turn 12 "));
  await e.page.getByRole("link", { name: "Open stream" }).click();
  await (await e.stream()).getByText("turn 12 finished").waitFor();
  await e.await("no notification", e.notifications.bind(e), (list) => list.length === 0);
});

check("a picture shows below its line", async () => {
  const file = path.join(work, "dot.png");
  fs.writeFileSync(file, Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==", "base64"));
  podctl("submit", "-p", "here", "-f", "--image", file, "look");
  const page = await e.stream();
  await page.getByText("[picture dot.png, PNG 1×1, 67 bytes]").waitFor();
  const image = page.locator("figure.picture img");
  await image.waitFor();
  assert.equal(await image.evaluate((i) => i.decode().then(() => i.naturalWidth)), 1);
});

check("Always shows its rule first, and adds it after a yes", async () => {
  podctl("submit", "-p", "here", "run echo nine");
  const page = await e.stream();
  const dialog = e.page.locator(".monaco-dialog-box");
  const always = async () => {
    await page.getByRole("button", { name: "Always" }).click();
    await dialog.getByText('allow, tool "shell", command "echo nine"').waitFor();
  };
  await always();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.ok(waiting("here"));
  await always();
  assert.equal(podctl("rules", "here").includes("echo nine"), false);
  await dialog.getByRole("button", { name: "Add Rule" }).click();
  await page.locator(".ask").waitFor({ state: "detached" });
  await e.await("the rule", () => podctl("rules", "here"), (text) => text.includes("echo nine"));
  await idle();
});

check("VS Code and Neovim give one notice together, and the other one takes over", async () => {
  await e.closeTab("podd: here");
  const vim = await Neovim.open(home, work);
  try {
    await vim.follow("here");
    const both = async () => [...(await e.notifications()), ...vim.said("approval")];
    podctl("submit", "-p", "here", "run echo eight");
    const shown = await e.await("a notice", both, (list) => list.length > 0);
    assert.equal(shown.length, 1, shown.join("\n"));
    vim.kill();
    await e.await("VS Code's notice", e.notifications.bind(e), (list) => list.length === 1);
    podctl("approve", "here", waiting("here"));
    await e.await("no notice", e.notifications.bind(e), (list) => list.length === 0);
  } finally {
    vim.kill();
  }
});

check("a form asks one question after the other, is left and taken up again, and goes away with an answer from elsewhere", async () => {
  const questions = [
    { header: "Base", question: "Which database?", options: [{ label: "bbolt", description: "a $(file)" }, { label: "PostgreSQL", description: "a server" }] },
    { header: "Parts", question: "Which parts?", multiple: true, options: [{ label: "log", description: "" }, { label: "page", description: "" }, { label: "desk", description: "" }] },
    { header: "Name", question: "What is it called?" },
  ];
  const ask = () => podctl("submit", "-p", "here", `ask ${JSON.stringify({ questions })}`);
  const rows = e.page.locator(".quick-input-list .monaco-list-row");
  const row = (text) => rows.filter({ hasText: text }).first();
  const box = e.page.locator(".quick-input-widget");
  const input = box.locator(".quick-input-filter input");
  const title = (text) => box.getByText(`here asks (${text})`).waitFor();
  ask();
  await e.command("podd: Open Stream");
  const page = await e.stream();
  const answer = () => page.getByRole("button", { name: "Answer…" }).click();
  await answer();
  await title("1/3");
  await row("a $ (file)").waitFor();
  await row("Let the model decide").waitFor();
  // Escape leaves the call waiting.
  await e.page.keyboard.press("Escape");
  await box.waitFor({ state: "hidden" });
  assert.ok(waiting("here"));
  await answer();
  await title("1/3");
  await row("PostgreSQL").click();
  await title("2/3");
  for (const name of ["log", "desk", "Other…"]) await row(name).click();
  await box.getByRole("button", { name: "OK" }).click();
  await e.await("the text", e.prompt.bind(e), (text) => text.startsWith("Parts: Which parts?"));
  await input.fill("docs");
  await e.page.keyboard.press("Enter");
  await title("3/3");
  await input.fill("orchard");
  await e.page.keyboard.press("Enter");
  await page.locator(".ask").waitFor({ state: "detached" });
  await idle();
  const said = podctl("tail", "here", "-n", "20");
  for (const want of ["PostgreSQL", "log, desk, docs", "orchard"]) assert.ok(said.includes(want), said);

  ask();
  await answer();
  await title("1/3");
  podctl("answer", "here", "--dismiss");
  await box.waitFor({ state: "hidden" });
  await idle();

  ask();
  await answer();
  await title("1/3");
  await row("Let the model decide").click();
  await page.locator(".ask").waitFor({ state: "detached" });
  await idle();
});

check("a podd that is away is not a podd without pods", async () => {
  const settings = path.join(home, "code", "server", "data", "Machine", "settings.json");
  fs.writeFileSync(settings, JSON.stringify({ ...JSON.parse(fs.readFileSync(settings, "utf8")), "podd.socket": path.join(home, "nowhere") }));
  await e.page.reload();
  await e.page.locator(".activitybar [aria-label^='podd']").first().click();
  await e.page.getByText("podd is not running.").waitFor();
  assert.equal(await e.page.getByText("No pods yet").count(), 0);
});
