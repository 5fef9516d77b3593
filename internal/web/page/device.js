// This browser as a device of podd: its key, and the bearer that podd gives for it.

import { RpcError, call, stream } from "./wire.js";

/** @typedef {{ id: string, name: string, scope: string, key: CryptoKey }} Paired */

/** How long before its end a bearer is renewed, in milliseconds. */
const early = 60_000;

const curve = { name: "ECDSA", namedCurve: "P-256" };
const utf8 = (/** @type {string} */ text) => new TextEncoder().encode(text);

/** The scopes, each with those before it. */
const scopes = ["view", "answer", "control"];

class Device {
  /** @type {Paired | undefined} */
  #paired = undefined;
  #bearer = "";
  #expires = 0;
  /** @type {Promise<string> | undefined} */
  #login = undefined;

  /** Why podd does not let in this browser, which was paired before. */
  refused = "";

  /** What the device may do: view, answer or control. */
  get scope() {
    return this.#paired?.scope ?? "";
  }

  /** may says whether the device may do what a scope allows. podd checks it too. @param {"view" | "answer" | "control"} scope */
  may(scope) {
    return scopes.indexOf(this.scope) >= scopes.indexOf(scope);
  }

  /** ready says whether this browser is paired. */
  async ready() {
    this.#paired = await kept("readonly", (store) => store.get("device"));
    if (!this.#paired) return false;
    try {
      await this.bearer();
    } catch (e) {
      // Without an answer it may still be paired.
      if (!(e instanceof RpcError) || !e.away) {
        this.refused = e instanceof Error ? e.message : String(e);
        return false;
      }
    }
    return true;
  }

  /** bearer returns one that is valid, and logs in for it. */
  async bearer() {
    if (this.#bearer && Date.now() < this.#expires - early) return this.#bearer;
    this.#login ??= this.#newBearer().finally(() => (this.#login = undefined));
    return this.#login;
  }

  /** expired forgets a bearer that podd did not accept. @param {string} [bearer] the current one */
  expired(bearer = this.#bearer) {
    if (bearer === this.#bearer) this.#bearer = "";
  }

  async #newBearer() {
    if (!this.#paired) throw new RpcError("unauthenticated", "this browser is not paired", "DEVICE_UNKNOWN");
    const { id: device, key } = this.#paired;
    const { challenge } = await call("DeviceService/GetChallenge", { device });
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, utf8(`podd-web-login/1\n${device}\n${challenge}`));
    const answer = await call("DeviceService/Login", { device, challenge, signature: base64(signature) }).catch((e) => {
      // A browser sends a request again when its connection breaks, and the first one may have used the challenge.
      throw e instanceof RpcError && e.reason === "LOGIN" ? new RpcError("unavailable", e.message, e.reason) : e;
    });
    this.#expires = Date.parse(answer.expiresAt);
    this.#paired.scope = scopeOf(answer.device);
    return (this.#bearer = answer.bearer);
  }

  /**
   * pair makes a key that cannot be exported and asks podd to accept it.
   * @param {string} code
   * @param {string} name
   * @param {(number: string) => void} show shows the number that the terminal shows too
   */
  async pair(code, name, show) {
    const pair = await crypto.subtle.generateKey(curve, false, ["sign", "verify"]);
    const key = await crypto.subtle.exportKey("spki", pair.publicKey);
    const nonce = crypto.getRandomValues(new Uint8Array(32));
    const commitment = await crypto.subtle.digest("SHA-256", nonce);
    const ask = { code, name, key: base64(key), commitment: base64(commitment) };
    for await (const m of stream("DeviceService/Pair", ask, new AbortController().signal)) {
      if (m.nonce) {
        await call("DeviceService/RevealNonce", { code, nonce: base64(nonce) });
        show(await number(utf8(`podd-web-pair/1\n${code}\n`), nonce, bytes(m.nonce), new Uint8Array(key)));
      } else if (m.device) {
        this.#paired = { id: m.device.id, name: m.device.name, scope: scopeOf(m.device), key: pair.privateKey };
        this.#bearer = "";
        await kept("readwrite", (store) => store.put(this.#paired, "device"));
        return;
      }
    }
    throw new RpcError("unavailable", "podd ended the pairing", "PAIRING_ENDED");
  }
}

export const device = new Device();

/** number has the last six decimal digits of the first four bytes of a hash. @param {...Uint8Array} parts */
async function number(...parts) {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  const hash = await crypto.subtle.digest("SHA-256", all);
  return String(new DataView(hash).getUint32(0) % 1_000_000).padStart(6, "0");
}

/** @param {any} device */
const scopeOf = (device) => String(device?.scope ?? "").replace("DEVICE_SCOPE_", "").toLowerCase();

/** @param {ArrayBuffer | Uint8Array} data */
const base64 = (data) => btoa(String.fromCharCode(...new Uint8Array(data)));

/** @param {string} text */
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/**
 * kept reads or writes what the browser keeps.
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} act
 * @returns {Promise<any>}
 */
function kept(mode, act) {
  return new Promise((done, failed) => {
    const open = indexedDB.open("podd", 1);
    open.onupgradeneeded = () => open.result.createObjectStore("keys");
    open.onerror = () => failed(open.error);
    open.onsuccess = () => {
      const request = act(open.result.transaction("keys", mode).objectStore("keys"));
      request.onerror = () => failed(request.error);
      request.onsuccess = () => {
        open.result.close();
        done(request.result);
      };
    };
  });
}
