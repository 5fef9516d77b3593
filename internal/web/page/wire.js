// Connect's protocol with JSON, over fetch.

/** @typedef {{ bearer(): Promise<string>, expired(bearer: string): void }} Caller who gives a bearer for each call */

/** RpcError is the answer of a failed call. */
export class RpcError extends Error {
  /** @param {string} code Connect's, such as not_found @param {string} message @param {string} reason podd's, such as APPROVAL_CHANGED; may be empty */
  constructor(code, message, reason) {
    super(message);
    this.code = code;
    this.reason = reason;
  }

  /** Whether podd gave no answer: the call may be made again. */
  get away() {
    return this.code === "unavailable" || this.code === "canceled";
  }
}

/**
 * call makes a call, without a caller one that needs no bearer. A bearer that is refused is renewed once.
 * @param {string} method such as PodService/Submit
 * @param {object} request
 * @param {AbortSignal} [signal]
 * @param {Caller} [caller]
 * @returns {Promise<any>}
 */
export async function call(method, request, signal, caller) {
  const response = await post(method, "application/json", JSON.stringify(request), signal, caller);
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw failure(body, response.status);
  return body;
}

/**
 * stream makes a call with many answers.
 * @param {string} method
 * @param {object} request
 * @param {AbortSignal} signal
 * @param {Caller} [caller]
 * @returns {AsyncGenerator<any>}
 */
export async function* stream(method, request, signal, caller) {
  const json = new TextEncoder().encode(JSON.stringify(request));
  const envelope = new Uint8Array(5 + json.length);
  new DataView(envelope.buffer).setUint32(1, json.length);
  envelope.set(json, 5);
  const response = await post(method, "application/connect+json", envelope, signal, caller);
  if (!response.ok || !response.body) throw failure(await response.json().catch(() => ({})), response.status);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = new Uint8Array(0);
  try {
    for (;;) {
      while (rest.length >= 5) {
        const size = new DataView(rest.buffer, rest.byteOffset).getUint32(1);
        if (rest.length < 5 + size) break;
        const last = ((rest[0] ?? 0) & 2) !== 0;
        const message = JSON.parse(decoder.decode(rest.subarray(5, 5 + size)));
        rest = rest.subarray(5 + size);
        if (!last) yield message;
        else if (message.error) throw failure(message.error, 200);
        else return;
      }
      const { done, value } = await reader.read();
      if (done) throw new RpcError("unavailable", "the connection to podd ended", "");
      rest = joined(rest, value);
    }
  } catch (e) {
    if (e instanceof RpcError || signal.aborted) throw e;
    throw new RpcError("unavailable", "the connection to podd broke", "");
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {Uint8Array} a @param {Uint8Array} b */
function joined(a, b) {
  if (a.length === 0) return new Uint8Array(b);
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** @param {string} method @param {string} type @param {BodyInit} body @param {AbortSignal} [signal] @param {Caller} [caller] */
async function post(method, type, body, signal, caller) {
  for (let again = 0; ; again++) {
    const token = await caller?.bearer();
    /** @type {Record<string, string>} */
    const headers = { "Content-Type": type, "Connect-Protocol-Version": "1" };
    if (token) headers["Authorization"] = `Bearer ${token}`;
    let response;
    try {
      response = await fetch(`/podd.v1.${method}`, { method: "POST", headers, body, signal, credentials: "omit", cache: "no-store", redirect: "error" });
    } catch (e) {
      if (signal?.aborted) throw e;
      throw new RpcError("unavailable", "podd does not answer", "");
    }
    // 429 too: a new bearer is let in however many wrong ones come from this address.
    if ((response.status !== 401 && response.status !== 429) || again > 0 || !caller || !token) return response;
    caller.expired(token);
  }
}

/** @param {any} body @param {number} status */
function failure(body, status) {
  const code = body.code ?? (status === 401 ? "unauthenticated" : status >= 500 ? "unavailable" : "unknown");
  let reason = "";
  for (const detail of body.details ?? []) {
    if (String(detail.type).endsWith("ErrorInfo")) reason = firstField(atob(detail.value ?? ""));
  }
  return new RpcError(code, body.message || `the server answered ${status}`, reason);
}

/** firstField is the text of a message's field 1: the reason of an ErrorInfo. @param {string} bytes */
function firstField(bytes) {
  return bytes.charCodeAt(0) === 0x0a ? bytes.slice(2, 2 + bytes.charCodeAt(1)) : "";
}
