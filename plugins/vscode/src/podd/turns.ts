import type { Pod } from "podd";


/** The time after which the end of a turn is worth a notice, in milliseconds. */
const long = 60_000;

/** Ended is a turn that has ended. */
export interface Ended {
  pod: Pod;
  turn: number;
}

/** Turns finds the turns that end after they ran for a minute in sight of this window. */
export class Turns {
  /** By pod id, its running turn and when that was first seen. */
  private readonly running = new Map<string, { turn: number; since: number }>();

  /** @param runs whether a pod has a turn that is not over. */
  constructor(private readonly runs: (p: Pod) => boolean) {}

  /** ended returns the long turns that have ended since the pods were last seen. */
  ended(pods: Pod[], now: number): Ended[] {
    const list: Ended[] = [];
    for (const p of pods) {
      const was = this.running.get(p.id);
      const over = was && (!this.runs(p) || p.turn !== was.turn);
      if (over && now - was.since >= long) list.push({ pod: p, turn: was.turn });
      if (over) this.running.delete(p.id);
      if (this.runs(p) && !this.running.has(p.id)) this.running.set(p.id, { turn: p.turn, since: now });
    }
    return list;
  }
}
