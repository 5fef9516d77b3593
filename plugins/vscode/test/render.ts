// Writes the stream view of a pod as a page that a browser can show alone:
// node render.js POD UNTIL PAGE, where UNTIL is a text that will appear in the stream.
import * as fs from "node:fs";
import * as path from "node:path";
import { Transcript, places } from "podd";

import { Connection } from "../src/podd/connection";
import { html } from "../src/stream/html";
import type { ToPage } from "../src/stream/messages";
import { pageChange } from "../src/stream/page";
import { ending } from "../../../internal/web/page/transcript/blocks.js";

/** In VS Code messages come one by one; here they are replayed when the page is ready. */
function host(messages: ToPage[]): string {
  return `
    window.acquireVsCodeApi = () => ({
      setState() {},
      postMessage(m) {
        document.body.dataset.told = (document.body.dataset.told || "") + JSON.stringify(m);
        if (m.type === "ready") {
          for (const data of ${JSON.stringify(messages).replaceAll("<", "\\u003c")}) dispatchEvent(new MessageEvent("message", { data }));
          if (location.hash === "#deny") document.querySelector("button.no").click();
          if (location.hash === "#image") {
            const input = document.getElementById("input");
            input.value = "see";
            document.getElementById("image").click();
            for (const text of ["another", "see"]) {
              document.body.dataset.told += "[" + input.value + "]";
              dispatchEvent(new MessageEvent("message", { data: { type: "sent", text } }));
            }
            document.body.dataset.told += "[" + input.value + "]";
          }
          if (location.hash === "#plan") {
            const input = document.getElementById("input");
            const steer = (text) => {
              input.value = text;
              input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true }));
            };
            document.getElementById("plan").click();
            steer("while it runs");
            dispatchEvent(new MessageEvent("message", { data: { type: "state", text: "p: idle", busy: false, plan: true } }));
            steer("idle");
            document.getElementById("plan").click();
            steer("acting");
          }
          if (location.hash === "#type") {
            const input = document.getElementById("input");
            input.value = "look at @thr";
            input.setSelectionRange(12, 12);
            input.dispatchEvent(new Event("input"));
            dispatchEvent(new MessageEvent("message", { data: { type: "paths", prefix: "thr", paths: ["three.txt", "three/"] } }));
            input.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab" }));
            input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
            input.value = "/gh:r";
            input.setSelectionRange(5, 5);
            input.dispatchEvent(new Event("input"));
            dispatchEvent(new MessageEvent("message", { data: { type: "paths", prefix: "/gh:r", paths: ["/gh:review"] } }));
            input.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab" }));
            input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
          }
          if (location.hash === "#hurry") {
            const input = document.getElementById("input");
            const type = (text) => {
              input.value = text;
              input.setSelectionRange(text.length, text.length);
              input.dispatchEvent(new Event("input"));
            };
            const offer = (prefix, paths) => dispatchEvent(new MessageEvent("message", { data: { type: "paths", prefix, paths } }));
            const press = (key) => input.dispatchEvent(new KeyboardEvent("keydown", { key }));
            const tell = () => (document.body.dataset.told += "[" + input.value + "]");
            type("@th");
            offer("th", ["this.txt", "three.txt"]);
            type("@thr");
            press("Tab");
            tell();
            offer("thr", ["three.txt"]);
            tell();
            type("@thr");
            press("Tab");
            type("@thre");
            offer("thre", ["three.txt"]);
            tell();
            type("see @threx");
            press("Enter");
            offer("threx", []);
          }
        }
      },
    });`;
}

async function main(pod: string, until: string, page: string): Promise<void> {
  const c = new Connection(places());
  const transcript = new Transcript();
  const messages: ToPage[] = [{ type: "reset", blocks: [] }];
  for await (const m of c.stream(pod, { deltas: true })) {
    messages.push({ type: "change", ...pageChange(transcript.take(m)) });
    if (transcript.all().some((b) => b.state === until || (b.kind === "end" && ending(b).includes(until)))) break;
  }
  messages.push({ type: "state", text: `${pod}: asks`, busy: true, plan: false });
  c.close();
  const dir = path.dirname(page);
  const extension = path.join(__dirname, "..", "..");
  fs.writeFileSync(path.join(dir, "host.js"), host(messages));
  for (const file of ["dist/stream.js", "media/stream.css"]) fs.copyFileSync(path.join(extension, file), path.join(dir, path.basename(file)));
  const text = html({ script: "stream.js", style: "stream.css", source: "file:" });
  fs.writeFileSync(page, text.replace("<script", '<script src="host.js"></script>\n<script'));
}

const [pod, until, page] = process.argv.slice(2);
main(pod!, until!, page!).catch((err: Error) => {
  console.error(err.message);
  process.exit(1);
});
