import * as vscode from "vscode";
import { type Pod, PodState } from "podd";

import type { State } from "../podd/watch";

/** turnRuns says whether a pod has a turn that can be cancelled, including one that waits. */
export function turnRuns(p: Pod): boolean {
  const busy = p.state === PodState.RUNNING || p.state === PodState.WAITING || p.state === PodState.RESUMING;
  return busy || (p.state === PodState.PAUSED && !!p.pause?.turn);
}

/** stateName is a pod's state as podctl writes it. */
export function stateName(p: Pod): string {
  if (p.state === PodState.WAITING && p.approvals > 0) return "asks";
  return (PodState[p.state] ?? "unknown").toLowerCase();
}

const icons: Partial<Record<PodState, string>> = {
  [PodState.IDLE]: "circle-outline",
  [PodState.RUNNING]: "sync~spin",
  [PodState.WAITING]: "question",
  [PodState.PAUSED]: "debug-pause",
  [PodState.RESUMING]: "sync~spin",
  [PodState.INTERRUPTED]: "debug-disconnect",
  [PodState.QUARANTINED]: "error",
};

/** Tree lists the pods with what each is doing. */
export class Tree implements vscode.TreeDataProvider<Pod> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private pods: Pod[] = [];

  show(s: State): void {
    this.pods = s.pods;
    this.changed.fire();
  }

  getChildren(parent?: Pod): Pod[] {
    // A sub-pod appears below the pod that spawned it.
    const ids = new Set(this.pods.map((p) => p.id));
    const above = (p: Pod) => (p.spec && ids.has(p.spec.parent) ? p.spec.parent : "");
    return this.pods.filter((p) => above(p) === (parent?.id ?? ""));
  }

  getTreeItem(p: Pod): vscode.TreeItem {
    const spawned = this.getChildren(p).length > 0;
    const item = new vscode.TreeItem(p.name, spawned ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None);
    item.id = p.id;
    const background = p.spec?.parent && !p.spec.parentCall;
    item.description = [stateName(p), background && "in the background", p.queued && `${p.queued} queued`, p.letters && `${p.letters} ${p.letters === 1 ? "letter" : "letters"}`].filter(Boolean).join(", ");
    item.tooltip = [p.spec?.dir, p.stateReason].filter(Boolean).join("\n");
    item.iconPath = new vscode.ThemeIcon(icons[p.state] ?? "circle-outline");
    item.contextValue = p.pause ? "paused" : p.state === PodState.IDLE ? "idle" : "busy";
    item.command = { command: "podd.open", title: "Open", arguments: [p] };
    return item;
  }
}
