import * as path from "node:path";
import * as vscode from "vscode";
import type { Approval } from "podd";

import type { Proposal } from "../proposal";
import { visible } from "../../../../internal/web/page/visible.js";

/** scheme is that of the documents which show what a call would make of a file. */
const scheme = "podd-proposed";

/**
 * Diffs are the editor's diff views of calls that wait. A view closes when its call no longer
 * waits as it shows, wherever it was answered. If the call then asks anew, its new view opens.
 */
export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  /** By the address of a document, its text and its call. */
  private readonly shown = new Map<string, { text: string; call: Approval }>();
  /** The calls that had a view, whatever they asked. */
  private readonly had = new Set<string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  dispose(): void {
    this.registered.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.shown.get(uri.toString())?.text ?? "";
  }

  /** show opens the views of a call: one for each file, the first in front. */
  async show(call: Approval, list: Proposal[]): Promise<void> {
    this.had.add(name(call));
    for (const p of list.toReversed()) await this.open(call, p);
  }

  private async open(call: Approval, p: Proposal): Promise<void> {
    const title = `${path.basename(p.from)}: ${call.podName} proposes${p.does && ` ${p.does}`}${p.lacks && ` (${p.lacks})`}`;
    const sides = [this.side(call, p.from, "before", p.before), this.side(call, p.to, "after", p.after)];
    // The stream usually stands beside the first column.
    await vscode.commands.executeCommand("vscode.diff", ...sides, visible(title), { preview: false, viewColumn: vscode.ViewColumn.One });
  }

  /** side is the document of one side. Its path gives it its language, its query makes it that of this call. */
  private side(call: Approval, file: string, which: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme, path: file, query: `${which}-${key(call)}` });
    this.shown.set(uri.toString(), { text, call });
    this.changed.fire(uri);
    return uri;
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

  /**
   * keep closes the views of all calls but those that wait, and those that a reload of the window has left.
   * It returns the calls that ask anew since they had a view.
   */
  async keep(waiting: Approval[]): Promise<Approval[]> {
    const waits = new Set(waiting.map(key));
    const shows = new Set([...this.shown.values()].map(({ call }) => key(call)));
    const anew = waiting.filter((a) => !shows.has(key(a)) && this.had.delete(name(a)));
    for (const [uri, { call }] of this.shown) {
      if (!waits.has(key(call))) this.shown.delete(uri);
    }
    const tabs = vscode.window.tabGroups.all.flatMap((g) => g.tabs);
    const over = tabs.filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.scheme === scheme && !this.shown.has(input.modified.toString()));
    if (over.length > 0) await vscode.window.tabGroups.close(over, true);
    return anew;
  }
}

/** name names a call, whatever it asks. */
function name(a: Approval): string {
  return `${a.pod}-${a.callSeq}`;
}

/** key names a call and exactly what it would do. */
function key(a: Approval): string {
  return `${name(a)}-${Buffer.from(a.digest).toString("hex")}`;
}
