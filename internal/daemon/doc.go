// Package daemon is the composition root of podd: it takes the locks, opens the store,
// connects the model, recovers the pods and serves the socket, and undoes all of that in
// reverse. The podd command, its demo and the end-to-end tests share it.
package daemon
