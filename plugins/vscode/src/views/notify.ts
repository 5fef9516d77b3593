import * as vscode from "vscode";
import { type Alert, AlertLevel, type Approval } from "podd";

import { type Ended, Turns } from "../podd/turns";
import type { State } from "../podd/watch";
import { visible } from "../../../../internal/web/page/visible.js";
import type { Claims } from "./claims";
import { turnRuns } from "./tree";

/** What the notifier asks of the extension. */
export interface Asks {
  /** Whether a pod's stream is visible, or the diff of its call. */
  inSight(pod: string, a?: Approval): boolean;
  /** How long another editor or window may claim a notice about the pod before this one, in milliseconds. */
  patience(pod: string): number;
  /** Whether a person opened the pod in this window. */
  uses(pod: string): boolean;
  /** Whether a turn finished; one that failed or was cancelled did not. */
  finished(what: Ended): Promise<boolean>;
  report(what: Promise<unknown>): void;
}

/** The commands behind the links of notifications: review opens the stream of a pod, acknowledge takes the number of an alert. */
export const review = "podd.review";
export const acknowledge = "podd.acknowledgeOne";

/** How often the notifier looks whether a question has lost its window, and how long the claim to an end lasts, in milliseconds. */
const again = 2000;
const endClaim = 3_600_000;

/** News is what is shown once, by the window that claims it, until it is over. */
interface News {
  key: string;
  pod: string;
  /** What the notification says; empty for none. */
  title(): Promise<string>;
  /** Whether the claim to it is still needed. */
  lasts(now: State): boolean;
  /** Whether it is over, although the claim is not. */
  over?(now: State): boolean;
}

/**
 * Notifier shows what docs/editors.md lists: each call that waits, unless a window shows it, the end of
 * a long turn, and each alert, as long as each matters. One window of one editor does.
 */
export class Notifier implements vscode.Disposable {
  private readonly told = new Set<string>();
  private news: News[] = [];
  /** What has a notification, by its key; each closes it. */
  private readonly open = new Map<string, () => void>();
  private readonly dismissed = new Set<string>();
  /** When each question and each news was first seen here. */
  private readonly since = new Map<string, number>();
  private readonly turns = new Turns(turnRuns);
  private first = true;
  private now: State = { pods: [], approvals: [], alerts: [], away: "" };
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
    this.now = now;
    this.news = this.news.filter((n) => n.lasts(now));
    const alerts = now.alerts.filter(matters);
    for (const a of alerts) {
      // Alerts from before the start are in the stream; they are not shown one by one.
      this.add({ key: alertKey(a), pod: a.pod, title: () => alertTitle(a), lasts: (s) => s.alerts.some((b) => b.seq === a.seq) }, this.first);
    }
    if (this.first && alerts.length > 0) {
      const last = alerts.at(-1)!;
      const text = `podd: ${alerts.length} unacknowledged ${alerts.length === 1 ? "alert" : "alerts"}; "podctl alerts" lists them.`;
      this.add({ key: `unseen-${alertKey(last)}`, pod: "", title: async () => text, lasts: (s) => s.alerts.some((b) => b.seq === last.seq) });
    }
    for (const e of now.away ? [] : this.turns.ended(now.pods, Date.now())) {
      const until = Date.now() + endClaim;
      if (!this.asks.uses(e.pod.id)) continue;
      const over = (s: State) => this.asks.inSight(e.pod.id) || s.pods.some((p) => p.id === e.pod.id && p.turn !== e.turn);
      this.add({ key: `end-${e.pod.id}-${e.turn}`, pod: e.pod.id, title: () => this.end(e), lasts: () => Date.now() < until, over });
    }
    this.first = this.first && now.away !== "";
    this.questions();
  }

  private add(n: News, told = false): void {
    if (this.news.some((m) => m.key === n.key)) return;
    this.news.push(n);
    if (told) this.told.add(n.key);
  }

  /** tell shows the news that this window claims, and forgets those that another one has. */
  private tell(): void {
    for (const n of this.news) {
      if (this.told.has(n.key) || this.left(n.key, n.pod) > 0) continue;
      this.told.add(n.key);
      if (this.claims.take(n.key)) this.asks.report(this.say(n));
    }
  }

  private async say(n: News): Promise<void> {
    const title = await n.title();
    if (title && this.news.includes(n) && !n.over?.(this.now)) this.notify(n.key, title);
  }

  /** questions shows the calls that wait, tells the news, and closes the notifications of all that is over. */
  questions(): void {
    const waiting = this.now.approvals;
    const keys = new Set([...waiting.map(key), ...this.news.map((n) => n.key)]);
    this.claims.keep(keys);
    this.tell();
    for (const k of this.since.keys()) {
      if (!keys.has(k)) this.since.delete(k);
    }
    const mine = waiting.filter((a) => this.claim(a));
    const wanted = new Map(mine.filter((a) => !this.asks.inSight(a.pod, a)).map((a) => [key(a), a]));
    const lasting = new Set(this.news.filter((n) => !n.over?.(this.now)).map((n) => n.key));
    for (const [k, close] of this.open) {
      if (!wanted.has(k) && !lasting.has(k)) close();
    }
    for (const [k, a] of wanted) {
      if (!this.open.has(k) && !this.dismissed.has(k)) this.notify(k, `${message(`${a.podName}: ${a.question}`)} ${link("Review and answer", review, a.pod)}`);
    }
    clearTimeout(this.timer);
    const untold = this.news.filter((n) => !this.told.has(n.key));
    const soon = [...waiting.map((a) => this.left(key(a), a.pod)), ...untold.map((n) => this.left(n.key, n.pod))].filter((ms) => ms > 0);
    if (mine.length < waiting.length || soon.length > 0) this.timer = setTimeout(() => this.questions(), Math.min(again, ...soon));
  }

  /** claim says whether this window answers for a question. One that shows it need not wait for another. */
  private claim(a: Approval): boolean {
    return (this.left(key(a), a.pod) === 0 || this.asks.inSight(a.pod, a)) && this.claims.take(key(a));
  }

  /** left is how long something about a pod is left to other windows, in milliseconds. */
  private left(k: string, pod: string): number {
    if (!this.since.has(k)) this.since.set(k, Date.now());
    return Math.max(0, this.since.get(k)! + this.asks.patience(pod) - Date.now());
  }

  /** VS Code lets an extension close only progress notifications. */
  private notify(k: string, title: string): void {
    const closed = new Promise<void>((resolve) =>
      this.open.set(k, () => {
        this.open.delete(k);
        resolve();
      }),
    );
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (_, token) => {
      token.onCancellationRequested(() => {
        this.dismissed.add(k);
        this.open.get(k)?.();
      });
      return closed;
    });
  }

  /** end says that a turn finished, unless its stream shows that. */
  private async end(e: Ended): Promise<string> {
    if (this.asks.inSight(e.pod.id) || !(await this.asks.finished(e))) return "";
    return `${message(`podd: ${e.pod.name} finished turn ${e.turn}`)} ${link("Open stream", review, e.pod.id)}`;
  }
}

async function alertTitle(a: Alert): Promise<string> {
  const level = a.level === AlertLevel.ERROR ? "error" : "warning";
  return [message(`podd: ${level}: ${a.text}`), link("Acknowledge", acknowledge, a.seq), ...(a.pod ? [link("Open stream", review, a.pod)] : [])].join(" ");
}

/** link is a link of a notification that runs a command. */
function link(label: string, command: string, argument: string | number): string {
  return `[${label}](command:${command}?${encodeURIComponent(JSON.stringify([argument]))})`;
}

function key(a: Approval): string {
  return `${a.pod}-${a.callSeq}`;
}

/** alertKey names an alert, also where several podds are in use: its number and second. */
function alertKey(a: Alert): string {
  return `alert-${a.seq}-${a.time?.toISOString().slice(0, 19) ?? ""}`;
}

/** matters says whether to show an alert. A call that waits for a person has its own notification. */
function matters(a: Alert): boolean {
  return a.level >= AlertLevel.WARN && a.source !== "approval" && a.source !== "question";
}

/** message is text for a notification, without Markdown links, which VS Code would render. */
function message(text: string): string {
  return visible(text).replaceAll("](", "] (");
}
