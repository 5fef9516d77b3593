package fleet

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"podd/pkg/item"
	"podd/pkg/store"
)

// shareIDLen is the length of the id of a shared directory.
const shareIDLen = 26

// openShare is the share of a directory that several nodes have at the same path; see
// store.ShareOf. Its id is in a file, which the first node makes: KindPrecondition, reason
// NODE_SHARED.
func openShare(dir string) (string, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", badShare("%s can't be opened (%v): mount it, then start podd again", dir, reasonOf(err))
	}
	file := filepath.Join(path, store.ShareFile)
	id, err := readShare(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = newShare(file); err == nil {
			id, err = readShare(file)
		}
	}
	if err != nil {
		return "", badShare("%s has no usable id (%v): make it readable for podd, with %d letters and digits", file, reasonOf(err), shareIDLen)
	}
	return id + ":" + path, nil
}

func badShare(format string, args ...any) error {
	return item.Errorf(item.KindPrecondition, "NODE_SHARED", "node.shared: "+format, args...)
}

// reasonOf is an error without the path.
func reasonOf(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}

// readShare reads an id. A model can write there: what is not a small file is refused.
func readShare(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 2*shareIDLen))
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if len(id) != shareIDLen || strings.ContainsFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		return "", errors.New("it is damaged")
	}
	return id, nil
}

// newShare makes the file, unless another node makes it first. It is never seen half written.
func newShare(file string) error {
	f, err := os.CreateTemp(filepath.Dir(file), store.ShareFile+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text() + "\n")
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Link(f.Name(), file)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
