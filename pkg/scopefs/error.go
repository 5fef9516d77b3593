package scopefs

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

// Kind says what is wrong with a path.
type Kind string

// The kinds of PathError.
const (
	// OutOfScope: the path, or a link in it, leaves the scope, or a write went to a
	// read-only root.
	OutOfScope Kind = "out_of_scope"
	// NotFound: nothing has this name.
	NotFound Kind = "not_found"
	// Binary: the file is not UTF-8 text.
	Binary Kind = "binary"
	// IO: the system refused or failed.
	IO Kind = "io"
	// NotRegular: a named pipe, socket, device or file of the kernel.
	NotRegular Kind = "not_regular"
	// IsDir: a directory where a file is needed.
	IsDir Kind = "is_dir"
	// Exists: the name is taken.
	Exists Kind = "exists"
	// Protected: changing it needs a person's approval.
	Protected Kind = "protected"
	// Changed: it leads elsewhere than when it was decided on.
	Changed Kind = "changed"
	// Refused: something other than the scope forbids it.
	Refused Kind = "refused"
	// TooLarge: more than the limit of the operation.
	TooLarge Kind = "too_large"
)

// PathError says what is wrong with one path.
type PathError struct {
	Kind Kind
	// Path is as the caller gave it. Error quotes it if necessary.
	Path string
	// Err is the cause; may be nil.
	Err error

	// says completes the sentence that begins with Path; empty for the kind's default.
	says string
}

// Error is one sentence: the path, what is wrong with it, what to do.
func (e *PathError) Error() string {
	says := e.says
	if says == "" {
		says = e.Kind.describes(e.Err)
	}
	return Display(e.Path) + " " + says
}

// Unwrap is the cause.
func (e *PathError) Unwrap() error { return e.Err }

// describes is the kind's default sentence.
func (k Kind) describes(cause error) string {
	switch k {
	case OutOfScope:
		return "is outside the scope: use a path in the workspace, or ask the user to add its directory to the pod's scope"
	case NotFound:
		return "does not exist: check the name, or list its directory"
	case Binary:
		return "is not UTF-8 text"
	case NotRegular:
		return "is not a regular file, so it cannot be opened"
	case IsDir:
		return "is a directory: name a file in it"
	case Exists:
		return "already exists: use another name, or remove it first"
	case TooLarge:
		return "is too large to read at once: read a part of it"
	}
	if cause == nil {
		return "cannot be used"
	}
	return "cannot be used: " + reason(cause)
}

// reason is the innermost cause, without the operations and names around it, which mean
// nothing to the reader.
func reason(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// sayf makes a PathError with its own sentence; format completes what begins with the
// path.
func sayf(kind Kind, path string, cause error, format string, args ...any) *PathError {
	return &PathError{Kind: kind, Path: path, Err: cause, says: fmt.Sprintf(format, args...)}
}

// wrap turns an error of the system into a PathError of the right kind.
func (s *scope) wrap(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*PathError](err); ok {
		return e
	}
	kind := IO
	switch {
	case errors.Is(err, s.escapes):
		kind = OutOfScope
	case errors.Is(err, errSwapped):
		return sayf(IO, path, err, "cannot be used: %v", errSwapped)
	case errors.Is(err, fs.ErrNotExist):
		kind = NotFound
	case errors.Is(err, syscall.ENOTDIR):
		return sayf(NotFound, path, err, "does not exist: part of the path is not a directory")
	case errors.Is(err, fs.ErrExist):
		kind = Exists
	case errors.Is(err, syscall.EISDIR):
		kind = IsDir
	}
	return &PathError{Kind: kind, Path: path, Err: err}
}

// Display is the path for a line of text: unchanged, or quoted if it contains control,
// format or other invisible characters, or ends or begins with white space. It never
// contains a newline.
func Display(path string) string {
	if path == "" || strings.TrimSpace(path) != path || strings.ContainsFunc(path, unprintable) {
		return strconv.Quote(path)
	}
	return path
}

// unprintable says whether a character is invisible, or came from bytes that are not
// UTF-8.
func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
