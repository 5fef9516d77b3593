// Package export writes a transcript as a document for people: Markdown, or one HTML file
// without script. Nothing in a document controls a terminal, and nothing in a text becomes
// markup of the HTML.
//
// Rank 3: it imports pkg/transcript.
package export
