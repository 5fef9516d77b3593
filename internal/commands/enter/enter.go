// Package enter starts commands in namespaces that bwrap has prepared, and commands that confine themselves by
// Landlock: by processes that make system calls which were put together before.
//
// A prepared mount namespace has every mount of a sandbox, and no process. A command gets a
// copy of it, in which whatever could carry something from one command to the next is
// mounted anew, and its own namespaces of processes, queues, names and the network. Its first
// process has no privileges, reaps what the command leaves behind, and ends with it.
//
// Rank 1: it imports confine and filelimit.
package enter

import "os"

// Plan says what a command gets in its copy of prepared namespaces.
type Plan struct {
	// Dir is where it starts.
	Dir string `json:"dir"`
	// Network gives it a network of its own with the loopback alone.
	Network bool `json:"network,omitempty"`
	// Nested says that the third of Spaces is below the first.
	Nested bool `json:"nested,omitempty"`
	// Dies says that it ends when the process that starts it does.
	Dies bool `json:"dies,omitempty"`
	// Mounts are what it gets besides /proc and /dev/pts, in order.
	Mounts []Mount `json:"mounts"`
}

// Mount is one change of the prepared mounts.
type Mount struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
	// Size is the most that an Empty directory holds, in bytes; 0 leaves it to the kernel.
	Size int64 `json:"size,omitempty"`
	// Below is the path of the Empty directory that it is in, if any.
	Below string `json:"below,omitempty"`
	// File says that it is a file.
	File bool `json:"file,omitempty"`
}

// Kinds of Mount.
const (
	// Empty is a new directory in memory.
	Empty = "empty"
	// Keep shows what was prepared at a path in an Empty directory.
	Keep = "keep"
	// Nothing is an empty file in an Empty directory.
	Nothing = "nothing"
)

// Entry is a way into prepared namespaces for one command.
type Entry struct {
	Plan Plan
	// Spaces are the user namespace that owns the prepared mounts, their mount namespace, and the
	// user namespace of commands.
	Spaces []*os.File
	// Args is the command line, with a path first.
	Args []string
}

// SpacesCount is the number of Spaces.
const SpacesCount = 3
