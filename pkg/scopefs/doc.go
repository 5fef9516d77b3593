// Package scopefs owns access to the files of a pod: a workspace that may be read
// and written, and further roots that may be read, or read and written.
//
// # Scope
//
// Each root is an [os.Root], and every path is resolved inside of one. A path is
// made absolute against the workspace and cleaned lexically; of the roots that it
// is in, the longest is used, so a writable root inside a read-only one is
// writable and the other way round. What happens then is up to the root: "..", an
// absolute symbolic link or a link that leaves the root ends in [OutOfScope],
// whatever else changes on the disk at the same time.
//
// Only regular files are opened. A named pipe, socket, device or file of a kernel
// file system such as /proc is refused before it can block or leak, and once more
// after it was opened.
//
// # Symbolic links
//
// Links that stay inside their root are followed. [FS.WriteFile] writes to the file
// that a link names and leaves the link alone; [FS.Remove] and [FS.Rename] act on
// the link itself; [FS.Walk] reports links and does not follow them.
//
// # Errors
//
// Everything that is wrong with a path is a [*PathError] with one of a few kinds,
// whose message is one sentence. The sentence quotes a path that could drive a
// terminal or look like something else.
//
// # References
//
// [ParseRefs] finds @path in a text and [FS.ResolveRef] turns one into the system
// message that a model gets to see.
//
// All methods of [FS] may be called from any goroutine. The package starts none,
// logs nothing and never looks at a path outside of its roots, except when it
// opens them.
package scopefs
