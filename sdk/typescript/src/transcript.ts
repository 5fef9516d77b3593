import { Transcript as Fold } from "../../../internal/web/page/transcript/fold.js";
import type { Block, Change } from "../../../internal/web/page/types";
import type { StreamResponse } from "./gen/podd/v1/pod";
import { json } from "./json";

/** Transcript folds a stream into blocks, the pieces that a person sees. Give it each message once and in order. */
export class Transcript {
  private readonly fold = new Fold();

  /** take applies the next message and returns its effect. */
  take(m: StreamResponse): Change {
    return this.fold.take(json(m));
  }

  /** lost says that the stream broke: after the next caught_up, live text either continues or is dropped. */
  lost(): void {
    this.fold.lost();
  }

  /** all returns the blocks to show, in order. */
  all(): Block[] {
    return this.fold.all();
  }
}
