// Pairing: this browser becomes a device of podd.

import { device } from "../device.js";
import { el, say } from "../dom.js";

/** code is that of the address, which then forgets it. */
export function code() {
  const found = /^#pair=([A-Za-z]+)$/.exec(location.hash)?.[1]?.toUpperCase() ?? "";
  if (found) history.replaceState(null, "", "#/");
  return found;
}

/** pair ends when this browser is paired. @param {HTMLElement} main @param {string} given the code of the address; may be empty */
export function pair(main, given) {
  return new Promise((done) => {
    const field = el("input", { type: "text", id: "code", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: "14", value: given });
    const name = el("input", { type: "text", id: "device", maxlength: "64", value: browser() });
    const button = el("button", { type: "submit", class: "primary" }, "Pair");
    const status = el("p", { class: "status", role: "status" }, device.refused);
    const digits = el("p", { class: "number", hidden: true });
    const form = el("form", { onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), run()) }, el("label", { for: "code" }, "Code"), field, el("label", { for: "device" }, "Name of this browser"), name, button);
    main.replaceChildren(el("div", { class: "pair-box" }, el("h1", {}, "Pair this browser"), el("p", { class: "sum" }, "Run ", el("code", {}, "podctl web pair"), " where podd runs, and type the code that it shows."), form, digits, status));

    async function run() {
      button.disabled = true;
      say(status, "Asking podd…");
      try {
        await device.pair(field.value.toUpperCase().replace(/[^A-Z]/g, ""), name.value.trim() || browser(), (number) => {
          digits.hidden = false;
          form.hidden = true;
          say(digits, `${number.slice(0, 3)} ${number.slice(3)}`);
          say(status, "Does the terminal show the same number? Answer there.");
        });
        done(undefined);
      } catch (e) {
        button.disabled = false;
        digits.hidden = true;
        form.hidden = false;
        say(status, e instanceof Error ? e.message : String(e));
        field.focus();
      }
    }
    if (given) void run();
    else field.focus();
  });
}

/** browser is what people call this one. */
function browser() {
  const agent = navigator.userAgent;
  const named = [["Firefox", /Firefox\//], ["Edge", /Edg\//], ["Chrome", /Chrome\//], ["Safari", /Safari\//]].find(([, is]) => /** @type {RegExp} */ (is).test(agent));
  const on = [["iPhone", /iPhone/], ["iPad", /iPad/], ["Android", /Android/], ["Mac", /Mac OS/], ["Windows", /Windows/], ["Linux", /Linux/]].find(([, is]) => /** @type {RegExp} */ (is).test(agent));
  return `${named?.[0] ?? "Browser"}${on ? ` on ${on[0]}` : ""}`;
}
