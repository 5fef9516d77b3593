package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"podd/pkg/item"
)

// maxFileBytes is far above any configuration; it keeps a wrong path from filling
// the memory.
const maxFileBytes = 1 << 20

// Load reads the configuration file at path, then the environment through env,
// then the defaults. A file that is missing is an error only when it is named, by
// a flag or a variable. An empty path means that there is no file.
//
// Errors are of kind KindInvalid, reason CONFIG.
func Load(path string, named bool, env func(string) string) (Config, error) {
	l := newLoader()
	text, err := readFile(path, named)
	if err != nil {
		return Config{}, err
	}
	if err := l.applyFile(path, text); err != nil {
		return Config{}, err
	}
	if err := l.applyEnvironment(env); err != nil {
		return Config{}, err
	}
	if err := l.applyKeyFile(env); err != nil {
		return Config{}, err
	}
	if err := l.checkSummarize(); err != nil {
		return Config{}, err
	}
	return l.finish()
}

func bad(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "CONFIG", format, args...)
}

// readFile is empty for a file that is missing and need not be there.
func readFile(path string, named bool) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !named {
			return nil, nil
		}
		return nil, bad("there is no configuration file at %s: check --config and PODD_CONFIG", path)
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	if err := checkOwner(path, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if len(text) > maxFileBytes {
		return nil, bad("the configuration file %s has more than %d bytes: check that it is the right file", path, maxFileBytes)
	}
	return text, nil
}

func unreadable(path string, err error) error {
	if errors.Is(err, syscall.EISDIR) {
		return bad("the configuration file %s is a directory: name the file in it", path)
	}
	cause := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		cause = e.Err
	}
	e := item.Errorf(item.KindInvalid, "CONFIG", "the configuration file %s cannot be read (%v): check its owner and mode", path, cause)
	e.Cause = err
	return e
}
