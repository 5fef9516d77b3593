// The editor of these tests: the protocol's own TypeScript client, driven by lines of JSON
// on standard input. Its arguments are the directory of the npm packages, the part of the package that speaks a version, and the
// agent's command line. It says what it hears in lines of JSON on standard output; whatever the
// client finds wrong with the agent goes to standard error.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [npm, entry, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(createRequire(npm + "/").resolve("@agentclientprotocol/sdk" + entry)));
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => agent.on("exit", resolve));
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");

let questions = 0;
const open = new Map();
/** asked says a question of the agent, and waits for the answer to it. */
const asked = (what, withdrawn) => ({ params, signal }) => {
  const question = ++questions;
  return new Promise((resolve) => {
    open.set(question, resolve);
    signal.addEventListener("abort", () => {
      say({ question, withdrawn: true });
      resolve(withdrawn);
    });
    say({ question, ...what(params) });
  });
};
const editor = acp
  .client({ name: "typescript" })
  .onNotification(acp.methods.client.session.update, ({ params }) => say({ update: params.update }))
  .onRequest(acp.methods.client.session.requestPermission, asked(({ options, toolCall, subject }) => ({ options, toolCall: toolCall ?? subject.toolCall }), { outcome: { outcome: "cancelled" } }))
  .onRequest(acp.methods.client.elicitation.create, asked((form) => ({ form }), { action: "cancel" }));

await editor.connectWith(acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)), async (podd) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params, notify, question, option, form } = JSON.parse(line);
    if (form) open.get(question)(form);
    else if (question) open.get(question)({ outcome: { outcome: "selected", optionId: option } });
    else if (notify) podd.notify(notify, params);
    else
      podd.request(method, params).then(
        (result) => say({ id, result }),
        (error) => say({ id, error: { code: error.code, message: error.message } }),
      );
  }
});
agent.stdin.end();
say({ exit: await exited });
