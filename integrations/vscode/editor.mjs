// VS Code in a browser: code-server's build of its server, with the packed extension, in
// Debian's Chromium.
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";

const packages = process.env.PODD_NPM;
const { chromium } = createRequire(path.join(packages, "package.json"))("playwright-core");
const server = path.join(packages, "node_modules", "code-server", "lib", "vscode", "out", "server-main.js");
const flags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
/** How long what a page waits for may take, in milliseconds: the machine may be busy. */
const patience = 60_000;

/** Editor is one window of VS Code. */
export class Editor {
  /** @param home is a directory for all that VS Code writes. */
  static async open(home, folder) {
    const e = new Editor();
    const places = ["--server-data-dir", path.join(home, "server"), "--extensions-dir", path.join(home, "extensions")];
    const settings = path.join(home, "server", "data", "Machine", "settings.json");
    fs.mkdirSync(path.dirname(settings), { recursive: true });
    fs.writeFileSync(settings, JSON.stringify({ "workbench.startupEditor": "none" }));
    const install = spawnSync(process.execPath, [server, ...places, "--install-extension", process.env.PODD_VSIX], { encoding: "utf8" });
    if (!install.stdout.includes("successfully installed")) throw new Error(`the extension was not installed:\n${install.stdout}${install.stderr}`);
    e.log = "";
    e.clock = path.join(home, "clock");
    fs.mkdirSync(e.clock);
    e.setClock(0);
    e.server = spawn(process.execPath, [
      server, ...places, "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms",
      "--telemetry-level", "off",
    ], { env: { ...process.env, NODE_OPTIONS: `--require ${path.join(import.meta.dirname, "clock.cjs")}`, PODD_CLOCK: e.clock } });
    const port = await new Promise((resolve, reject) => {
      const take = (text) => {
        e.log += text;
        const said = /listening on (\d+)/.exec(e.log);
        if (said) resolve(said[1]);
      };
      e.server.stdout.on("data", take);
      e.server.stderr.on("data", take);
      e.server.on("exit", () => reject(new Error(`VS Code's server ended:\n${e.log}`)));
    });
    e.browser = await chromium.launch({ executablePath: process.env.PODD_CHROMIUM, args: flags });
    e.address = `http://127.0.0.1:${port}/`;
    e.page = await e.load(folder);
    return e;
  }

  async load(folder) {
    const page = await this.browser.newPage({ viewport: { width: 1300, height: 900 } });
    page.setDefaultTimeout(patience);
    await page.goto(`${this.address}?folder=${folder}`);
    await page.getByRole("button", { name: "Yes, I trust the authors" }).click();
    return page;
  }

  /** later puts the clock of all processes of VS Code forward. */
  async later(ms) {
    this.setClock(ms);
    const clocks = () => {
      const running = fs.readdirSync(this.clock).filter((pid) => fs.existsSync(path.join("/proc", pid)));
      return running.map((pid) => fs.readFileSync(path.join(this.clock, pid), "utf8"));
    };
    await this.await("the later clock", clocks, (all) => all.every((clock) => clock === String(ms)));
  }

  /** setClock writes the clock under another name first: nobody reads half of it. */
  setClock(ms) {
    const next = path.join(this.clock, "next");
    fs.writeFileSync(next, String(ms));
    fs.renameSync(next, path.join(this.clock, "ahead"));
  }

  /** window is another window of the same VS Code, with another folder. */
  async window(folder) {
    return Object.assign(new Editor(), { page: await this.load(folder) });
  }

  async close() {
    await this.browser?.close();
    this.server.removeAllListeners("exit");
    const ended = new Promise((resolve) => this.server.on("exit", resolve));
    this.server.kill();
    await ended;
  }

  /** await asks until what it gets is as wanted. */
  async await(what, get, wanted) {
    let got;
    for (const end = Date.now() + patience; Date.now() < end; ) {
      got = await get();
      if (wanted(got)) return got;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`${what} did not come: ${JSON.stringify(got)}`);
  }

  /**
   * reload loads the window again, once VS Code has stored that a text is a part of it. VS Code stores
   * when a person turns to another window, else once a minute.
   */
  async reload(text) {
    const stored = (wanted) =>
      indexedDB.databases().then(async (list) => {
        for (const { name } of list.filter((db) => db.name.startsWith("vscode-web-state-db"))) {
          const ask = (request) => new Promise((resolve, reject) => Object.assign(request, { onsuccess: () => resolve(request.result), onerror: reject }));
          const db = await ask(indexedDB.open(name));
          const all = await Promise.all([...db.objectStoreNames].map((store) => ask(db.transaction(store).objectStore(store).getAll())));
          db.close();
          if (JSON.stringify(all).includes(wanted)) return true;
        }
        return false;
      });
    const turnAway = () => {
      for (const focus of [true, false]) {
        document.hasFocus = () => focus;
        document.dispatchEvent(new Event("visibilitychange"));
      }
    };
    const look = async () => {
      await this.page.evaluate(turnAway);
      return this.page.evaluate(stored, text);
    };
    await this.await(`a stored ${text}`, look, (there) => there);
    await this.page.reload();
  }

  /** command runs a command by its title in the palette. What takes the focus closes the palette: it is opened again. */
  async command(title) {
    const input = this.page.locator(".quick-input-widget input");
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first();
    const offered = async () => {
      if (!(await input.isVisible())) await this.page.keyboard.press("F1");
      await input.fill(`>${title}`, { timeout: 1000 }).catch(() => {});
      return row.isVisible();
    };
    await this.await(`the command ${title}`, offered, (there) => there);
    await this.page.keyboard.press("Enter");
  }

  /** closeTab closes the tab with a title. */
  async closeTab(title) {
    const tab = this.page.locator(".tab", { hasText: title });
    await tab.hover();
    await tab.locator(".codicon-close").click();
    await tab.waitFor({ state: "detached" });
  }

  /** openFile opens a file by the explorer, with the focus in it. */
  async openFile(name) {
    await this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).dblclick();
    const tab = this.page.locator(".tab.active", { hasText: name });
    await this.page.locator(".editor-group-container.active", { has: tab }).locator(".monaco-editor .view-lines").first().click();
  }

  /** prompt is the text of the box that asks for input. */
  prompt() {
    return this.page.locator(".quick-input-widget .quick-input-message").innerText();
  }

  /** statusBar is the text of the extension's item. */
  async statusBar() {
    const item = this.page.locator(".statusbar-item[id^='podd']").first();
    return (await item.count()) ? item.innerText() : "";
  }

  /** stream is the page of the stream that is in sight. */
  async stream() {
    let found;
    await this.await(
      "the stream",
      async () => {
        found = undefined;
        for (const f of this.page.frames()) {
          if (await f.locator("main#blocks").count().catch(() => 0)) found = f;
        }
        return !!found;
      },
      (there) => there,
    );
    return found;
  }

  /** review follows the link of a question's notification. */
  async review() {
    await this.page.getByRole("link", { name: "Review and answer" }).click();
  }

  /** notifications are the texts of those on the screen. */
  notifications() {
    return this.page.locator(".notifications-toasts .notification-list-item-message").allInnerTexts();
  }
}
