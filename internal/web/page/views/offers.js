// The prompts that a person may mean by a slash.

import { el } from "../dom.js";
import { RpcError, call } from "../rpc.js";
import { announce } from "../tell.js";

/** @typedef {{ name: string, about?: string, arguments?: string }} Prompt */

/** How many are shown. */
const most = 8;

export class Offers {
  element = el("div", { class: "offers", hidden: true });
  /** @type {Prompt[]} */
  #all = [];
  /** @type {Prompt[]} */
  #shown = [];
  #at = 0;
  #asked = "";

  /** @param {(text: string) => void} take puts a name into the field */
  constructor(take) {
    this.take = take;
  }

  /** typed follows what the field has. @param {string} pod @param {string} text */
  typed(pod, text) {
    const name = /^\/(\S*)$/.exec(text)?.[1];
    if (name === undefined || !pod) return this.close();
    if (this.#asked !== pod) void this.#ask(pod);
    const fits = (/** @type {(name: string) => boolean} */ fit) => this.#all.filter((p) => fit(p.name));
    this.#shown = [...fits((n) => n === name), ...fits((n) => n !== name && n.startsWith(name)), ...fits((n) => !n.startsWith(name) && n.includes(`:${name}`))].slice(0, most);
    this.#at = 0;
    this.#draw();
  }

  close() {
    this.#asked = "";
    this.#shown = [];
    this.#draw();
  }

  /** key says whether a key was for the offers. @param {KeyboardEvent} e @param {string} text */
  key(e, text) {
    const one = this.#shown[this.#at];
    if (!one || e.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) {
      this.#at = (this.#at + step + this.#shown.length) % this.#shown.length;
      this.#draw();
      const now = this.#shown[this.#at];
      announce(`/${now?.name} ${now?.about ?? ""}`);
    } else if (e.key === "Escape") this.close();
    else if (e.key === "Tab" || (e.key === "Enter" && !e.shiftKey && text !== `/${one.name}`)) this.take(`/${one.name} `);
    else return false;
    return true;
  }

  /** @param {string} pod */
  async #ask(pod) {
    this.#asked = pod;
    try {
      const { prompts } = /** @type {{ prompts?: Prompt[] }} */ (await call("PodService/ListPrompts", { pod }));
      this.#all = (prompts ?? []).filter((p) => p.name !== "compact"); // A call of its own.
    } catch (e) {
      if (!(e instanceof RpcError)) throw e; // Without a list the text is sent as it is.
    }
    if (this.#asked === pod) this.again?.();
  }

  /** again is called when the prompts have come. @type {(() => void) | undefined} */
  again;

  #draw() {
    this.element.hidden = this.#shown.length === 0;
    this.element.replaceChildren(...this.#shown.map((p, i) =>
      el("button", { type: "button", tabindex: "-1", "aria-current": i === this.#at ? "true" : undefined, onclick: () => this.take(`/${p.name} `) },
        el("b", {}, `/${p.name}`), ` ${p.arguments ?? ""} `, el("span", {}, p.about ?? ""))));
  }
}
