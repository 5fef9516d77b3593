package config

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"podd/internal/workspace/briefing"
	"podd/pkg/catalog"
	"podd/pkg/item"
)

// maxFileBytes is far above any configuration; it keeps a wrong path from filling the
// memory.
const maxFileBytes = 1 << 20

// Load reads the configuration file at path, then the environment through env, then the
// defaults. A missing file is an error only if a flag or a variable names it. An empty
// path means that there is no file.
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
	if err := l.readEndpoints(env); err != nil {
		return Config{}, err
	}
	if _, err := briefing.Base(l.BaseInstructions); err != nil {
		return Config{}, bad("%s: %v", find(l.root, keyBase).origin, err)
	}
	if err := cmp.Or(l.checkSummarize(), l.checkLoop(), l.checkNode()); err != nil {
		return Config{}, err
	}
	l.finish()
	return l.Config, nil
}

// loader collects a configuration.
type loader struct {
	Config
	root []*setting
	// defining are the endpoints of the file, refs the settings that name models.
	defining []*definition
	refs     []naming
	// tools is tool_output.tools, summarizing is summarize.enabled.
	tools, summarizing *setting
}

func newLoader() *loader {
	l := &loader{Config: defaults()}
	l.Pods.Models.Own = make(map[item.ModelRef]catalog.Facts)
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

// finish sets what depends on other values.
func (l *loader) finish() {
	refs := &l.FileRefs
	if l.origin("file_refs", "max_bytes") == "" {
		// A reference is cut where a read of the file would be, unless that exceeds the limit
		// of a reference.
		refs.MaxBytes = min(l.ToolOutput.Default.MaxBytes, maxSubmit)
	}
	l.values = valuesOf("", l.root)
	for _, e := range l.AllEndpoints() {
		if isLocal(e.BaseURL) {
			l.Pods.Models.Local = append(l.Pods.Models.Local, e.Name)
		}
	}
	if limits := &l.Pods.Limits; limits.LoopTimes == 0 || limits.LoopSteps == 0 {
		limits.LoopTimes = -1 // Off, and not the default.
	}
	if context := &l.Search.Context; *context == 0 {
		*context = -1 // No context lines, as opposed to the default.
	}
}

// checkLoop refuses numbers that no turn, or each, would reach.
func (l *loader) checkLoop() error {
	times, steps := l.Pods.Limits.LoopTimes, l.Pods.Limits.LoopSteps
	if times == 0 || steps == 0 || times > 1 && times <= steps {
		return nil
	}
	return bad("%s: limits.loop_times is %d and limits.loop_steps is %d: a call counts once a step, so set loop_times from 2 to %[3]d, or to 0 for no limit",
		cmp.Or(l.origin("limits", "loop_times"), l.origin("limits", "loop_steps")), times, steps)
}

func bad(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "CONFIG", format, args...)
}

// readFile is empty for a missing file that is not required.
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
