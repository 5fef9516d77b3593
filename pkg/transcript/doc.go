// Package transcript turns the stream of a pod's log, entries and live fragments, into a
// list of blocks: what was said, what calls do, what a person should know. Every client
// shows these blocks; none reads the log by itself. A Transcript knows nothing of how they
// are shown, and changes no text: whoever shows it makes it safe.
//
// plugins/transcript is the same in TypeScript. Both pass the cases in testdata.
//
// Rank 2: it imports pkg/item and internal/wire.
package transcript
