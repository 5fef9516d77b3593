package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/paths"
)

// Plan is what is to be written.
type Plan struct {
	// Config is the path of config.toml, Lines what goes to its top: keys there must stand
	// before any table.
	Config, Lines string
	// KeyFile is the path of the key's file, Key what it will have; empty without a key.
	KeyFile, Key string
}

// Plan says what makes podd use a model of the endpoint.
func (c Choice) Plan(config, model string) Plan {
	p := Plan{Config: config, Lines: "base_url = " + strconv.Quote(c.BaseURL) + "\nmodel = " + strconv.Quote(model) + "\n"}
	if c.Key != "" {
		p.KeyFile, p.Key = filepath.Join(filepath.Dir(config), c.KeyFile), c.Key
		p.Lines += "api_key_file = " + strconv.Quote(p.KeyFile) + "\n"
	}
	return p
}

// Write writes the key first, then the configuration, each whole or not at all. What config.toml
// has already stays below the new lines, and another key is not replaced.
func (p Plan) Write() error {
	if err := os.MkdirAll(filepath.Dir(p.Config), 0o700); err != nil {
		return err
	}
	old, err := os.ReadFile(p.Config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if p.Key != "" {
		if err := p.writeKey(); err != nil {
			return err
		}
	}
	path := p.Config
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		path = linked // People keep their configuration elsewhere and link to it.
	}
	text := p.Lines
	if len(old) > 0 {
		text += "\n" + string(old)
	}
	return paths.WritePrivateFile(path, text)
}

func (p Plan) writeKey() error {
	switch old, err := os.ReadFile(p.KeyFile); {
	case err == nil && strings.TrimSpace(string(old)) == p.Key:
		return nil
	case err == nil:
		return fmt.Errorf("%s has another key: remove it, then run podd setup again", p.KeyFile)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return paths.WritePrivateFile(p.KeyFile, p.Key+"\n")
}

// String is the plan as a person may carry it out: the file's name, then its lines. It has no key.
func (p Plan) String() string {
	var b strings.Builder
	if p.KeyFile != "" {
		fmt.Fprintf(&b, "%s (mode 0600):\n    your key\n", sanitize.Line(p.KeyFile))
	}
	fmt.Fprintf(&b, "%s, at the top:\n", sanitize.Line(p.Config))
	for line := range strings.Lines(p.Lines) {
		b.WriteString("    " + line)
	}
	return b.String()
}
