package paths

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"podd/pkg/item"
)

const (
	tokenName  = "client.token"
	tokenBytes = 32
)

// EnsureToken is the client token of a state directory: the existing one, or a new one,
// which is on disk when it returns. The caller has locked the directory.
//
// A token that other users could read, or that is damaged, is an error and is not replaced:
// clients may be using it.
func EnsureToken(stateDir string) (string, error) {
	path := filepath.Join(stateDir, tokenName)
	token, err := readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newToken(path)
	}
	return token, err
}

// ReadToken is the client token that podd created in its state directory.
func ReadToken(stateDir string) (string, error) {
	path := filepath.Join(stateDir, tokenName)
	token, err := readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", tokenError(err, "no client token at %s: podd creates it when it starts; if podd uses another state directory, name it with --state-dir", path)
	}
	return token, err
}

// readToken returns an error that is fs.ErrNotExist if the token does not exist.
func readToken(path string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", tokenError(err, "cannot read the client token %s (%s): check its owner and mode", path, systemSays(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", tokenError(err, "cannot read the client token %s (%s): check its file system", path, systemSays(err))
	}
	const renew = "remove it and restart podd, which creates a new one"
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", tokenError(nil, "the client token %s was open to other users (mode %04o): %s", path, mode, renew)
	}
	text, err := io.ReadAll(io.LimitReader(file, 4<<10))
	if err != nil {
		return "", tokenError(err, "cannot read the client token %s (%s): %s", path, systemSays(err), renew)
	}
	token := strings.TrimSpace(string(text))
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != tokenBytes {
		return "", tokenError(nil, "the client token %s is damaged: %s", path, renew)
	}
	return token, nil
}

// newToken writes the token under a temporary name first, so that a crash leaves a complete
// one or none.
func newToken(path string) (string, error) {
	raw := make([]byte, tokenBytes)
	rand.Read(raw)
	token := hex.EncodeToString(raw)
	if err := WritePrivateFile(path, token); err != nil {
		e := item.Errorf(item.KindPrecondition, "CLIENT_TOKEN", "cannot write the client token %s (%s): check the directory and the free disk space", path, systemSays(err))
		e.Cause = err
		return "", e
	}
	return token, nil
}

// WritePrivateFile atomically replaces a file with one that only this user can read (0600):
// a crash leaves the old one or the new one, and the new one is on disk when it returns.
func WritePrivateFile(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func tokenError(cause error, format string, args ...any) error {
	e := item.Errorf(item.KindUnauthenticated, "CLIENT_TOKEN", format, args...)
	e.Cause = cause
	return e
}
