// Package sandbox confines commands: what they can read, write, reach and see, and how
// much they can use.
//
// It has two kinds. bwrap, the program of that name, gives a command its own namespaces:
// a file system that is read-only except for the pod's roots and a private /tmp,
// processes, network. Landlock, a feature of the kernel, refuses what is not allowed
// without hiding it; a helper that then becomes the command enables it: podd-launch, or
// this binary (see [Main]). [Detect] tries both and reports which work.
//
// A sandbox ends with its command. It does not depend on podd: a command that outlives
// podd stays confined.
//
// A [Guard] keeps protected files. A mount protects what exists: it needs a file to cover,
// and an empty .envrc would get into git add. So a guard notes before a command which
// protected paths exist, moves away what inotify reports at another one, and looks at all
// fixed paths again at the end. It never moves what existed and was not touched since. Below
// the top it moves only new files: a mount would break rm -rf vendor.
//
// A command may write what git calls data, in any line, and not what git executes or obeys. With
// a parser of lines instead, 12 of 19 everyday ones failed: a here-document, $(...), a loop, make,
// a script. The configuration is not mounted read-only, because git replaces it by a rename,
// which a mounted file refuses: switch -c, remote add and init would fail.
//
// The package does not decide who may run what, and starts no goroutine.
package sandbox
