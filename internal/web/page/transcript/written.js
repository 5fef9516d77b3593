// Who wrote the @ in a field. One that a person types may add a file; one that was pasted is text.

/** The inputs that a person types. Others, such as a paste, a drop or its redo, bring text from elsewhere. */
const typed = new Set(["insertText", "insertCompositionText", "insertReplacementText", "insertLineBreak"]);

export class Written {
  /** @type {HTMLTextAreaElement} */
  #field;
  #was = "";
  /** Where the at signs are that nobody typed. @type {number[]} */
  #pasted = [];

  /** @param {HTMLTextAreaElement} field */
  constructor(field) {
    this.#field = field;
    field.addEventListener("input", (e) => {
      const by = e instanceof InputEvent ? e.inputType : "";
      this.#changed(by === "" || typed.has(by));
    });
  }

  /** put gives the field a text of before. @param {string} text @param {number[]} pasted */
  put(text, pasted) {
    this.#field.value = this.#was = text;
    this.#pasted = pasted;
  }

  /** pasted is where the field has pasted at signs. */
  pasted() {
    this.#changed(true); // A program may have changed the field.
    return this.#pasted;
  }

  /** #changed follows a change: the text behind the cursor and that before the change are as they were. @param {boolean} byPerson */
  #changed(byPerson) {
    const was = this.#was;
    const now = this.#field.value;
    const behind = Math.min(now.length - this.#field.selectionEnd, was.length);
    let end = 0;
    while (end < behind && was[was.length - 1 - end] === now[now.length - 1 - end]) end++;
    let from = 0;
    while (from < Math.min(was.length, now.length) - end && was[from] === now[from]) from++;
    this.#was = now;
    this.#pasted = this.#pasted.filter((at) => at < from || at >= was.length - end).map((at) => (at < from ? at : at + now.length - was.length));
    if (byPerson) return;
    for (let at = from; at < now.length - end; at++) if (now[at] === "@") this.#pasted.push(at);
  }
}

/**
 * parts splits a text at its pasted at signs.
 * @param {string} text
 * @param {number[]} [pasted]
 */
export function parts(text, pasted = []) {
  /** @type {{ text: string, pasted: boolean }[]} */
  const found = [];
  let from = 0;
  for (const at of pasted.filter((p) => text[p] === "@").sort((a, b) => a - b)) {
    found.push({ text: text.slice(from, at), pasted: false }, { text: "@", pasted: true });
    from = at + 1;
  }
  found.push({ text: text.slice(from), pasted: false });
  return found.filter((p) => p.text);
}
