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

// EnsureToken is the client token of a state directory: the one that is there, or
// a new one that is on disk when it returns. The caller holds the directory's lock.
//
// A token that others could read, or that is none, is an error and not replaced:
// clients hold the old one.
func EnsureToken(stateDir string) (string, error) {
	path := filepath.Join(stateDir, tokenName)
	token, err := readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newToken(path)
	}
	return token, err
}

// ReadToken is the client token that podd made in its state directory.
func ReadToken(stateDir string) (string, error) {
	path := filepath.Join(stateDir, tokenName)
	token, err := readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", tokenError(err, "there is no client token at %s: podd makes it when it starts; if podd has another state directory, name that one with --state-dir", path)
	}
	return token, err
}

// readToken gives an error that is fs.ErrNotExist when there is no token.
func readToken(path string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", tokenError(err, "the client token %s cannot be read (%s): check its owner and mode", path, systemSays(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", tokenError(err, "the client token %s cannot be read (%s): check its file system", path, systemSays(err))
	}
	const renew = "remove it and start podd again, which makes a new one"
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", tokenError(nil, "the client token %s was open to other users (mode %04o): %s", path, mode, renew)
	}
	text, err := io.ReadAll(io.LimitReader(file, 4<<10))
	if err != nil {
		return "", tokenError(err, "the client token %s cannot be read (%s): %s", path, systemSays(err), renew)
	}
	token := strings.TrimSpace(string(text))
	if raw, err := hex.DecodeString(token); err != nil || len(raw) != tokenBytes {
		return "", tokenError(nil, "the client token %s is damaged: %s", path, renew)
	}
	return token, nil
}

// newToken writes the token under another name first, so that a crash leaves a
// whole one or none.
func newToken(path string) (string, error) {
	raw := make([]byte, tokenBytes)
	rand.Read(raw)
	token := hex.EncodeToString(raw)
	if err := WritePrivateFile(path, token); err != nil {
		e := item.Errorf(item.KindPrecondition, "CLIENT_TOKEN", "the client token %s cannot be written (%s): check the directory and the space left", path, systemSays(err))
		e.Cause = err
		return "", e
	}
	return token, nil
}

// WritePrivateFile replaces a file by one that only this user can read (0600), as a
// whole: a crash leaves the old one or the new one, and the new one is on disk when it
// returns.
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
