package secrets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxKeyBytes is far above any key.
const maxKeyBytes = 16 << 10

// ReadFile is the secret in a file, without white space around it. The file must be a
// regular one that this user or root owns and that others can neither read nor change.
// The error is one sentence that names the file.
func ReadFile(path string) (string, error) { return read(path, 0o077) }

// ReadCredential is the same for a file from Credential. A service manager may give its
// group the right to read it, in a directory that only the service can enter.
func ReadCredential(path string) (string, error) { return read(path, 0o027) }

// ReadProjected is the same for a token that the platform renews. Kubernetes lets everyone in the
// container read it.
func ReadProjected(path string) (string, error) { return read(path, 0o022) }

// read refuses a file with one of the permissions in forbidden.
func read(path string, forbidden os.FileMode) (string, error) {
	// Without waiting for a writer, in case it is a named pipe.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("cannot read the key file %s (%w): check its owner and mode", path, systemSays(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("cannot read the key file %s (%w): check its file system", path, systemSays(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("the key file %s is not a regular file: name the file that contains the key", path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return "", fmt.Errorf("the key file %s belongs to another user (uid %d): use a file of your own", path, stat.Uid)
	}
	if mode := info.Mode().Perm(); mode&forbidden != 0 {
		return "", fmt.Errorf("the key file %s is open to other users (mode %04o): run chmod 600 on it, and replace the key if others may have read it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKeyBytes+1))
	if err != nil {
		return "", fmt.Errorf("cannot read the key file %s (%w): check its file system", path, systemSays(err))
	}
	key := strings.TrimSpace(string(text))
	if key == "" || len(text) > maxKeyBytes {
		return "", fmt.Errorf("the key file %s has %d bytes, which is not a key: put only the key in it", path, len(text))
	}
	return key, nil
}

// Credential is the path of a systemd credential (systemd.exec(5), LoadCredential=) in
// the directory that $CREDENTIALS_DIRECTORY names; empty if it does not exist.
func Credential(env func(string) string, name string) string {
	dir := env("CREDENTIALS_DIRECTORY")
	if !filepath.IsAbs(dir) {
		return ""
	}
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// systemSays is the system's reason, without the path that the sentence already names.
func systemSays(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}
