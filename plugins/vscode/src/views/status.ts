import * as vscode from "vscode";
import type { GetStatsResponse, Pod } from "podd";

import { stateName } from "./tree";

/** podLine is a pod's state and usage, in one line. */
export function podLine(p: Pod, stats?: GetStatsResponse): string {
  const used = stats?.usage ? ` · ${count(stats.usage.inputTokens)} in, ${count(stats.usage.outputTokens)} out` : "";
  // Without a price there is no cost to show.
  const cost = stats && stats.costUsd > 0 ? ` · $${stats.costUsd.toFixed(2)}` : "";
  return `${p.name}: ${stateName(p)}${used}${cost}`;
}

/** count is a number of tokens in about four characters. */
export function count(n: number): string {
  if (n < 1000) return String(n);
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 10_000 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** Status is the item in the status bar. */
export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);

  constructor() {
    this.item.command = "podd.submit";
    this.item.show();
  }

  show(line: string, waiting: number, away: string): void {
    this.item.text = away ? "$(debug-disconnect) podd" : `$(hubot) ${line || "podd"}${waiting ? ` $(question) ${waiting}` : ""}`;
    this.item.tooltip = away || "Submit to podd";
  }

  dispose(): void {
    this.item.dispose();
  }
}
