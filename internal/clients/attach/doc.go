// Package attach is the terminal view of one pod, for who stays with it: history, live
// text, tool calls, questions and a line to write in.
//
// It shows the log, as every client does, and keeps nothing of its own: leaving it ends
// no turn, and it goes on by sequence when podd was away. Text of models, tools and
// files passes through internal/sanitize. The terminal is left as it was found, however
// the view ends.
//
// One goroutine owns all that is shown. Those that read the stream and the keys, and
// those that wait for podd's answers, hand it functions to run; Run waits for all of
// them.
//
// Rank 6.
package attach
