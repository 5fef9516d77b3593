// A headless Neovim with podd's plugin, beside VS Code.
import { spawn, spawnSync } from "node:child_process";
import * as path from "node:path";

const plugin = path.join(import.meta.dirname, "..", "..", "plugins", "nvim");

export class Neovim {
  static async open(home, dir) {
    const v = new Neovim();
    v.socket = path.join(home, "nvim.sock");
    v.process = spawn("nvim", ["--headless", "--clean", "-n", "-i", "NONE", "--listen", v.socket, "--cmd", `set runtimepath^=${plugin}`], { cwd: dir });
    await v.await(() => v.expr("1") === "1");
    v.expr("execute('lua _G.said = {}; vim.notify = function(text) table.insert(_G.said, text) end')");
    return v;
  }

  async await(done) {
    for (const end = Date.now() + 60_000; !done(); ) {
      if (Date.now() > end) throw new Error("Neovim does not come so far");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** expr is the value of an expression, as text. Neovim 0.7 prints it to standard error. */
  expr(text) {
    const done = spawnSync("nvim", ["--server", this.socket, "--remote-expr", text], { encoding: "utf8" });
    return (done.stdout + done.stderr).trim();
  }

  /** follow opens a pod, and another buffer in its window. */
  async follow(pod) {
    this.expr(`execute('Podd open ${pod}')`);
    await this.await(() => this.expr("getline('$')").includes("[idle]"));
    this.expr("execute('quit | enew')");
  }

  /** said are its notices with a text. */
  said(text) {
    const all = this.expr("luaeval('vim.json.encode(_G.said)')");
    return all.startsWith("[") ? JSON.parse(all).filter((s) => s.includes(text)) : [];
  }

  kill() {
    this.process.kill("SIGKILL");
  }
}
