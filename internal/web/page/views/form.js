// A form: what a running call asks a person, and the answers.

import { device } from "../device.js";
import { el, exact, icon, say } from "../dom.js";
import { ago, plural, until } from "../format.js";
import { live } from "../live.js";

/** @import { Approval, FormQuestion, FormReply } from "../types.d.ts" */

/** @typedef {{ replies?: FormReply[], dismiss?: boolean }} Reply no replies and no dismissal: yes, where there is no question */

/**
 * form draws a form. What a person wrote stays when podd does not take the answer.
 * @param {HTMLElement} box
 * @param {Approval} a
 * @param {boolean} changed
 * @param {(reply: Reply) => Promise<void>} answer returns when podd has answered
 * @returns {() => void} ends it
 */
export function form(box, a, changed, answer) {
  const name = a.podName || a.pod;
  const { from = "", text = "", questions = [] } = a.form ?? {};
  const fields = questions.map((q, i) => field(q, i, questions.length));
  const status = el("p", { class: "status", role: "status" });
  const yes = el("button", { type: "submit", class: "primary yes" }, icon("done"), questions.length ? "Answer" : "Yes");
  const no = el("button", { type: "button", class: "no" }, "Let the model decide");
  let sending = false;
  const update = () => {
    const open = fields.filter((f) => !answered(f.reply())).length;
    no.disabled = sending || Boolean(live.away);
    yes.disabled = no.disabled || open > 0;
    if (!sending) say(status, open && fields.length > 1 ? `${plural(open, "question")} without an answer` : "");
  };
  /** @param {Reply} reply */
  async function send(reply) {
    sending = true;
    say(status, "podd is asked…");
    update();
    await answer(reply);
    sending = false;
    update();
  }
  no.addEventListener("click", () => send({ dismiss: true }));
  const all = el(
    "form",
    {
      class: "form",
      oninput: update,
      onsubmit: (/** @type {SubmitEvent} */ e) => {
        e.preventDefault();
        if (!yes.disabled) void send({ replies: fields.map((f) => f.reply()) });
      },
    },
    el(
      "div",
      { class: "whole" },
      changed && el("p", { class: "warning", role: "alert" }, "The question has changed since you saw it. Look at it again."),
      el("h1", {}, `${name} asks you`),
      el(
        "p",
        { class: "facts" },
        el("a", { href: `#/pod/${name}` }, "Open the pod"),
        el("span", {}, `asked ${ago(a.time)}`),
        from && el("span", {}, "for ", ...exact(from)),
        a.expires && el("span", {}, `expires in ${until(a.expires)}`),
      ),
      text && el("p", { class: "said" }, ...exact(text)),
      ...fields.map((f) => f.element),
    ),
    el("footer", { class: "answers" }, status, device.may("answer") ? el("div", { class: "line" }, no, yes) : el("p", {}, "This device may only view.")),
  );
  delete box.dataset["over"];
  box.replaceChildren(all);
  scrollTo(0, 0);
  update();
  return live.watch(update);
}

/** @param {FormReply} r */
const answered = (r) => Boolean(r.choices?.length || r.text?.trim());

/** field is one question of a form. @param {FormQuestion} q @param {number} i @param {number} of */
function field(q, i, of) {
  const options = q.options ?? [];
  const own = el("textarea", { class: "own", rows: "2", "aria-label": options.length ? `Your own answer${of > 1 ? `, question ${i + 1}` : ""}` : `Answer${of > 1 ? `, question ${i + 1}` : ""}`, placeholder: options.length ? "Or in your own words" : "Your answer" });
  const inputs = options.map(() => el("input", { type: q.multiple ? "checkbox" : "radio", name: `question-${i}` }));
  /** A single choice can be taken back with this one. */
  const none = el("input", { type: "radio", name: `question-${i}`, class: "none" });
  const row = (/** @type {HTMLInputElement} */ input, /** @type {string} */ label, /** @type {string} */ description) =>
    el("label", { class: "option" }, input, el("span", {}, el("b", {}, ...exact(label)), description && el("span", { class: "means" }, ...exact(description))));
  own.addEventListener("input", () => {
    if (own.value && !inputs.some((n) => n.checked)) none.checked = true;
  });
  const element = el(
    "fieldset",
    {},
    el("legend", {}, q.header && el("span", { class: "tag" }, ...exact(q.header)), q.header && " ", ...exact(q.text ?? "")),
    q.multiple && el("p", { class: "hint" }, "You can choose several."),
    ...options.map((o, n) => row(/** @type {HTMLInputElement} */ (inputs[n]), o.label ?? "", o.description ?? "")),
    options.length > 0 && !q.multiple && row(none, "None of these", "say it in your own words"),
    own,
  );
  return {
    element,
    /** @returns {FormReply} */
    reply: () => ({ choices: inputs.flatMap((input, n) => (input.checked ? [n + 1] : [])), text: own.value.trim() }),
  };
}
