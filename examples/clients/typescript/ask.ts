// Gives the pod of a directory a prompt and follows the turn: node ask.js DIR PROMPT
import * as grpc from "@grpc/grpc-js";
import * as loader from "@grpc/proto-loader";
import { randomUUID } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

// Where podd's proto files are, and the directory of rpc_error.proto.
const PROTO = process.env.PODD_PROTO ?? join(__dirname, "../../../proto");
const ERRORS = process.env.PODD_EXAMPLES ?? join(__dirname, "..");
const STATE = process.env.PODD_STATE_DIR || join(homedir(), ".local/state/podd");

// 64-bit integers as strings: a JavaScript number does not hold them.
const types = loader.loadSync(["podd/v1/pod.proto", "podd/v1/approval.proto", "rpc_error.proto"], {
  includeDirs: [PROTO, ERRORS], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true,
});
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- typed stubs come from proto-loader-gen-types
const api = grpc.loadPackageDefinition(types) as any;

// socketPath is the path of podd's socket.
function socketPath(): string {
  const { PODD_SOCKET, PODD_STATE_DIR, XDG_RUNTIME_DIR } = process.env;
  if (PODD_SOCKET) return PODD_SOCKET;
  return !PODD_STATE_DIR && XDG_RUNTIME_DIR ? join(XDG_RUNTIME_DIR, "podd/podd.sock") : join(STATE, "podd.sock");
}

// token is the metadata of calls that need the client token.
function token(): grpc.Metadata {
  const metadata = new grpc.Metadata();
  metadata.set("authorization", "Bearer " + readFileSync(join(STATE, "client.token"), "utf8").trim());
  return metadata;
}

// reason is a word for programs; "" when the error is not podd's.
function reason(error: grpc.ServiceError): string {
  const [raw] = error.metadata?.get("grpc-status-details-bin") ?? [];
  if (!raw) return "";
  const decode = (name: string, bytes: Buffer): any => (types[name] as loader.MessageTypeDefinition<object, object>).deserialize(bytes);
  const [detail] = decode("rpc_error.Status", raw as Buffer).details;
  return detail ? decode("rpc_error.ErrorInfo", detail.value).reason : "";
}

// safe is text that does not drive the terminal and hides nothing.
function safe(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu, (c) => "\\u{" + c.codePointAt(0)!.toString(16) + "}");
}

// call makes a promise of a call with one answer.
function call(client: any, method: string, request: object, metadata = new grpc.Metadata()): Promise<any> {
  return new Promise((resolve, reject) =>
    client[method](request, metadata, (error: grpc.ServiceError | null, response: unknown) => (error ? reject(error) : resolve(response))));
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
const unavailable = (error: unknown) => (error as grpc.ServiceError).code === grpc.status.UNAVAILABLE;

// Answer shows the assistant's text once: live fragments, then what of the entry is new.
class Answer {
  private block = "";
  private shown = "";

  show(block: string, text: string): void {
    if (block !== this.block) [this.block, this.shown] = [block, ""];
    this.shown += text;
    process.stdout.write(safe(text));
  }

  // soFar is all text so far: what in_flight says after a connection was lost.
  soFar(block: string, text: string): void {
    if (block === this.block && text.startsWith(this.shown)) text = text.slice(this.shown.length);
    else this.block = "";
    this.show(block, text);
  }

  done(text: string): void {
    this.soFar(this.block, text);
    this.void();
  }

  void(): void {
    if (this.shown) process.stdout.write("\n");
    this.block = this.shown = "";
  }
}

// findPod returns the pod of a directory, and creates it if it does not exist.
async function findPod(pods: any, dir: string): Promise<string> {
  const found = (await call(pods, "ListPods", { dir })).pods;
  if (found.length > 0) return found[0].name;
  const name = basename(dir).toLowerCase().replace(/[^a-z0-9-]/g, "-").replace(/^-+|-+$/g, "").slice(0, 63) || "pod";
  return (await call(pods, "CreatePod", { name, spec: { dir } }, token())).pod.name;
}

// submit sends a prompt to the pod. Because of the request id podd accepts it once, however often it is sent.
async function submit(pods: any, pod: string, prompt: string): Promise<any> {
  const request = { pod, request_id: randomUUID(), parse_refs: true, segments: [{ text: { text: prompt } }] };
  for (;;) {
    try {
      return await call(pods, "Submit", request);
    } catch (error) {
      if (!unavailable(error)) throw error;
      await pause(); // podd restarts
    }
  }
}

// answerCalls shows each waiting call in full and sends the person's answer.
async function answerCalls(approvals: any, pod: string, typed: AsyncIterator<string>): Promise<void> {
  for (const waits of (await call(approvals, "ListApprovals", { pod })).approvals) {
    process.stdout.write(`? ${safe(waits.tool)} ${safe(waits.arguments)}\nRun it? y/n: `);
    const approve = (await typed.next()).value?.trim() === "y";
    // The digest is that of the call shown: podd refuses an answer to any other call.
    const answer = { pod, call_seq: waits.call_seq, digest: waits.digest, approve, client: "ask.ts" };
    await call(approvals, "ResolveApproval", answer, token()).catch((error) => console.log("! " + error.details)); // another client was first, for example
  }
}

// follow shows the turn of a submit until it ends.
async function follow(pods: any, approvals: any, pod: string, accepted: any, typed: AsyncIterator<string>): Promise<any> {
  let cursor: string = accepted.seq;
  let turn = "";
  const answer = new Answer();
  for (;;) {
    let caughtUp = false;
    const stream = pods.Stream({ pod, after_seq: cursor, follow: true, deltas: true });
    try {
      for await (const message of stream) {
        const entry = message.entry;
        if (entry) {
          cursor = entry.seq;
          const took = entry.turn_started ?? entry.promoted;
          if (took?.request_ids.includes(accepted.request_id)) turn = entry.turn;
          else if (entry.item?.assistant_message) answer.done(entry.item.assistant_message.text);
          else if (entry.item?.tool_result) console.log("· " + safe(entry.item.tool_result.summary));
          else if (entry.approval_requested && caughtUp) await answerCalls(approvals, pod, typed);
          else if (entry.turn_ended && entry.turn === turn) {
            stream.cancel();
            return entry.turn_ended;
          }
        } else if (message.caught_up) {
          caughtUp = true;
          await answerCalls(approvals, pod, typed);
        } else if (message.in_flight) {
          for (const block of message.in_flight.blocks) if (block.kind === "DELTA_KIND_TEXT") answer.soFar(block.block, block.text);
        } else if (message.delta?.restarted) answer.void();
        else if (message.delta?.kind === "DELTA_KIND_TEXT") answer.show(message.delta.block, message.delta.text);
      }
    } catch (error) {
      if (!unavailable(error)) throw error;
    }
    await pause(); // podd restarts: go on behind the last entry
  }
}

async function main(): Promise<void> {
  const [dir, prompt] = process.argv.slice(2);
  const address = "unix:" + socketPath();
  const options = { "grpc.max_receive_message_length": 16 << 20, "grpc.max_reconnect_backoff_ms": 500 };
  const pods = new api.podd.v1.PodService(address, grpc.credentials.createInsecure(), options);
  const approvals = new api.podd.v1.ApprovalService(address, grpc.credentials.createInsecure(), options);
  const input = createInterface({ input: process.stdin });
  try {
    const pod = await findPod(pods, realpathSync(dir!));
    const end = await follow(pods, approvals, pod, await submit(pods, pod, prompt!), input[Symbol.asyncIterator]());
    console.log(`[${end.outcome}] ${safe(end.cause)}`.trim());
  } catch (error) {
    const e = error as grpc.ServiceError;
    console.error(`${grpc.status[e.code]} ${reason(e)}: ${e.details}`);
    process.exitCode = 1;
  }
  input.close();
  pods.close();
  approvals.close();
}

void main();
