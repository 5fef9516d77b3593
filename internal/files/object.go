package files

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// The types in a mode, as git has them; the other bits of a mode are permissions.
const (
	typeBits = 0o170000
	typeDir  = 0o040000
	typeFile = 0o100000
	typeLink = 0o120000
)

// File is what a path has: a regular file, a link or a directory. The zero value is nothing.
type File struct {
	// Mode is git's type and the permission bits.
	Mode uint32
	// Hash names the bytes, or the text of the link; zero for a directory.
	Hash plumbing.Hash
}

// Exists says that there is something.
func (f File) Exists() bool { return f.Mode != 0 }

// IsDir says that it is a directory.
func (f File) IsDir() bool { return f.Mode&typeBits == typeDir }

// IsLink says that it is a symbolic link.
func (f File) IsLink() bool { return f.Mode&typeBits == typeLink }

// Perm is the permission bits.
func (f File) Perm() uint32 { return f.Mode &^ typeBits }

// node is a file, a link or a directory of a tree. It never changes once others see it, so
// that trees share what they have in common.
type node struct {
	name string
	File
	// stamp tells whether a file or directory is still the one that was read; zero if that is not certain.
	stamp stamp
	// kids are a directory's entries, in the order of their names; known says that they are
	// read.
	kids  []*node
	known bool
}

func (n *node) isDir() bool { return n != nil && n.IsDir() }

// file is what diffs see of a node.
func (n *node) file() File {
	switch {
	case n == nil:
		return File{}
	case n.isDir():
		return File{Mode: n.Mode}
	}
	return n.File
}

// kid is the entry with a name, or nil.
func (n *node) kid(name string) *node {
	if n == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(n.kids, name, func(k *node, name string) int { return cmp.Compare(k.name, name) })
	if !found {
		return nil
	}
	return n.kids[i]
}

// directory makes the node of a directory. kids have their hashes.
func directory(name string, perm uint32, kids []*node) *node {
	sortKids(kids)
	n := &node{name: name, kids: kids, known: true, File: File{Mode: typeDir | perm}}
	n.Hash = plumbing.ComputeHash(plumbing.TreeObject, n.encode())
	return n
}

func sortKids(kids []*node) {
	slices.SortFunc(kids, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
}

// encode is the directory as a tree object. git orders a directory as if its name ended in a
// slash.
func (n *node) encode() []byte {
	name := func(k *node) string {
		if k.isDir() {
			return k.name + "/"
		}
		return k.name
	}
	var b bytes.Buffer
	for _, k := range slices.SortedFunc(slices.Values(n.kids), func(a, b *node) int { return cmp.Compare(name(a), name(b)) }) {
		fmt.Fprintf(&b, "%o %s\x00", k.Mode, k.name)
		b.Write(k.Hash[:])
	}
	return b.Bytes()
}

var errObject = fmt.Errorf("%w: its objects are damaged", ErrUnknown)

// decodeTree reads a tree object.
func decodeTree(data []byte) (kids []*node, err error) {
	for len(data) > 0 {
		head, rest, found := bytes.Cut(data, []byte{0})
		mode, name, ok := strings.Cut(string(head), " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !found || !ok || err != nil || len(rest) < len(plumbing.Hash{}) {
			return nil, errObject
		}
		n := &node{name: name, File: File{Mode: uint32(bits)}}
		copy(n.Hash[:], rest)
		kids, data = append(kids, n), rest[len(n.Hash):]
	}
	sortKids(kids)
	return kids, nil
}

// commit is a checkpoint as git has it.
type commit struct {
	tree   plumbing.Hash
	parent plumbing.Hash
	author string
	// branch is where git shows it: the name of the committer.
	branch  string
	at      time.Time
	message string
	// covers are the files that it has although looks leave them out.
	covers []string
	// place is the directory that it is of.
	place string
}

func (c commit) encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	if !c.parent.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", c.parent)
	}
	for _, who := range [][2]string{{"author", c.author}, {"committer", c.branch}} {
		fmt.Fprintf(&b, "%s %s <%s@podd.invalid> %d +0000\n", who[0], who[1], who[1], c.at.Unix())
	}
	fmt.Fprintf(&b, "\n%s\n", c.message)
	if c.place != "" || len(c.covers) > 0 {
		b.WriteByte('\n')
	}
	if c.place != "" {
		fmt.Fprintf(&b, "%s%s\n", placed, c.place)
	}
	for _, rel := range c.covers {
		fmt.Fprintf(&b, "%s%q\n", covering, rel)
	}
	return []byte(b.String())
}

// placed begins the line of a commit that names its directory, covering one that names a file that looks leave out.
const placed, covering = "directory ", "covers "

// decodeCommit reads what a checkpoint says.
func decodeCommit(data []byte) (c commit, err error) {
	head, message, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.tree = hashOf(value)
		case "parent":
			c.parent = hashOf(value)
		case "committer":
			if words := strings.Fields(value); len(words) > 1 {
				seconds, _ := strconv.ParseInt(words[len(words)-2], 10, 64) // 1970, if it says nothing.
				c.at = time.Unix(seconds, 0)
			}
		}
	}
	for line := range strings.SplitSeq(message, "\n") {
		if place, ok := strings.CutPrefix(line, placed); ok {
			c.place = place
		} else if name, ok := strings.CutPrefix(line, covering); ok {
			if rel, err := strconv.Unquote(name); err == nil {
				c.covers = append(c.covers, rel)
			}
		}
	}
	if c.tree.IsZero() {
		err = errObject
	}
	return c, err
}
