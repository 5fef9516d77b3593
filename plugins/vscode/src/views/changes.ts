import * as vscode from "vscode";
import { CheckpointBy, type Pod, type RestoreFilesResponse } from "podd";

import { changes } from "../changes";
import type { Connection } from "../podd/connection";
import { visible } from "../../../../internal/web/page/visible.js";

/** scheme is that of the documents which show what a file was. */
const scheme = "podd-was";

/** Changes shows what agents changed in files, and takes it back. */
export class Changes implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** By the address of a document, its text. */
  private readonly texts = new Map<string, string>();
  private count = 0;
  private readonly registered = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.workspace.onDidCloseTextDocument((d) => this.texts.delete(d.uri.toString())),
  );

  dispose(): void {
    this.registered.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** show shows what the agent changed in the last turn that changed files: all in one editor, where what stands can be edited. */
  async show(c: Connection, pod: Pod): Promise<void> {
    const all = await c.changed(pod.id);
    const others = all.filter((f) => f.by === CheckpointBy.PERSON).length;
    const list = await changes(all.filter((f) => f.by !== CheckpointBy.PERSON));
    const of = ++this.count;
    const side = (file: string, which: string, text: string) => {
      const uri = vscode.Uri.from({ scheme, path: file, query: `${which}-${of}` });
      this.texts.set(uri.toString(), text);
      return uri;
    };
    if (list.length > 0) {
      await vscode.commands.executeCommand(
        "vscode.changes",
        visible(`What ${pod.name} changed in files`),
        list.map((f) => [vscode.Uri.file(f.file), side(f.file, "before", f.before), f.stands ? vscode.Uri.file(f.file) : side(f.file, "after", f.after)]),
      );
    }
    if (others > 0) say(`others changed ${files(others)} meanwhile: podctl diff ${pod.name} shows them`);
    else if (list.length === 0) say("nothing changed");
  }

  /** undo takes back what the agent changed in files, once a person agrees. */
  async undo(c: Connection, pod: Pod): Promise<void> {
    const plan = await c.restore(pod.id, { afterSeq: 0, skip: false, merge: false, dryRun: true });
    const stays = plan.kept.map((k) => `${k.path} stays: it ${k.why}.`);
    if (plan.changed === 0) {
      say(stays.join(" ") || "no file has changes to take back");
      return;
    }
    if (plan.headMoved) stays.push("HEAD moved meanwhile and stays: see git reflog.");
    const yes = "Take Back";
    const detail = visible([...plan.paths, ...stays].join("\n"));
    if ((await vscode.window.showWarningMessage(visible(question(pod, plan)), { modal: true, detail }, yes)) !== yes) return;
    const done = await c.restore(pod.id, { afterSeq: plan.afterSeq, skip: plan.kept.length > 0, merge: false, dryRun: false });
    say(`took back changes of ${pod.name} in ${files(done.changed)}`);
  }
}

function say(text: string): void {
  void vscode.window.showInformationMessage(visible(`podd: ${text}`));
}

function files(n: number): string {
  return n === 1 ? "1 path" : `${n} paths`;
}

function question(pod: Pod, plan: RestoreFilesResponse): string {
  return `Take back ${plan.turn > 0 ? `the changes of turn ${plan.turn}` : "the last undo"} of ${pod.name} in ${files(plan.changed)}?`;
}
