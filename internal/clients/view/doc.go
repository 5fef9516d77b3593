// Package view shows what a pod does as text for people: one turn as it happens
// (Turn) and the entries of a log (Log). Both take the messages of a stream one by
// one, in the order of the stream, and may be given a stream that was lost and
// resumed.
//
// All text of models, tools and files passes through internal/sanitize. A terminal
// gets colours, one line that says what is going on and lines cut to its width;
// anything else gets plain text.
//
// Rank 2. A view is for one goroutine; it starts one of its own to move the line of
// what is going on, and Close waits for it.
package view
