// Package acp implements the Agent Client Protocol, through which editors use pods, on the
// streams that Serve is given. A session is a pod: it outlives the editor, and any number
// of editors can join it.
//
// It is a thin bridge. A session shows the pod's log and live fragments, translated; a
// person's actions become calls to podd. It stores nothing that podd would not send again,
// so it resumes by the log's sequence after podd comes back.
//
// One goroutine per session reads the pod's stream and sends its updates in order; each
// open question in the editor has one more. Serve waits for all of them.
//
// The library of the protocol has only version 1. Where version 2 differs, second.go and secondwire.go translate.
//
// Rank 6. It is the only package that knows the protocol's types.
package acp
