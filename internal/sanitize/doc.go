// Package sanitize makes text from models, tools and files safe to show: nothing in its
// results controls a terminal, hides, or reorders the text around it. All text for a
// terminal or a log line passes through it.
//
// It shows as visible escapes:
//
//   - invalid UTF-8, byte by byte: \xff
//   - control characters, ESC and DEL among them: \x1b, \u009b; a carriage return is
//     \r, except that CR LF is one newline
//   - characters that are invisible or change the order of text (bidi controls, zero-width
//     characters, tags, variation selectors, line separators): \u202e, \U000e0041
//
// Emoji stay whole: it keeps a variation selector after a symbol and a zero-width joiner
// between two symbols. It keeps joiners and non-joiners in words of scripts that spell with
// them, such as Persian, and escapes all of these elsewhere.
//
// [Exact], for text that a person decides on, also escapes what looks like other
// text: characters that only look like a space, joiners and variation selectors
// everywhere, and what a terminal draws in the place of another character without a trace.
//
// It does not escape a backslash: the form is for reading, not for parsing back. It
// assumes a UTF-8 terminal. Add colours after sanitising, never before.
//
// Functions are pure. A Writer is for one goroutine.
package sanitize
