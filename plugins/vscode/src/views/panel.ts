import * as vscode from "vscode";
import { type Answer, type PoddError, type Segment, Transcript } from "podd";

import { dataURI, images, imageTypes } from "../images";
import type { Connection } from "../podd/connection";
import { Batch } from "../stream/batch";
import { html } from "../stream/html";
import type { FromPage, Kept, ToPage } from "../stream/messages";
import { said } from "../selection";
import { pageChange } from "../stream/page";

/** Asks is what the panel needs from the extension besides its pod. */
export interface Asks {
  /** Answers the call that the page has shown, identified by its digest. */
  answer(pod: string, callId: string, digest: Buffer, how: Answer): Promise<void>;
  /** Asks the person what a call asks, as the page has shown it, and sends the answer; or leaves it to the model. */
  form(pod: string, callId: string, digest: Buffer, dismiss: boolean): Promise<void>;
  /** Shows what a call that waits would change. */
  diff(pod: string, callId: string): Promise<void>;
  report(what: Promise<unknown>): void;
  /** The view became visible or hidden. */
  seen(): void;
  closed(): void;
}

/** chooseImages asks for image files; undefined if the person chose none. */
export async function chooseImages(): Promise<string[] | undefined> {
  const chosen = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel: "Send", title: "Images for the pod", filters: { Images: imageTypes } });
  return chosen?.map((uri) => uri.fsPath);
}

/** streamType is the type of the panel's view. */
export const streamType = "podd.stream";

/** Panel shows one pod's stream. Closing it does not affect the pod. */
export class Panel {
  private transcript = new Transcript();
  private readonly batch = new Batch((c) => this.post({ type: "change", ...pageChange(c) }));
  private readonly stop = new AbortController();
  private readonly view: vscode.WebviewPanel;
  private ready = false;
  private state: Extract<ToPage, { type: "state" }> = { type: "state", text: "", busy: false, plan: false };

  /** @param view the view to use; a new one by default. */
  constructor(
    private readonly c: Connection,
    private readonly pod: Kept,
    extension: vscode.Uri,
    private readonly asks: Asks,
    view?: vscode.WebviewPanel,
  ) {
    this.view = view ?? vscode.window.createWebviewPanel(streamType, `podd: ${pod.name}`, vscode.ViewColumn.Beside);
    this.view.webview.options = { enableScripts: true, localResourceRoots: ["media", "dist"].map((dir) => vscode.Uri.joinPath(extension, dir)) };
    this.view.onDidChangeViewState(() => asks.seen());
    const uri = (file: string) => this.view.webview.asWebviewUri(vscode.Uri.joinPath(extension, file)).toString();
    this.view.onDidDispose(() => {
      this.stop.abort();
      this.batch.clear();
      asks.closed();
    });
    this.view.webview.onDidReceiveMessage((m: FromPage) => asks.report(this.take(m)));
    this.view.webview.html = html({ script: uri("dist/stream.js"), style: uri("media/stream.css"), source: this.view.webview.cspSource });
    asks.report(this.follow());
  }

  /** visible says whether the page is visible. */
  get visible(): boolean {
    return this.view.visible;
  }

  reveal(): void {
    this.view.reveal();
  }

  /** tell shows the pod's state. plan says whether its prompts begin turns that only plan. */
  tell(text: string, busy: boolean, plan: boolean): void {
    this.state = { type: "state", text, busy, plan };
    this.post(this.state);
  }

  private async follow(): Promise<void> {
    const restarted = () => {
      this.transcript = new Transcript();
      this.batch.clear();
      this.post({ type: "reset", blocks: [] });
    };
    const lost = (why: PoddError) => {
      this.transcript.lost();
      this.tell(`lost the connection to podd; retrying: ${why.message}`, false, this.state.plan);
    };
    for await (const m of this.c.stream(this.pod.pod, { deltas: true, signal: this.stop.signal, lost, restarted })) {
      this.batch.add(this.transcript.take(m));
    }
  }

  /** A page that is not loaded yet, or that was hidden, gets everything once it reports that it is ready. */
  private post(m: ToPage): void {
    if (this.ready && !this.stop.signal.aborted) void this.view.webview.postMessage(m);
  }

  private async take(m: FromPage): Promise<void> {
    switch (m.type) {
      case "ready":
        this.ready = true;
        this.batch.clear();
        this.post({ type: "keep", state: this.pod });
        this.post({ type: "reset", blocks: this.transcript.all() });
        this.post(this.state);
        break;
      case "submit":
        await this.c.send(this.pod.pod, said(m.text, m.pasted), m.steer);
        break;
      case "image": {
        const files = await chooseImages();
        if (!files) break;
        await this.c.send(this.pod.pod, [...(m.text.trim() ? said(m.text, m.pasted) : []), ...(await images(files))]);
        this.post({ type: "sent", text: m.text });
        break;
      }
      case "plan":
        this.c.plans.set(this.pod.pod, m.on);
        this.tell(this.state.text, this.state.busy, m.on);
        break;
      case "complete":
        this.post({ type: "paths", prefix: m.prefix, paths: await this.c.complete(this.pod.pod, m.prefix) });
        break;
      case "names":
        this.post({ type: "paths", prefix: m.prefix, paths: await this.c.names(this.pod.pod, m.prefix) });
        break;
      case "answer":
        try {
          await this.asks.answer(this.pod.pod, m.callId, Buffer.from(m.digest, "hex"), { approve: m.approve, always: m.always });
        } finally {
          this.post({ type: "answered" });
        }
        break;
      case "form":
        try {
          await this.asks.form(this.pod.pod, m.callId, Buffer.from(m.digest, "hex"), m.dismiss);
        } finally {
          this.post({ type: "answered" });
        }
        break;
      case "diff":
        await this.asks.diff(this.pod.pod, m.callId);
        break;
      case "picture": {
        // Where there is none any more, its line says enough.
        const uri = dataURI(await this.c.image(m.digest).catch(() => Buffer.of()));
        if (uri) this.post({ type: "picture", digest: m.digest, uri });
        break;
      }
      case "cancel":
        await this.c.cancel(this.pod.pod);
        break;
    }
  }
}
