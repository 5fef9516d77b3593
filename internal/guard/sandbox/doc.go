// Package sandbox confines commands: what they can read, write, reach and see, and how
// much they can take.
//
// Two kinds are known. bwrap, the program of that name, gives a command namespaces of
// its own: a file system that is read-only but for the pod's roots and a private /tmp,
// processes, network. Landlock, a feature of the kernel, refuses what is not allowed
// without hiding it; podd's own binary, started again as a helper that at once becomes
// the command, asks for it (see [Main]). [Detect] tries them and says which of them work.
//
// A sandbox ends with its command. It does not depend on podd: a command that outlives
// podd stays confined.
//
// The package decides nothing about who may run what, and starts no goroutine.
package sandbox
