// Gives the pod of a directory a prompt and shows its turn: node ask.js DIR PROMPT
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { type Block, Client, PoddError, Transcript, places } from "podd";

/** safe is text that does not drive the terminal and hides nothing. */
function safe(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu, (c) => "\\u{" + c.codePointAt(0)!.toString(16) + "}");
}

/** findPod is the pod of a directory; it is created if it does not exist. */
async function findPod(podd: Client, dir: string): Promise<string> {
  const [found] = await podd.list(dir);
  const name = basename(dir).toLowerCase().replace(/[^a-z0-9-]/g, "-").replace(/^-+|-+$/g, "").slice(0, 63) || "pod";
  return (found ?? (await podd.create(name, dir))).id;
}

/** answerCalls shows each waiting call in full and sends the person's answer. */
async function answerCalls(podd: Client, pod: string, typed: AsyncIterator<string>): Promise<void> {
  for (const call of await podd.waiting(pod)) {
    process.stdout.write(`? ${safe(call.tool)} ${safe(call.arguments)}\nRun it? y/n: `);
    const approve = (await typed.next()).value?.trim() === "y";
    await podd.answer(call, { approve }).catch((e) => console.log(`! ${e.message}`)); // another client was first, for example
  }
}

/** Printer prints the model's text as it grows, and the results of calls. */
class Printer {
  private printed = new Map<string, string>();

  print(b: Block): void {
    const before = this.printed.get(b.id) ?? "";
    if (b.kind === "answer" && b.state !== "lost") {
      process.stdout.write(safe(b.text.startsWith(before) ? b.text.slice(before.length) : `\n${b.text}`) + (b.state === "done" ? "\n" : ""));
      this.printed.set(b.id, b.text);
    } else if (b.kind === "call" && (b.state === "done" || b.state === "failed")) {
      console.log(`· ${safe(b.text)}`);
    }
  }
}

async function main(dir: string, prompt: string): Promise<void> {
  const podd = new Client(places(), { name: "ask.ts" });
  const input = createInterface({ input: process.stdin });
  const typed = input[Symbol.asyncIterator]();
  try {
    const pod = await findPod(podd, realpathSync(dir));
    const accepted = await podd.submit(pod, prompt);
    const transcript = new Transcript();
    const printer = new Printer();
    let turn = "";
    for await (const m of podd.stream(pod, { after: accepted.seq - 1, deltas: true, lost: () => transcript.lost() })) {
      for (const b of transcript.take(m).put) {
        printer.print(b);
        if (b.id === `s:${accepted.requestId}`) turn = b.turn; // the turn that took the prompt
        if (b.kind === "end" && b.turn === turn) {
          console.log(`[${b.end?.outcome}] ${safe(b.text)}`.trim());
          return;
        }
      }
      const asks = m.kind?.$case === "entry" && m.kind.value.kind?.$case === "approvalRequested";
      if (asks || m.kind?.$case === "caughtUp") await answerCalls(podd, pod, typed);
    }
  } catch (e) {
    if (!(e instanceof PoddError)) throw e;
    console.error(`${e.reason}: ${e.message}`);
    process.exitCode = 1;
  } finally {
    input.close();
    podd.close();
  }
}

void main(process.argv[2]!, process.argv[3]!);
