// Package view renders what a pod does as text for people: one turn as it happens (Turn)
// and the entries of a log (Log). Both take the messages of a stream one by one, in the
// order of the stream; the stream may be lost and resumed.
//
// All text from models, tools and files passes through internal/sanitize. On a terminal
// the text has colours, a status line, and lines cut to its width; elsewhere it is plain.
//
// Rank 3. A view is for one goroutine; it starts one of its own to animate the status
// line, and Close waits for that.
package view
