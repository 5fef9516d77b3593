// Package sanitize makes text from models, tools and files safe to show: nothing
// in what it returns drives a terminal, hides, or reorders what stands around it.
// Whatever reaches a person's terminal or a log line passes through it.
//
// What is shown as a visible escape:
//
//   - invalid UTF-8, byte by byte: \xff
//   - control characters, ESC and DEL among them: \x1b, \u009b; a carriage return is
//     \r, save that CR LF counts as one newline
//   - what is invisible or changes the order of text (bidi controls, zero-width
//     characters, tags, variation selectors, line separators): \u202e, \U000e0041
//
// [Exact], for text that a person decides on, also escapes what looks like a space and is
// another character: \u00a0, \u2800.
//
// Emoji stay whole: a variation selector after a symbol and a zero-width joiner
// between two symbols are kept. Elsewhere both are escaped, so that text in a script
// that needs joiners shows some escapes.
//
// A backslash is not escaped: the form is for reading, not for parsing back. The
// terminal is taken to be UTF-8. Colours are added after sanitising, never before.
//
// Functions are pure. A Writer is for one goroutine.
package sanitize
