// Package attach is the terminal view of one pod, for interactive use: history, live text,
// tool calls, approval questions and a prompt line.
//
// It renders the log, as every client does, and stores nothing: turns keep running when
// the person leaves, and it resumes by sequence after podd was away. Text from models,
// tools and files passes through internal/sanitize. The terminal is restored however the
// view ends.
//
// bubbletea draws the screen and reads the keys; its goroutine owns everything that is
// shown. The goroutines that read the stream and wait for podd's answers hand it functions
// to run; Run waits for all of them.
//
// Rank 6.
package attach
