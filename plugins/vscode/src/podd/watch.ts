import type { Alert, Approval, Pod } from "podd";
import type { Connection } from "./connection";

/** State is the last known state of podd. */
export interface State {
  pods: Pod[];
  /** Calls that wait for a person. */
  approvals: Approval[];
  /** Unacknowledged alerts. */
  alerts: Alert[];
  /** Why podd cannot be asked, in one sentence; empty when it can. */
  away: string;
}

const nothing: State = { pods: [], approvals: [], alerts: [], away: "" };

/**
 * Watch polls podd and reports changes. One poll runs at a time.
 */
export class Watch {
  state: State = nothing;
  private timer?: NodeJS.Timeout;
  private looking?: Promise<void>;
  private seen = "";
  private stopped = false;

  /** @param every milliseconds between two polls. */
  constructor(
    private readonly connection: () => Connection,
    private readonly every: number,
    private readonly changed: (now: State, before: State) => void,
  ) {}

  start(): void {
    void this.look().finally(() => {
      if (!this.stopped) this.timer = setTimeout(() => this.start(), this.every);
    });
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** look polls now; it returns when the state is at least as new as the call. */
  async look(): Promise<void> {
    await this.looking;
    this.looking = this.ask();
    await this.looking;
  }

  private async ask(): Promise<void> {
    const before = this.state;
    try {
      const c = this.connection();
      const [pods, approvals, alerts] = await Promise.all([c.list(), c.waiting(), c.unseen()]);
      this.state = { pods, approvals, alerts, away: "" };
    } catch (err) {
      // Keep showing the last known pods.
      this.state = { ...before, approvals: [], away: (err as Error).message };
    }
    const seen = JSON.stringify(this.state);
    if (seen !== this.seen && !this.stopped) {
      this.seen = seen;
      this.changed(this.state, before);
    }
  }
}
