// Package acp speaks the Agent Client Protocol: editors reach pods through it, on
// the streams that Serve is given. A session is a pod: it outlives the editor, and
// any number of editors join it.
//
// It is a thin bridge. What a session shows is the pod's log and its live fragments,
// translated; what a person does goes to podd as a call. It keeps nothing that podd
// would not tell again, so it goes on by the log's sequence after podd comes back.
//
// One goroutine a session reads the pod's stream and sends its updates, in order;
// each question that stands in the editor has one more. Serve waits for all of them.
//
// Rank 6. It is the only package that knows the protocol's types.
package acp
