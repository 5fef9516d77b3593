// Package transcript turns the stream of a pod's log, entries and live fragments, into a
// list of blocks: messages, tool calls and notices. Every client renders these blocks, and
// none interprets the log itself. A Transcript does not depend on how blocks are rendered
// and does not change text: the renderer must make it safe to show.
//
// After a lost connection live text is lost: a client neither shows nor drops it until podd
// sends it again or replaces it. A stored call is named by its call id, so that a client that
// restarts finds it. No log has the notice that an answer was cut: it appears only live.
//
// plugins/transcript is its counterpart in TypeScript. Both pass the cases in testdata.
//
// Rank 2: it imports pkg/item and pkg/wire.
package transcript
