// Package crash ends a real podd in every way in which a process can end, starts it
// again, and holds it to what it promised: what was acknowledged is there, nothing is
// run twice, no result is lost, every stream goes on where it was, and what the model
// is sent is well formed.
//
// A round is one state directory. Its podd works for clients that submit and retry,
// with a scripted model over HTTP whose calls are shell commands that note their own
// ids in a file. In random rounds they do all else to pods that a client can, too. What is checked is what stands outside of podd: what clients were
// told, what the model was sent, what commands left behind, and the log over gRPC.
//
// There are four kinds of round. Random rounds send SIGKILL at random times. Point
// rounds let strace kill podd at its Nth system call that writes. Fault rounds let the
// Nth such call fail. Matrix rounds bring a pod into a state and end podd there.
//
// The package starts processes of podd and of strace, and waits for all of them.
// Commands of a pod that outlive it end by themselves.
package crash
