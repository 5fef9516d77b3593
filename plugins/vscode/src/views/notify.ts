import * as vscode from "vscode";

import type { Approval } from "../gen/podd/v1/approval";
import { type Alert, AlertLevel } from "../gen/podd/v1/entry";
import type { Answer } from "../podd/connection";
import type { State } from "../podd/watch";
import { visible } from "../stream/visible";

/** The actions that notifications offer. */
export interface Asks {
  answer(what: Approval, how: Answer): Promise<void>;
  acknowledge(seq: number): Promise<void>;
  open(pod: string): void;
  /** Whether the pod's stream, which shows its questions completely, is visible. */
  inSight(pod: string): boolean;
  report(what: Promise<unknown>): void;
}

/** lookAndAnswer is the command behind the link of a question's notification. */
export const lookAndAnswer = "podd.lookAndAnswer";

/**
 * Notifier shows each alert once, and each call that waits as long as it waits: in a
 * notification, unless the pod's stream shows it.
 */
export class Notifier {
  private readonly told = new Set<number>();
  /** The questions that have a notification, by their key; each closes it. */
  private readonly open = new Map<string, () => void>();
  private readonly dismissed = new Set<string>();
  private first = true;

  constructor(private readonly asks: Asks) {}

  show(now: State): void {
    this.questions(now.approvals);
    for (const a of now.alerts) {
      if (this.told.has(a.seq)) continue;
      this.told.add(a.seq);
      // Alerts from before the start are in the stream; they are not shown one by one.
      if (!this.first) this.asks.report(this.alert(a));
    }
    if (this.first && now.alerts.some(matters)) {
      void vscode.window.showInformationMessage(`podd: ${now.alerts.length} unacknowledged ${now.alerts.length === 1 ? "alert" : "alerts"}; "podctl alerts" lists them.`);
    }
    this.first = this.first && now.away !== "";
  }

  /** questions shows the calls that wait and closes the notifications of all others. */
  questions(waiting: Approval[]): void {
    const wanted = new Map(waiting.filter((a) => !this.asks.inSight(a.pod)).map((a) => [key(a), a]));
    for (const [k, close] of this.open) {
      if (!wanted.has(k)) close();
    }
    for (const [k, a] of wanted) {
      if (!this.open.has(k) && !this.dismissed.has(k)) this.ask(k, a);
    }
  }

  /** VS Code lets an extension close only progress notifications. */
  private ask(k: string, a: Approval): void {
    const link = `command:${lookAndAnswer}?${encodeURIComponent(JSON.stringify([a.pod, a.callSeq]))}`;
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: `${message(`${a.podName}: ${a.question}`)} [Review and answer](${link})`,
      cancellable: true,
    };
    const closed = new Promise<void>((resolve) =>
      this.open.set(k, () => {
        this.open.delete(k);
        resolve();
      }),
    );
    void vscode.window.withProgress(options, (_, token) => {
      token.onCancellationRequested(() => {
        this.dismissed.add(k);
        this.open.get(k)?.();
      });
      return closed;
    });
  }

  /** lookAndAnswer shows a call completely, in a dialog. */
  async lookAndAnswer(a: Approval): Promise<void> {
    const options = { modal: true, detail: `${a.tool}\n\n${visible(a.arguments)}` };
    const chosen = await vscode.window.showWarningMessage(message(`${a.podName}: ${a.question}`), options, "Allow once", "Always", "Deny", "Open stream");
    if (chosen === "Open stream") this.asks.open(a.pod);
    else if (chosen) await this.asks.answer(a, { approve: chosen !== "Deny", always: chosen === "Always" });
  }

  private async alert(a: Alert): Promise<void> {
    if (!matters(a)) return;
    const show = a.level === AlertLevel.ERROR ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const chosen = await show(message(`podd: ${a.text}`), "Acknowledge", ...(a.pod ? ["Open stream"] : []));
    if (chosen === "Acknowledge") await this.asks.acknowledge(a.seq);
    if (chosen === "Open stream") this.asks.open(a.pod);
  }
}

function key(a: Approval): string {
  return `${a.pod} ${a.callSeq}`;
}

/** matters says whether to show an alert. A call that needs approval has its own notification. */
function matters(a: Alert): boolean {
  return a.level >= AlertLevel.WARN && a.source !== "approval";
}

/** message is text for a notification, without Markdown links, which VS Code would render. */
function message(text: string): string {
  return visible(text).replaceAll("](", "] (");
}
