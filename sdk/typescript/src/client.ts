import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { type ChannelCredentials, type ChannelOptions, type ClientUnaryCall, Metadata, type ServiceError, credentials, status } from "@grpc/grpc-js";

import { PoddError, poddError } from "./errors";
import { type Approval, ApprovalServiceClient, ListApprovalsRequest, ResolveApprovalRequest } from "./gen/podd/v1/approval";
import { type FormReply, SubmitMode } from "./gen/podd/v1/entry";
import type { Segment } from "./gen/podd/v1/item";
import { type Pod, CreatePodRequest, ListPodsRequest, PodServiceClient, PodSpec, type StreamResponse, SubmitRequest, type SubmitResponse } from "./gen/podd/v1/pod";
import { type Places, refusal } from "./places";
import { type StreamOptions, sleep, stream } from "./stream";

/** podd accepts and sends messages of up to 16 MiB. */
const channel = {
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

/** The first and the longest pause between two attempts, in milliseconds. */
const pauses = { first: 50, longest: 1000 };

/** ClientOptions are what a program tells of itself. */
export interface ClientOptions {
  /** Who answers calls, as podd's log shows it. */
  name?: string;
  /** How long a call that may be repeated is repeated after podd went away, in milliseconds. */
  retryFor?: number;
}

/** Answer is a person's decision on a waiting call. */
export interface Answer {
  approve: boolean;
  /** Adds a rule that allows such calls from now on. */
  always?: boolean;
  /** What the model reads of a refusal. */
  reason?: string;
  /** With approve, the answers to a form: one for each of its questions. */
  replies?: FormReply[];
  /** Without approve, leaves what a form asks to the model. */
  dismiss?: boolean;
}

/** SubmitOptions says what a prompt does. */
export interface SubmitOptions {
  /** Makes the submit count once, however often it is sent; a random one by default. */
  requestId?: string;
  /** Joins the running turn at its next step. */
  steer?: boolean;
  /** Begins a turn that only plans, or one that acts; by default the pod's setting. */
  plan?: boolean;
  /** Begins a turn that asks no questions, because nobody answers. */
  noQuestions?: boolean;
}

type Call<Q, R> = (
  request: Q,
  metadata: Metadata,
  options: { deadline: number },
  done: (err: ServiceError | null, reply: R) => void,
) => ClientUnaryCall;

/** make makes a message of some fields; the others have their zero value. */
export function make<M extends object>(type: { decode(input: Uint8Array): M }, fields: Partial<M>): M {
  return { ...type.decode(new Uint8Array()), ...fields };
}

/** Client is the way to one podd. Its calls fail with a PoddError. */
export class Client {
  readonly pods: PodServiceClient;
  readonly approvals: ApprovalServiceClient;
  /** Whether podd has ever answered. */
  private reached = false;
  private readonly name: string;
  private readonly retryFor: number;

  /** @param at what places() found. */
  constructor(
    private readonly at: Places,
    { name = "a program", retryFor = 30_000 }: ClientOptions = {},
  ) {
    this.name = name;
    this.retryFor = retryFor;
    this.pods = new PodServiceClient(`unix:${at.socket}`, credentials.createInsecure(), channel);
    this.approvals = this.service(ApprovalServiceClient);
  }

  /** service is a generated client on this connection, such as service(JobServiceClient). */
  service<S>(type: new (address: string, credentials: ChannelCredentials, options: ChannelOptions) => S): S {
    return new type(`unix:${this.at.socket}`, credentials.createInsecure(), { ...channel, channelOverride: this.pods.getChannel() });
  }

  close(): void {
    this.pods.close();
  }

  /** check throws a PoddError when the socket is not safe to use. */
  check(): void {
    const why = refusal(this.at.socket);
    if (why) throw new PoddError(why, "UNREACHABLE", status.UNAVAILABLE);
  }

  /** call makes a call of a generated client: call(c.pods.getPod.bind(c.pods), request). Some calls need the client token. */
  call<Q, R>(f: Call<Q, R>, request: Q, withToken = false): Promise<R> {
    return new Promise((resolve, reject) => {
      const metadata = new Metadata();
      try {
        this.check();
        if (withToken) metadata.set("authorization", `Bearer ${this.token()}`);
      } catch (err) {
        reject(err);
        return;
      }
      f(request, metadata, { deadline: Date.now() + callTime }, (err, reply) => {
        this.reached ||= err?.code !== status.UNAVAILABLE;
        if (err) reject(poddError(err));
        else resolve(reply);
      });
    });
  }

  /** list returns the pods in the order of their names: all, or those of a directory. */
  async list(dir = ""): Promise<Pod[]> {
    return (await this.call(this.pods.listPods.bind(this.pods), make(ListPodsRequest, { dir }))).pods;
  }

  /** create creates a pod with a workspace. */
  async create(name: string, dir: string): Promise<Pod> {
    const request = make(CreatePodRequest, { name, spec: make(PodSpec, { dir }) });
    return (await this.call(this.pods.createPod.bind(this.pods), request, true)).pod!;
  }

  /**
   * submit submits a prompt to a pod, once: if podd goes away in the middle, submit sends it again with
   * the same request id. It returns when podd has the prompt on disk.
   */
  async submit(pod: string, prompt: string | Segment[], how: SubmitOptions = {}): Promise<SubmitResponse> {
    const { requestId = randomUUID(), steer = false, plan, noQuestions = false } = how;
    const request = make(SubmitRequest, {
      pod,
      requestId,
      segments: typeof prompt === "string" ? [{ kind: { $case: "text", value: { text: prompt } } }] : prompt,
      mode: steer ? SubmitMode.STEER : SubmitMode.QUEUE,
      parseRefs: true,
      planning: plan === undefined ? undefined : { $case: "plan", value: plan },
      noQuestions,
    });
    const end = Date.now() + this.retryFor;
    for (let pause = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
      try {
        return await this.call(this.pods.submit.bind(this.pods), request);
      } catch (err) {
        const e = err as PoddError;
        if (!e.passing || (e.reason === "UNREACHABLE" && !this.reached) || Date.now() + pause > end) throw e;
      }
      await sleep(pause);
    }
  }

  /**
   * stream reads a pod's log: each entry once and in order. With `follow`, which is the default, it goes on
   * with new entries, across restarts of podd, until its signal is aborted or its reader stops.
   */
  stream(pod: string, how: StreamOptions = {}): AsyncGenerator<StreamResponse, void, undefined> {
    return stream(this, pod, how);
  }

  /** waiting returns the calls of a pod, or of all pods, that wait for a person, the oldest first. */
  async waiting(pod = ""): Promise<Approval[]> {
    return (await this.call(this.approvals.listApprovals.bind(this.approvals), make(ListApprovalsRequest, { pod }))).approvals;
  }

  /** answer decides on a call; it applies to exactly what the approval shows. */
  async answer(what: Pick<Approval, "pod" | "callSeq" | "digest">, how: Answer): Promise<void> {
    const { pod, callSeq, digest } = what;
    const request = make(ResolveApprovalRequest, { always: false, reason: "", ...how, pod, callSeq, digest, client: this.name });
    await this.call(this.approvals.resolveApproval.bind(this.approvals), request, true);
  }

  /** The token is read at each call, since a reinstalled podd has a new one. */
  private token(): string {
    try {
      return fs.readFileSync(this.at.token, "utf8").trim();
    } catch (err) {
      const why = `cannot read the client token: ${(err as Error).message}; set the state directory to podd's`;
      throw new PoddError(why, "CLIENT_TOKEN", status.UNAUTHENTICATED);
    }
  }
}
