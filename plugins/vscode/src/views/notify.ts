import * as vscode from "vscode";

import type { Approval } from "../gen/podd/v1/approval";
import { type Alert, AlertLevel } from "../gen/podd/v1/entry";
import type { Answer } from "../podd/connection";
import type { State } from "../podd/watch";
import { visible } from "../stream/visible";

/** What notifications ask for. */
export interface Asks {
  answer(what: Approval, how: Answer): Promise<void>;
  acknowledge(seq: number): Promise<void>;
  open(pod: string): void;
  report(what: Promise<unknown>): void;
}

/** Notifier shows each approval and alert once, as a notification. */
export class Notifier {
  private readonly told = new Set<string>();
  private first = true;

  constructor(private readonly asks: Asks) {}

  show(now: State): void {
    for (const a of now.approvals) {
      this.once(`approval ${a.pod} ${a.callSeq}`, () => this.ask(a));
    }
    for (const a of now.alerts) {
      // Old alerts are in the stream; what came while nobody looked is not shown one by one.
      this.once(`alert ${a.seq}`, () => (this.first ? Promise.resolve() : this.alert(a)));
    }
    if (this.first && now.alerts.some((a) => a.level >= AlertLevel.WARN)) {
      void vscode.window.showInformationMessage(`podd: ${now.alerts.length} alerts that nobody has acknowledged; "podctl alerts" lists them.`);
    }
    this.first = this.first && now.away !== "";
  }

  private once(key: string, show: () => Promise<unknown>): void {
    if (this.told.has(key)) return;
    this.told.add(key);
    this.asks.report(show());
  }

  /** The whole call stands in the stream view and, for this question, in a dialog. */
  private async ask(a: Approval): Promise<void> {
    const title = visible(`${a.podName}: ${a.question}`);
    const answered = await vscode.window.showWarningMessage(title, "Look and answer", "Deny", "Open stream");
    if (answered === "Open stream") this.asks.open(a.pod);
    if (answered === "Deny") await this.asks.answer(a, { approve: false });
    if (answered !== "Look and answer") return;
    const options = { modal: true, detail: `${a.tool}\n\n${visible(a.arguments)}` };
    const chosen = await vscode.window.showWarningMessage(title, options, "Allow once", "Always", "Deny");
    if (chosen) await this.asks.answer(a, { approve: chosen !== "Deny", always: chosen === "Always" });
  }

  private async alert(a: Alert): Promise<void> {
    if (a.level < AlertLevel.WARN) return;
    const show = a.level === AlertLevel.ERROR ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const chosen = await show(visible(`podd: ${a.text}`), "Acknowledge", ...(a.pod ? ["Open stream"] : []));
    if (chosen === "Acknowledge") await this.asks.acknowledge(a.seq);
    if (chosen === "Open stream") this.asks.open(a.pod);
  }
}
