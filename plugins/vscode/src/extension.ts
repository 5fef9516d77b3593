import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { type Answer, type Approval, Outcome, places, type Pod, type Segment } from "podd";

import { images } from "./images";
import { Connection } from "./podd/connection";
import { type Choice, effortChoices, modelChoices } from "./podd/models";
import type { Ended } from "./podd/turns";
import { type State, Watch } from "./podd/watch";
import { proposals } from "./proposal";
import { type Selected, segments } from "./selection";
import type { Kept } from "./stream/messages";
import { visible } from "../../../internal/web/page/visible.js";
import { Changes } from "./views/changes";
import { Claims, claimsDir } from "./views/claims";
import { Diffs } from "./views/diffs";
import { Forms } from "./views/form";
import { Notifier, acknowledge, review } from "./views/notify";
import { Panel, chooseImages, streamType } from "./views/panel";
import { Status, podLine } from "./views/status";
import { Tree, turnRuns } from "./views/tree";

/** How often the extension asks podd for the state of its pods, in milliseconds. */
const every = 1000;

/** Extension holds what lives as long as the extension does. */
class Extension {
  private connection?: Connection;
  private readonly panels = new Map<string, Panel>();
  private readonly tree = new Tree();
  private readonly status = new Status();
  private readonly diffs = new Diffs();
  private readonly forms = new Forms();
  private readonly changes = new Changes();
  private readonly notifier: Notifier;
  private readonly watch: Watch;
  /** The pod that was last opened or given input, and all of those. */
  private current = "";
  private readonly used = new Set<string>();

  constructor(private readonly context: vscode.ExtensionContext) {
    const asks = {
      inSight: (pod: string, a?: Approval) => (this.panels.get(pod)?.visible ?? false) || (!!a && this.diffs.visible(a)),
      patience: (pod: string) => this.patience(pod),
      uses: (pod: string) => this.used.has(pod),
      finished: async ({ pod, turn }: Ended) => (await this.connect().outcome(pod, turn)) === Outcome.FINISHED,
      report: (what: Promise<unknown>) => this.report(what),
    };
    this.notifier = new Notifier(asks, new Claims(claimsDir()));
    this.watch = new Watch(() => this.connect(), every, (now) => this.look(now));
    context.subscriptions.push(
      this.status,
      this.diffs,
      this.forms,
      this.changes,
      this.notifier,
      vscode.window.registerTreeDataProvider("podd.pods", this.tree),
      vscode.window.registerWebviewPanelSerializer(streamType, {
        deserializeWebviewPanel: async (view, kept?: Kept) => (kept ? this.show(kept, view) : view.dispose()),
      }),
      vscode.commands.registerCommand(review, (pod: string) => this.open(pod)),
      vscode.commands.registerCommand(acknowledge, (seq: number) => this.report(this.connect().acknowledge([seq]).then(() => this.watch.look()))),
      vscode.window.tabGroups.onDidChangeTabs(() => this.notifier.questions()),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("podd") && this.disconnect()),
      { dispose: () => this.watch.stop() },
      { dispose: () => this.disconnect() },
    );
    this.command("podd.open", (p?: Pod) => this.pick(p).then((pod) => pod && this.open(pod.id)));
    this.command("podd.create", () => this.create());
    this.command("podd.submit", (p?: Pod) => this.submit(p, undefined));
    this.command("podd.submitSelection", () => this.submit(undefined, vscode.window.activeTextEditor));
    context.subscriptions.push(
      vscode.commands.registerCommand("podd.submitImage", (one?: vscode.Uri, all?: vscode.Uri[]) =>
        this.report(this.submitImages(all ?? (one ? [one] : undefined))),
      ),
    );
    for (const [name, approve] of [["podd.allow", true], ["podd.deny", false]] as const) {
      context.subscriptions.push(vscode.commands.registerCommand(name, (uri?: vscode.Uri) => this.report(this.answerDiff(uri, { approve }))));
    }
    this.command("podd.cancel", (p?: Pod) => this.with(p, (c, pod) => c.cancel(pod.id)));
    this.command("podd.pause", (p?: Pod) => this.with(p, (c, pod) => c.pause(pod.id)));
    this.command("podd.resume", (p?: Pod) => this.with(p, (c, pod) => c.resume(pod.id)));
    this.command("podd.diff", (p?: Pod) => this.with(p, (c, pod) => this.changes.show(c, pod)));
    this.command("podd.undo", (p?: Pod) => this.with(p, (c, pod) => this.changes.undo(c, pod)));
    this.command("podd.model", (p?: Pod) => this.choose(p, "model"));
    this.command("podd.effort", (p?: Pod) => this.choose(p, "effort"));
    this.command("podd.acknowledge", async () => this.connect().acknowledge((await this.connect().unseen()).map((a) => a.seq)));
    this.watch.start();
  }

  private command(name: string, run: (p?: Pod) => Promise<unknown>): void {
    this.context.subscriptions.push(vscode.commands.registerCommand(name, (p?: Pod) => this.report(run(p))));
  }

  /** report shows an error, once, where a person sees it. */
  private report(what: Promise<unknown>): void {
    what.catch((err: Error) => vscode.window.showErrorMessage(visible(`podd: ${err.message}`)));
  }

  private connect(): Connection {
    if (!this.connection) {
      // These name a program to trust, so a workspace's own settings cannot set them.
      const set = vscode.workspace.getConfiguration("podd");
      this.connection = new Connection(places({ socket: set.get("socket"), stateDir: set.get("stateDir") }));
    }
    return this.connection;
  }

  private disconnect(): void {
    this.connection?.close();
    this.connection = undefined;
  }

  private look(now: State): void {
    void vscode.commands.executeCommand("setContext", "podd.seen", now.away ? "away" : "here");
    this.tree.show(now);
    this.notifier.show(now);
    if (!now.away) this.report(this.keepDiffs(now.approvals));
    if (!now.away) this.forms.keep(now.approvals);
    for (const id of this.panels.keys()) this.tell(id);
    const p = now.pods.find((pod) => pod.id === this.current) ?? here(now.pods)[0];
    this.status.show(p ? podLine(p) : "", now.approvals.length, now.away);
    if (p && !now.away) this.report(this.cost(p));
  }

  private async keepDiffs(waiting: Approval[]): Promise<void> {
    for (const a of await this.diffs.keep(waiting)) await this.diff(a);
  }

  /** diff shows what a call that waits would make of files. */
  private async diff(a: Approval): Promise<void> {
    const dir = this.watch.state.pods.find((p) => p.id === a.pod)?.spec?.dir ?? "";
    await this.diffs.show(a, await proposals(a.previews, dir));
  }

  private async cost(p: Pod): Promise<void> {
    const line = podLine(p, await this.connect().stats(p.id));
    this.status.show(line, this.watch.state.approvals.length, this.watch.state.away);
  }

  /** tell updates the state of a pod's page. */
  private tell(id: string): void {
    const { pods, away } = this.watch.state;
    const p = pods.find((q) => q.id === id);
    if (!p) return;
    this.panels.get(id)?.tell(visible(away || `${podLine(p)}${p.stateReason ? ` (${p.stateReason})` : ""}`), turnRuns(p), this.connect().plans.get(id) ?? p.spec?.plan ?? false);
  }

  private open(pod: string): void {
    const p = this.watch.state.pods.find((q) => q.id === pod);
    this.current = pod;
    if (this.panels.has(pod)) this.panels.get(pod)!.reveal();
    else if (p) this.show({ pod, name: p.name });
  }

  /** show shows a pod's stream, in the view kept over a reload of the window or in a new one. */
  private show(kept: Kept, view?: vscode.WebviewPanel): void {
    const { pod } = kept;
    const asks = {
      answer: async (id: string, callId: string, digest: Buffer, how: Answer) => {
        const what = await this.waits(id, callId);
        // Without a digest podd would approve any waiting call.
        if (how.approve && digest.length === 0) throw new Error("the call was not shown completely: open the stream again");
        await this.answer({ ...what, digest }, how);
      },
      form: async (id: string, callId: string, digest: Buffer, dismiss: boolean) => {
        const what = { ...(await this.waits(id, callId)), digest };
        const how = dismiss ? { approve: false, dismiss } : await this.forms.ask(what);
        if (how) await this.connect().answer(what, how);
        await this.watch.look();
      },
      diff: async (id: string, callId: string) => this.diff(await this.waits(id, callId)),
      report: (what: Promise<unknown>) => this.report(what),
      seen: () => this.notifier.questions(),
      closed: () => {
        this.panels.delete(pod);
        this.notifier.questions();
      },
    };
    this.used.add(pod);
    this.panels.set(pod, new Panel(this.connect(), kept, this.context.extensionUri, asks, view));
    this.tell(pod);
    asks.seen();
  }

  /**
   * patience lets an editor that shows the pod's stream have a notice first, then a window of its folder, then the one that a
   * person uses. Each waits longer than the one before by more than a poll, since each sees the cause at a poll of its own.
   */
  private patience(pod: string): number {
    if (this.panels.get(pod)?.visible) return 0;
    const p = this.watch.state.pods.find((q) => q.id === pod);
    if (p?.spec && p.spec.dir === folder()) return 1.5 * every;
    return vscode.window.state.focused ? 4 * every : 6.5 * every;
  }

  /** waits is a call that waits for an answer. */
  private async waits(pod: string, callId: string): Promise<Approval> {
    const what = (await this.connect().waiting()).find((a) => a.pod === pod && a.callId === callId);
    if (!what) throw new Error("the call no longer waits: it was answered elsewhere, or its turn ended");
    return what;
  }

  /** answerDiff answers the call of a diff view: the one that is named, or that in front. */
  private async answerDiff(uri: vscode.Uri | undefined, how: Answer): Promise<void> {
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    const shown = uri ?? (input instanceof vscode.TabInputTextDiff ? input.modified : undefined);
    const call = shown && this.diffs.call(shown);
    if (!call) throw new Error("no diff of a call that waits is in front: open it from the question");
    await this.answer(call, how);
  }

  private async answer(what: Approval, how: Answer): Promise<void> {
    if (!how.approve && how.reason === undefined) {
      const reason = await vscode.window.showInputBox({ prompt: "Reason for the model. Escape leaves the call waiting.", placeHolder: "no reason" });
      if (reason === undefined) return;
      how = { ...how, reason };
    }
    if (how.always) {
      const add = "Add Rule";
      const detail = visible(await this.connect().rule(what));
      if ((await vscode.window.showInformationMessage("Add this rule, and run the call?", { modal: true, detail }, add)) !== add) return;
    }
    await this.connect().answer(what, how);
    await this.watch.look();
  }

  /** pick returns the pod that a command is about, and asks if there are several. */
  private async pick(p?: Pod): Promise<Pod | undefined> {
    if (p) return p;
    await this.watch.look();
    const { pods, away } = this.watch.state;
    if (away) throw new Error(away);
    const near = here(pods);
    const current = pods.find((q) => q.id === this.current);
    if (current && !near.includes(current)) near.push(current);
    if (near.length === 1) return near[0];
    if (pods.length === 0) return this.create();
    // Pods of other folders are offered if this one has no pod.
    const found = near.length > 0 ? near : pods;
    const offered: { label: string; description?: string; pod?: Pod }[] = found.map((q) => ({ label: q.name, description: q.spec?.dir, pod: q }));
    if (near.length === 0 && folder()) offered.unshift({ label: "$(add) New pod for this folder" });
    const chosen = await vscode.window.showQuickPick(offered, { placeHolder: "Which pod?" });
    return chosen && (chosen.pod ?? this.create());
  }

  private async with(p: Pod | undefined, run: (c: Connection, pod: Pod) => Promise<unknown>): Promise<void> {
    const pod = await this.pick(p);
    if (pod) await run(this.connect(), pod);
    await this.watch.look();
  }

  /** choose lets a person choose the pod's model or effort. */
  private async choose(p: Pod | undefined, what: "model" | "effort"): Promise<void> {
    const pod = await this.pick(p);
    if (!pod) return;
    const c = this.connect();
    const offered = Promise.all([c.settings(pod.id), c.models()]).then(([now, listed]) => (what === "model" ? modelChoices(now, listed) : effortChoices(now, listed)));
    const chosen = await choice(offered, `The ${what} of ${pod.name}, from its next turn on`);
    if (!chosen) return;
    for (const text of await c.choose(pod.id, what, chosen.value)) void vscode.window.showWarningMessage(visible(`podd: ${text}`));
  }

  private async create(): Promise<Pod | undefined> {
    const dir = folder();
    if (!dir) throw new Error("open a folder first: it becomes the pod's workspace");
    const named = path.basename(dir).toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+/, "").slice(0, 63);
    const name = await vscode.window.showInputBox({ prompt: `Name of the pod for ${dir}`, value: named || "pod" });
    if (!name) return undefined;
    const pod = await this.connect().create(name, dir);
    await this.watch.look();
    this.open(pod.id);
    return pod;
  }

  private async submit(p: Pod | undefined, editor: vscode.TextEditor | undefined): Promise<void> {
    const pod = await this.pick(p);
    if (!pod) return;
    const what = editor && selected(editor, pod);
    const about = what && (what.path ? ` about ${what.path}:${what.start}-${what.end}` : " about the selection");
    const message = await vscode.window.showInputBox({ prompt: `Message to ${pod.name}${about ?? ""}; @ adds a file` });
    if (message !== undefined) await this.send(pod, segments(message, what));
  }

  /** submitImages submits images with a message: the files that the explorer names, or chosen ones. */
  private async submitImages(named: vscode.Uri[] | undefined): Promise<void> {
    const pod = await this.pick();
    const files = pod && (named?.map((uri) => uri.fsPath) ?? (await chooseImages()));
    if (!pod || !files) return;
    const read = await images(files);
    const message = await vscode.window.showInputBox({ prompt: `Message to ${pod.name} about ${files.map((f) => path.basename(f)).join(", ")}; @ adds a file` });
    if (message !== undefined) await this.send(pod, [...segments(message, undefined), ...read]);
  }

  private async send(pod: Pod, what: Segment[]): Promise<void> {
    const reply = await this.connect().send(pod.id, what);
    this.open(pod.id);
    for (const a of reply.alerts) void vscode.window.showWarningMessage(visible(`podd: ${a.text}`));
  }
}

/** choice lets a person choose, beginning at what the pod has now; undefined if the person does not. */
async function choice(offered: Promise<Choice[]>, placeholder: string): Promise<Choice | undefined> {
  const list = vscode.window.createQuickPick<Choice>();
  list.placeholder = placeholder;
  list.busy = true;
  const done = new Promise<Choice | undefined>((resolve) => {
    list.onDidAccept(() => resolve(list.activeItems[0]));
    list.onDidHide(() => resolve(undefined));
  });
  list.show();
  try {
    list.items = await offered;
    list.activeItems = list.items.filter((c) => c.now);
    list.busy = false;
    return await done;
  } finally {
    list.dispose();
  }
}

/** folder is the real path of the window's first folder, as podd knows it. */
function folder(): string | undefined {
  const dir = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return dir && fs.existsSync(dir) ? fs.realpathSync(dir) : dir;
}

/** here returns the folder's pods that are not sub-pods. */
function here(pods: Pod[]): Pod[] {
  const dir = folder();
  return pods.filter((p) => p.spec?.dir === dir && !p.spec?.parent);
}

/** selected is the selection in an editor; undefined without one. */
function selected(editor: vscode.TextEditor, pod: Pod): Selected | undefined {
  const { selection, document } = editor;
  if (selection.isEmpty) return undefined;
  const below = path.relative(pod.spec?.dir ?? "", document.uri.fsPath);
  const there = document.uri.scheme === "file" && !document.isDirty && below !== "" && !below.startsWith("..") && !path.isAbsolute(below);
  // A selection that ends at the start of a line does not include that line.
  const last = selection.end.character === 0 && selection.end.line > selection.start.line ? selection.end.line : selection.end.line + 1;
  return { text: document.getText(selection), path: there ? below : "", name: path.basename(document.uri.path), start: selection.start.line + 1, end: last };
}

export function activate(context: vscode.ExtensionContext): void {
  new Extension(context);
}
