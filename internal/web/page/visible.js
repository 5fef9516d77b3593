// Hidden characters in text.

/**
 * visible shows the hidden characters of a text as escapes: control characters, invisible
 * ones, those that change the order of text, and those that look like a space. The text
 * comes from models and workspaces, and a person decides by it.
 * @param {string} text
 */
export const visible = (text) => text.replace(exactly, escaped);

/**
 * pieces splits a text at its hidden characters. Each odd piece is one of them, as an escape.
 * @param {string} text
 * @param {boolean} [exact] whether characters that only look like a space are among them
 */
export function pieces(text, exact = true) {
  const found = [];
  let from = 0;
  for (const m of text.matchAll(exact ? exactly : hiding)) {
    found.push(text.slice(from, m.index), escaped(m[0]));
    from = m.index + m[0].length;
  }
  return [...found, text.slice(from)];
}

const escaped = (/** @type {string} */ c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`;

// Newline and tab stay. The terminal hides the same characters: a test of internal/sanitize
// compares these two lines with its tables, and says what they have to be.
const hidden = "\\u{0}-\\u{8}\\u{b}-\\u{1f}\\u{7f}-\\u{9f}\\u{ad}\\u{34f}\\u{61c}\\u{115f}-\\u{1160}\\u{17b4}-\\u{17b5}\\u{180b}-\\u{180f}\\u{200b}-\\u{200f}\\u{2028}-\\u{202e}\\u{2060}-\\u{206f}\\u{3164}\\u{fe00}-\\u{fe0f}\\u{feff}\\u{ffa0}\\u{fff0}-\\u{fffb}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const blank = "\\u{a0}\\u{1680}\\u{2000}-\\u{200a}\\u{202f}\\u{205f}\\u{2800}\\u{3000}\\u{16fe4}\\u{1d159}";

// A variation selector stays behind a symbol that has several looks, a joiner between two symbols.
const symbol = "\\p{So}\\u2194\\u{1f000}-\\u{1faff}";
const styled = `(?<=[#*0-9\\u203c\\u2049\\u2139\\u3030\\p{Sm}${symbol}])[\\ufe0e\\ufe0f]`;
const joined = `(?<=[${symbol}]\\ufe0f?)\\u200d(?=[${symbol}])`;

// Words of some scripts are spelled with joiners.
const spelled = "(?<=[\\p{Script=Arab}\\p{Script=Syrc}\\p{Script=Nkoo}\\p{Script=Mong}\\p{Script=Deva}\\p{Script=Beng}\\p{Script=Guru}\\p{Script=Gujr}\\p{Script=Orya}\\p{Script=Taml}\\p{Script=Telu}\\p{Script=Knda}\\p{Script=Mlym}\\p{Script=Sinh}\\p{Script=Mymr}\\p{Script=Khmr}])[\\u200c\\u200d]";
// A person who decides could not tell what has no glyph, a mark without a character, or one twice.
const unseen = "(?![\\u{1f000}-\\u{1faff}])[\\p{Cn}\\p{Co}\\p{Cs}]|(?<=^|\\s)\\p{M}|(?<=(\\p{M}))\\1";

const hiding = new RegExp(`(?!${styled}|${joined}|${spelled})[${hidden}]`, "gu");
const exactly = new RegExp(`[${hidden}${blank}]|${unseen}`, "gu");
