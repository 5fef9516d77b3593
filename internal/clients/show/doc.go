// Package show has text as a person sees it: lines of spans, each with a style. Only Safe
// and what builds on it make a span, and Safe passes the text through internal/sanitize. So
// whatever a line is made of, it controls no terminal.
//
// Rank 1, pure.
package show
