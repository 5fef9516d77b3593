import * as vscode from "vscode";
import type { Answer, Approval, FormQuestion, FormReply } from "podd";

import { visible } from "../../../../internal/web/page/visible.js";

/** Item is an entry of a list: an option by its number, or one of those behind the options. */
interface Item extends vscode.QuickPickItem {
  option?: number;
}

const other: Item = { label: "Other…", description: "in your own words", alwaysShow: true };
const leave: Item = { label: "Let the model decide", alwaysShow: true };
const yes: Item = { label: "Yes" };

/** Forms ask a person what running calls ask, one question after the other. */
export class Forms implements vscode.Disposable {
  private open?: { asks: Approval; stop: vscode.CancellationTokenSource };

  dispose(): void {
    this.open?.stop.cancel();
  }

  /** keep closes the list of a call that no longer waits as it shows, wherever it was answered. */
  keep(waiting: Approval[]): void {
    if (this.open && !waiting.some((a) => key(a) === key(this.open!.asks))) this.open.stop.cancel();
  }

  /** ask returns a person's answer; undefined leaves the call waiting. */
  async ask(a: Approval): Promise<Answer | undefined> {
    this.open?.stop.cancel();
    const open = { asks: a, stop: new vscode.CancellationTokenSource() };
    this.open = open;
    try {
      return await answer(a, open.stop.token);
    } finally {
      open.stop.dispose();
      if (this.open === open) this.open = undefined;
    }
  }
}

/** key names a call and exactly what it asks. */
function key(a: Approval): string {
  return `${a.pod}-${a.callSeq}-${Buffer.from(a.digest).toString("hex")}`;
}

async function answer(a: Approval, token: vscode.CancellationToken): Promise<Answer | undefined> {
  const { from = "", text = "", questions = [] } = a.form ?? {};
  const title = shown(`${a.podName} asks${from && ` for ${from}`}${text && `: ${text}`}`);
  if (questions.length === 0) {
    const chosen = await vscode.window.showQuickPick([yes, leave], { title, ignoreFocusOut: true }, token);
    return chosen && (chosen === leave ? { approve: false, dismiss: true } : { approve: true });
  }
  const replies: FormReply[] = [];
  for (const [i, q] of questions.entries()) {
    const step = questions.length > 1 ? `${title} (${i + 1}/${questions.length})` : title;
    const r = q.options.length > 0 ? await choose(q, step, token) : await write(q, step, token);
    if (r === "leave") return { approve: false, dismiss: true };
    if (!r) return undefined;
    replies.push(r);
  }
  return { approve: true, replies };
}

/** choose offers the options of a question. */
async function choose(q: FormQuestion, title: string, token: vscode.CancellationToken): Promise<FormReply | "leave" | undefined> {
  const items: Item[] = [...q.options.map((o, n) => ({ label: shown(o.label), detail: shown(o.description) || undefined, option: n + 1 })), other, leave];
  const how = { title, placeHolder: asked(q), ignoreFocusOut: true, matchOnDetail: true };
  const chosen = q.multiple ? await vscode.window.showQuickPick(items, { ...how, canPickMany: true }, token) : await vscode.window.showQuickPick(items, how, token);
  const all = Array.isArray(chosen) ? chosen : chosen && [chosen];
  if (!all || all.length === 0) return undefined;
  if (all.includes(leave)) return "leave";
  const choices = all.flatMap((i) => i.option ?? []);
  if (!all.includes(other)) return { choices, text: "" };
  const said = await write(q, title, token);
  return said && { ...said, choices };
}

/** write asks for a text. */
async function write(q: FormQuestion, title: string, token: vscode.CancellationToken): Promise<FormReply | undefined> {
  const text = await vscode.window.showInputBox({ title, prompt: `${asked(q)} Escape leaves the call waiting.`, ignoreFocusOut: true }, token);
  return text?.trim() ? { choices: [], text } : undefined;
}

const asked = (q: FormQuestion) => shown(q.header ? `${q.header}: ${q.text}` : q.text);

/** shown is text in one line of a list, without its icons. */
function shown(text: string): string {
  return visible(text).replaceAll("\n", " ").replaceAll("$(", "$ (");
}
