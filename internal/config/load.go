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
	d := decoder{file: path, root: l.root}
	if wrong := d.decode(text); len(wrong) > 0 {
		return Config{}, bad("%s", wrong[0])
	}
	for _, s := range l.root {
		if s.variable == "" || env(s.variable) == "" {
			continue
		}
		if !s.set(env(s.variable)) {
			return Config{}, bad("%s must be %s", s.variable, s.must)
		}
		s.origin = s.variable
	}
	if err := l.readKeyFile(env); err != nil {
		return Config{}, err
	}
	if err := l.checkSummarize(); err != nil {
		return Config{}, err
	}
	l.finish()
	return l.Config, nil
}

// loader collects a configuration.
type loader struct {
	Config
	root []*setting
	// tools is tool_output.tools, summarizing is summarize.enabled.
	tools, summarizing *setting
}

func newLoader() *loader {
	l := &loader{Config: defaults()}
	l.tools = named("tools", "search repo_structure list_dir glob shell", l.tool)
	// These have keys with defaults, whatever a file says.
	for _, name := range []string{"search", "repo_structure", "list_dir", "glob"} {
		l.tools.open(join("tool_output.tools", name), name, "default")
	}
	l.summarizing = flag("enabled", &l.Pods.Summarize.Enabled)
	l.root = l.settings()
	return l
}

// origin is where the key of a table was set.
func (l *loader) origin(table, key string) string { return find(find(l.root, table).keys, key).origin }

// finish fills in what depends on other values.
func (l *loader) finish() {
	refs := &l.FileRefs
	if l.origin("file_refs", "max_bytes") == "" {
		// A reference is cut where a read of the file would be, unless that is more
		// than a reference may have.
		refs.MaxBytes = min(l.ToolOutput.Default.MaxBytes, maxSubmit)
	}
	l.values = valuesOf("", l.root)
	if context := &l.Search.Context; *context == 0 {
		*context = -1 // None, and not the default.
	}
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
