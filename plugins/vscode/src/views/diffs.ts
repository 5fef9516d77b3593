import * as path from "node:path";
import * as vscode from "vscode";

import type { Approval } from "../gen/podd/v1/approval";
import type { Proposal } from "../proposal";

/** scheme is that of the documents which show what a call would make of a file. */
const scheme = "podd-proposed";

/**
 * Diffs are the editor's diff views of calls that wait. A view closes when its call no longer
 * waits, wherever it was answered.
 */
export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** By the address of a document, its text and its call. */
  private readonly shown = new Map<string, { text: string; call: Approval }>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  dispose(): void {
    this.registered.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.shown.get(uri.toString())?.text ?? "";
  }

  /** show opens the views of a call: one for each file, the first in front. */
  async show(call: Approval, list: Proposal[]): Promise<void> {
    for (const p of list.toReversed()) await this.open(call, p);
  }

  private async open(call: Approval, p: Proposal): Promise<void> {
    // The path gives the document its language, the query makes it that of this call.
    const proposed = vscode.Uri.from({ scheme, path: p.to, query: key(call) });
    const empty = vscode.Uri.from({ scheme, path: p.path, query: "empty" });
    this.shown.set(proposed.toString(), { text: p.text, call });
    const title = `${path.basename(p.to)}: ${call.podName} proposes`;
    // The stream usually stands beside the first column.
    const options = { preview: false, viewColumn: vscode.ViewColumn.One };
    await vscode.commands.executeCommand("vscode.diff", p.exists ? vscode.Uri.file(p.path) : empty, proposed, title, options);
  }

  /** visible says whether the view of a call is in front in a column. */
  visible(call: Approval): boolean {
    return vscode.window.tabGroups.all.some(({ activeTab: t }) => {
      const shown = t?.input instanceof vscode.TabInputTextDiff && this.call(t.input.modified);
      return shown && key(shown) === key(call);
    });
  }

  /** call is the call of a view that is open. */
  call(uri: vscode.Uri): Approval | undefined {
    return this.shown.get(uri.toString())?.call;
  }

  /** keep closes the views of all calls but those that wait, and those that a reload of the window has left. */
  async keep(waiting: Approval[]): Promise<void> {
    const waits = new Set(waiting.map(key));
    for (const [uri, { call }] of this.shown) {
      if (!waits.has(key(call))) this.shown.delete(uri);
    }
    const tabs = vscode.window.tabGroups.all.flatMap((g) => g.tabs);
    const over = tabs.filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme && !this.shown.has(input.modified.toString()));
    if (over.length > 0) await vscode.window.tabGroups.close(over, true);
  }
}

/** key names a call and exactly what it would do. */
function key(a: Approval): string {
  return `${a.pod}-${a.callSeq}-${Buffer.from(a.digest).toString("hex")}`;
}
