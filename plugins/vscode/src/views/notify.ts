import * as vscode from "vscode";

import type { Approval } from "../gen/podd/v1/approval";
import { type Alert, AlertLevel } from "../gen/podd/v1/entry";
import type { State } from "../podd/watch";
import { visible } from "../stream/visible";
import type { Claims } from "./claims";

/** The actions that notifications offer. */
export interface Asks {
  acknowledge(seq: number): Promise<void>;
  open(pod: string): void;
  /** Whether the pod's stream or the call's diff is visible. */
  inSight(a: Approval): boolean;
  /** How long another window may claim a question about the pod before this one, in milliseconds. */
  patience(pod: string): number;
  report(what: Promise<unknown>): void;
}

/** review is the command behind the link of a question's notification. */
export const review = "podd.review";

/** How often the notifier looks whether a question has lost its window, in milliseconds. */
const again = 2000;

/**
 * Notifier shows each alert once, and each call that waits as long as it waits: in a
 * notification of one window, unless a window shows it.
 */
export class Notifier implements vscode.Disposable {
  private readonly told = new Set<number>();
  /** The questions that have a notification, by their key; each closes it. */
  private readonly open = new Map<string, () => void>();
  private readonly dismissed = new Set<string>();
  /** When each question was first seen here. */
  private readonly since = new Map<string, number>();
  private first = true;
  private waiting: Approval[] = [];
  private timer?: NodeJS.Timeout;

  constructor(
    private readonly asks: Asks,
    private readonly claims: Claims,
  ) {}

  dispose(): void {
    clearTimeout(this.timer);
    this.claims.keep(new Set());
  }

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
  questions(waiting: Approval[] = this.waiting): void {
    this.waiting = waiting;
    const keys = new Set(waiting.map(key));
    this.claims.keep(keys);
    for (const k of this.since.keys()) {
      if (!keys.has(k)) this.since.delete(k);
    }
    const mine = waiting.filter((a) => this.claim(a));
    const wanted = new Map(mine.filter((a) => !this.asks.inSight(a)).map((a) => [key(a), a]));
    for (const [k, close] of this.open) {
      if (!wanted.has(k)) close();
    }
    for (const [k, a] of wanted) {
      if (!this.open.has(k) && !this.dismissed.has(k)) this.ask(k, a);
    }
    clearTimeout(this.timer);
    if (mine.length < waiting.length) this.timer = setTimeout(() => this.questions(), Math.min(again, ...waiting.map((a) => this.left(a) || again)));
  }

  /** claim says whether this window answers for a question. One that shows it need not wait for another. */
  private claim(a: Approval): boolean {
    const k = key(a);
    if (!this.since.has(k)) this.since.set(k, Date.now());
    return (this.left(a) === 0 || this.asks.inSight(a)) && this.claims.take(k);
  }

  /** left is how long a question is left to other windows, in milliseconds. */
  private left(a: Approval): number {
    return Math.max(0, this.since.get(key(a))! + this.asks.patience(a.pod) - Date.now());
  }

  /** VS Code lets an extension close only progress notifications. */
  private ask(k: string, a: Approval): void {
    const link = `command:${review}?${encodeURIComponent(JSON.stringify([a.pod]))}`;
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

  private async alert(a: Alert): Promise<void> {
    if (!matters(a)) return;
    const show = a.level === AlertLevel.ERROR ? vscode.window.showErrorMessage : vscode.window.showWarningMessage;
    const chosen = await show(message(`podd: ${a.text}`), "Acknowledge", ...(a.pod ? ["Open stream"] : []));
    if (chosen === "Acknowledge") await this.asks.acknowledge(a.seq);
    if (chosen === "Open stream") this.asks.open(a.pod);
  }
}

function key(a: Approval): string {
  return `${a.pod}-${a.callSeq}`;
}

/** matters says whether to show an alert. A call that needs approval has its own notification. */
function matters(a: Alert): boolean {
  return a.level >= AlertLevel.WARN && a.source !== "approval";
}

/** message is text for a notification, without Markdown links, which VS Code would render. */
function message(text: string): string {
  return visible(text).replaceAll("](", "] (");
}
