import * as fs from "node:fs";
import { randomUUID } from "node:crypto";
import { type ClientUnaryCall, Metadata, type ServiceError, credentials, status } from "@grpc/grpc-js";

import { AdminServiceClient, type ListModelsResponse } from "../gen/podd/v1/admin";
import { type Alert, SubmitMode } from "../gen/podd/v1/entry";
import { AlertServiceClient } from "../gen/podd/v1/alert";
import { type Approval, ApprovalServiceClient } from "../gen/podd/v1/approval";
import { type ChangedFile, FileServiceClient, type RestoreFilesRequest, type RestoreFilesResponse } from "../gen/podd/v1/file";
import { Options, type Segment } from "../gen/podd/v1/item";
import { type GetPodResponse, type GetStatsResponse, type Pod, PodServiceClient, PodSpec, type SubmitResponse } from "../gen/podd/v1/pod";
import { drain } from "./drain";
import { PoddError, poddError } from "./errors";
import { type Places, refusal } from "./places";

/** podd accepts and sends messages of up to 16 MiB. */
const options = {
  "grpc.max_receive_message_length": 16 << 20,
  "grpc.max_send_message_length": 16 << 20,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.min_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2000,
  // There is no host name on a Unix socket.
  "grpc.default_authority": "podd",
};

/** How long a call may take, in milliseconds. */
const callTime = 30_000;

/** Answer is a person's decision on a waiting call. */
export interface Answer {
  approve: boolean;
  always?: boolean;
  reason?: string;
}

type Call<Q, R> = (
  request: Q,
  metadata: Metadata,
  options: { deadline: number },
  done: (err: ServiceError | null, reply: R) => void,
) => ClientUnaryCall;

/** Connection is the way to one podd. Its calls fail with a PoddError. */
export class Connection {
  readonly pods: PodServiceClient;
  readonly alerts: AlertServiceClient;
  private readonly approvals: ApprovalServiceClient;
  private readonly admin: AdminServiceClient;
  private readonly files: FileServiceClient;

  constructor(private readonly at: Places) {
    const address = `unix:${at.socket}`;
    this.pods = new PodServiceClient(address, credentials.createInsecure(), options);
    const channelOverride = this.pods.getChannel();
    const shared = { ...options, channelOverride };
    this.alerts = new AlertServiceClient(address, credentials.createInsecure(), shared);
    this.approvals = new ApprovalServiceClient(address, credentials.createInsecure(), shared);
    this.admin = new AdminServiceClient(address, credentials.createInsecure(), shared);
    this.files = new FileServiceClient(address, credentials.createInsecure(), shared);
  }

  close(): void {
    this.pods.close();
  }

  /** By pod id, whether a person here switched plan mode on or off; a pod without one follows its own setting. */
  readonly plans = new Map<string, boolean>();

  /** check throws a PoddError when the socket is not safe to use. */
  check(): void {
    const why = refusal(this.at.socket);
    if (why) {
      throw new PoddError(why, "UNREACHABLE", status.UNAVAILABLE);
    }
  }

  async version(): Promise<string> {
    const reply = await this.call(this.admin.getStatus.bind(this.admin), {});
    return reply.version;
  }

  /** list returns all pods in the order of their names. */
  async list(): Promise<Pod[]> {
    return (await this.call(this.pods.listPods.bind(this.pods), { dir: "" })).pods;
  }

  /** create creates a pod with a workspace. */
  async create(name: string, dir: string): Promise<Pod> {
    const spec: PodSpec = { ...PodSpec.decode(new Uint8Array()), dir };
    const { pod } = await this.call(this.pods.createPod.bind(this.pods), { name, spec, worktree: undefined }, true);
    return pod!;
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
    const none = PodSpec.decode(new Uint8Array());
    const options = { ...Options.decode(new Uint8Array()), effort: value };
    const [spec, field] = what === "model" ? [{ ...none, model: value }, "model"] : [{ ...none, options }, "options.effort"];
    return (await this.call(this.pods.updatePod.bind(this.pods), { pod, spec, updateMask: [field], knownModel: false }, true)).warnings;
  }

  async remove(pod: string): Promise<void> {
    await this.call(this.pods.deletePod.bind(this.pods), { pod, now: false, checkout: false, drop: [] });
  }

  /**
   * submit submits a prompt to a pod, once: if podd goes away in the middle, submit sends it
   * again with the same request id. A prompt that steers follows the turn that it joins.
   */
  async submit(pod: string, segments: Segment[], steer = false): Promise<SubmitResponse> {
    const plan = this.plans.get(pod);
    const request = {
      pod,
      segments,
      requestId: randomUUID(),
      mode: steer ? SubmitMode.STEER : SubmitMode.QUEUE,
      parseRefs: true,
      planning: steer || plan === undefined ? undefined : { $case: "plan" as const, value: plan },
      answerSchema: "", model: "", effort: "",
    };
    return this.repeated(() => this.call(this.pods.submit.bind(this.pods), request));
  }

  /** repeated repeats a call while podd is away. */
  private async repeated<R>(call: () => Promise<R>): Promise<R> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (err) {
        if (!(err instanceof PoddError && err.passing) || attempt === 10) throw err;
        await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
      }
    }
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

  /** changed returns what the agent changed in the last turn that changed files, then what others changed meanwhile. */
  async changed(pod: string): Promise<ChangedFile[]> {
    const list: ChangedFile[] = [];
    this.check();
    await drain(this.files.diffFiles({ pod, turn: 0, afterSeq: 0, paths: [], leftOut: false }), ({ part }) => {
      if (part?.$case === "file") list.push(part.value);
    });
    return list;
  }

  /** restore takes back what the agent changed in files, or says what it would take back. */
  async restore(pod: string, how: Omit<RestoreFilesRequest, "pod">): Promise<RestoreFilesResponse> {
    return this.call(this.files.restoreFiles.bind(this.files), { pod, ...how });
  }

  async stats(pod: string): Promise<GetStatsResponse> {
    return this.call(this.pods.getStats.bind(this.pods), { pod });
  }

  /** waiting returns the calls of all pods that wait for a person, the oldest first. */
  async waiting(): Promise<Approval[]> {
    return (await this.call(this.approvals.listApprovals.bind(this.approvals), { pod: "" })).approvals;
  }

  /** rule says which rule an answer with always would add. */
  async rule(what: Approval): Promise<string> {
    const { rule: r } = await this.call(this.approvals.getApprovalRule.bind(this.approvals), { pod: what.pod, callSeq: what.callSeq });
    const parts = { tool: r?.tool, path: r?.path, command: r?.command, host: r?.host, access: r?.access.join(",") };
    return [r?.decision, ...Object.entries(parts).flatMap(([name, value]) => (value ? `${name} ${JSON.stringify(value)}` : []))].join(", ");
  }

  /** answer decides on a call; it applies to exactly what the approval shows. */
  async answer(what: Approval, how: Answer): Promise<void> {
    await this.call(
      this.approvals.resolveApproval.bind(this.approvals),
      {
        pod: what.pod,
        callSeq: what.callSeq,
        approve: how.approve,
        always: how.always ?? false,
        reason: how.reason ?? "",
        client: "VS Code",
        digest: what.digest,
      },
      true,
    );
  }

  /** unseen returns the unacknowledged alerts, the oldest first. */
  async unseen(): Promise<Alert[]> {
    return (await this.call(this.alerts.listAlerts.bind(this.alerts), { pod: "", afterSeq: 0, unacked: true, limit: 0 })).alerts;
  }

  async acknowledge(seqs: number[]): Promise<void> {
    await this.call(this.alerts.ackAlerts.bind(this.alerts), { seqs });
  }

  private call<Q, R>(f: Call<Q, R>, request: Q, withToken = false): Promise<R> {
    return new Promise((resolve, reject) => {
      const metadata = new Metadata();
      try {
        this.check();
        if (withToken) metadata.set("authorization", `Bearer ${this.token()}`);
      } catch (err) {
        reject(err);
        return;
      }
      f(request, metadata, { deadline: Date.now() + callTime }, (err, reply) => (err ? reject(poddError(err)) : resolve(reply)));
    });
  }

  /** The token is read at each call, since a reinstalled podd has a new one. */
  private token(): string {
    try {
      return fs.readFileSync(this.at.token, "utf8").trim();
    } catch (err) {
      throw new PoddError(
        `cannot read the client token: ${(err as Error).message}; set podd.stateDir to podd's state directory`,
        "CLIENT_TOKEN",
        status.UNAUTHENTICATED,
      );
    }
  }
}
