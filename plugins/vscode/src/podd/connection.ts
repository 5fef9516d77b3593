import {
  AdminServiceClient,
  type Alert,
  AlertServiceClient,
  type Approval,
  type ChangedFile,
  Client,
  FileServiceClient,
  type GetPodResponse,
  type GetStatsResponse,
  type ListModelsResponse,
  Options,
  type Outcome,
  type Places,
  type Pod,
  PodSpec,
  type RestoreFilesRequest,
  type RestoreFilesResponse,
  type Segment,
  SubmitResponse,
  make,
  read,
} from "podd";

/** How many of the last entries are read for the end of a turn. */
const lastEntries = 100;

/** Connection is the package's client with the calls of an editor. */
export class Connection extends Client {
  private readonly alerts = this.service(AlertServiceClient);
  private readonly admin = this.service(AdminServiceClient);
  private readonly files = this.service(FileServiceClient);
  /** By pod id, whether a person here switched plan mode on or off; a pod without one follows its own setting. */
  readonly plans = new Map<string, boolean>();

  constructor(at: Places) {
    super(at, { name: "VS Code", retryFor: 5_000 });
  }

  async version(): Promise<string> {
    const reply = await this.call(this.admin.getStatus.bind(this.admin), {});
    return reply.version;
  }

  /** settings returns a pod with what it asks its model with. */
  async settings(pod: string): Promise<GetPodResponse> {
    return this.call(this.pods.getPod.bind(this.pods), { pod, modelSettings: true, toolsOnly: false, branch: false });
  }

  /** models returns what podd's endpoints offer. */
  async models(): Promise<ListModelsResponse> {
    return this.call(this.admin.listModels.bind(this.admin), { endpoint: "" });
  }

  /** choose sets a pod's model or effort, or with an empty value follows podd's; it returns what podd warns about. */
  async choose(pod: string, what: "model" | "effort", value: string): Promise<string[]> {
    const [spec, field] =
      what === "model" ? [make(PodSpec, { model: value }), "model"] : [make(PodSpec, { options: make(Options, { effort: value }) }), "options.effort"];
    return (await this.call(this.pods.updatePod.bind(this.pods), { pod, spec, updateMask: [field], knownModel: false }, true)).warnings;
  }

  async remove(pod: string): Promise<void> {
    await this.call(this.pods.deletePod.bind(this.pods), { pod, now: false, checkout: false, drop: [] });
  }

  /** send submits a prompt, or summarizes the conversation if that is /compact, in plan mode if a person here switched that on. A prompt that steers follows the turn that it joins. */
  async send(pod: string, segments: Segment[], steer = false): Promise<SubmitResponse> {
    const [first] = segments;
    if (segments.length === 1 && first?.kind?.$case === "text" && /^\/compact\s*$/.test(first.kind.value.text)) {
      await this.call(this.pods.compact.bind(this.pods), { pod });
      return make(SubmitResponse, {});
    }
    return this.submit(pod, segments, { steer, plan: steer ? undefined : this.plans.get(pod) });
  }

  /** image returns the bytes of an image that a pod's log names by its digest. */
  async image(digest: string): Promise<Uint8Array> {
    return (await this.call(this.pods.getImage.bind(this.pods), { digest })).data;
  }

  /** cancel ends the running turn; false when none ran. */
  async cancel(pod: string): Promise<boolean> {
    return (await this.call(this.pods.cancel.bind(this.pods), { pod, reason: "cancelled in VS Code" })).cancelled;
  }

  async pause(pod: string): Promise<void> {
    await this.call(this.pods.pause.bind(this.pods), { pod, reason: "paused in VS Code" });
  }

  async resume(pod: string): Promise<void> {
    await this.call(this.pods.resume.bind(this.pods), { pod });
  }

  /** complete returns paths of the workspace that begin with the text after an @, or have its letters in their order. */
  async complete(pod: string, prefix: string): Promise<string[]> {
    return (await this.call(this.pods.completePath.bind(this.pods), { pod, prefix, limit: 50 })).paths;
  }

  /** names returns what a prompt may begin with that begins with a text, each with its slash. */
  async names(pod: string, start: string): Promise<string[]> {
    const { prompts } = await this.call(this.pods.listPrompts.bind(this.pods), { pod });
    return prompts.map((p) => `/${p.name}`).filter((name) => name.startsWith(start));
  }

  /** changed returns what the agent changed in the last turn that changed files, then what others changed meanwhile. */
  async changed(pod: string): Promise<ChangedFile[]> {
    const list: ChangedFile[] = [];
    this.check();
    for await (const { part } of read(this.files.diffFiles({ pod, turn: 0, afterSeq: 0, paths: [], leftOut: false }))) {
      if (part?.$case === "file") list.push(part.value);
    }
    return list;
  }

  /** restore takes back what the agent changed in files, or says what it would take back. */
  async restore(pod: string, how: Omit<RestoreFilesRequest, "pod">): Promise<RestoreFilesResponse> {
    return this.call(this.files.restoreFiles.bind(this.files), { pod, ...how });
  }

  async stats(pod: string): Promise<GetStatsResponse> {
    return this.call(this.pods.getStats.bind(this.pods), { pod });
  }

  /** outcome is how a turn that ended just now ended; undefined if the end of the pod's log does not say. */
  async outcome(pod: Pod, turn: number): Promise<Outcome | undefined> {
    const after = Math.max(pod.firstSeq - 1, pod.lastSeq - lastEntries, 0);
    for await (const { kind } of this.stream(pod.id, { after, follow: false })) {
      const entry = kind?.$case === "entry" ? kind.value : undefined;
      if (entry?.turn === turn && entry.kind?.$case === "turnEnded") return entry.kind.value.outcome;
    }
    return undefined;
  }

  /** rule says which rule an answer with always would add. */
  async rule(what: Approval): Promise<string> {
    const { rule: r } = await this.call(this.approvals.getApprovalRule.bind(this.approvals), { pod: what.pod, callSeq: what.callSeq });
    const parts = { tool: r?.tool, path: r?.path, command: r?.command, host: r?.host, access: r?.access.join(",") };
    return [r?.decision, ...Object.entries(parts).flatMap(([name, value]) => (value ? `${name} ${JSON.stringify(value)}` : []))].join(", ");
  }

  /** unseen returns the unacknowledged alerts, the oldest first. */
  async unseen(): Promise<Alert[]> {
    return (await this.call(this.alerts.listAlerts.bind(this.alerts), { pod: "", afterSeq: 0, unacked: true, limit: 0 })).alerts;
  }

  async acknowledge(seqs: number[]): Promise<void> {
    await this.call(this.alerts.ackAlerts.bind(this.alerts), { seqs });
  }
}
