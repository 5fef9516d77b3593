// Hidden characters in text.

/**
 * visible shows the hidden characters of a text as escapes: control characters, invisible
 * ones and those that change the order of text. The text comes from models and workspaces,
 * and a person decides by it.
 * @param {string} text
 */
export const visible = (text) => text.replace(hidden, escaped);

/**
 * pieces splits a text at its hidden characters. Each odd piece is one of them, as an escape.
 * @param {string} text
 */
export function pieces(text) {
  const found = [];
  let from = 0;
  for (const m of text.matchAll(hidden)) {
    found.push(text.slice(from, m.index), escaped(m[0]));
    from = m.index + m[0].length;
  }
  return [...found, text.slice(from)];
}

const escaped = (/** @type {string} */ c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`;

// Newline and tab stay; soft hyphen, zero-width, bidi, variation and tag characters are escaped.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]/gu;
