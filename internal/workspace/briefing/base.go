package briefing

import (
	_ "embed" // base.txt
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"podd/pkg/scopefs"
)

// Builtin and None are the settings that name no file: the built-in instructions, and no
// text of podd's own.
const (
	Builtin = "builtin"
	None    = "none"
)

// MaxBytes bounds a file of base instructions.
const MaxBytes = 32 << 10

//go:embed base.txt
var base string

// Base is the text of a setting: Builtin, None, or the absolute path of a file. Empty
// means Builtin. An error says in one sentence what is wrong with the setting.
func Base(setting string) (string, error) {
	switch setting {
	case "", Builtin:
		return base, nil
	case None:
		return "", nil
	}
	if !filepath.IsAbs(setting) {
		return "", fmt.Errorf(`base_instructions must be "builtin", "none" or the absolute path of a file, not %s`, scopefs.Display(setting))
	}
	text, err := read(setting)
	if err != nil {
		return "", fmt.Errorf("base_instructions: %s %w", scopefs.Display(setting), err)
	}
	return text, nil
}

// read reads a small text file. An error is the end of a sentence that begins with the
// path.
func read(path string) (string, error) {
	// A pipe must not block.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", cause(err))
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot be read: %w", cause(err))
	case !info.Mode().IsRegular():
		return "", errors.New("is not a regular file: name a text file")
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot be read: %w", cause(err))
	case len(text) > MaxBytes:
		return "", fmt.Errorf("has more than %d bytes: shorten it", MaxBytes)
	case !utf8.Valid(text):
		return "", errors.New("is not UTF-8 text: name a text file")
	}
	return string(text), nil
}

// cause is why a file can't be read, without its path.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
