// Package crash ends a real podd in every way in which a process can end, starts it
// again, and checks its promises: acknowledged work exists, nothing runs twice, no result
// is lost, every stream continues where it was, and every request to the model is well
// formed.
//
// A round is one state directory. Its podd works for clients that submit and retry, with
// a scripted model over HTTP. The model's calls are shell commands that write their own
// ids to a file. In random rounds clients also make every other kind of call. A round
// checks what is visible outside of podd: the answers that clients got, the requests to
// the model, the files that commands left, and the log over gRPC.
//
// There are eight kinds of round. Random rounds send SIGKILL at random times. Point rounds
// let strace kill podd at its Nth system call that writes. Fault rounds let the Nth such
// call fail. Matrix rounds bring a pod into a state and end podd there. File rounds take back what
// the agent changed in files, while a person changes files too. Checkout rounds make checkouts of a
// person's repository, bring work home from them and delete them. Effect rounds kill podd at a step of
// any kind of call and compare the files with the log. Cut rounds cut the power of the disk, too.
//
// On PostgreSQL there are random and matrix rounds, which also end the server and break its
// connections.
//
// With Config.Upgrades, podd is replaced by another build and back instead, and starts again as a
// service manager starts it.
//
// RunNodes lets three podd share a database, breaks all of them and the connections at random, and
// besides checks the history of each pod, and what the nodes did to the model of leases.
//
// The package starts processes of podd, PostgreSQL and strace, and waits for all of them. Commands
// of a pod that outlive podd end by themselves.
package crash
