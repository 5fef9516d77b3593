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
	// Config is the path of config.toml. Top goes to its top, where keys stand before any table;
	// Table goes to its end.
	Config, Top, Table string
	// KeyFile is the path of the key's file, Key what it will have; empty without a key.
	KeyFile, Key string
	// address is the endpoint's, secret what a person is not shown of it.
	address, secret string
}

// Plan says what makes podd use a model of the endpoint. The endpoint gets a table of its own, so
// that variables of the default endpoint such as OPENAI_API_KEY never reach it.
func (c Choice) Plan(config, model string) Plan {
	p := Plan{
		Config: config,
		Top:    fmt.Sprintf("endpoint = %q\nmodel = %s\n", c.ID, strconv.Quote(c.ID+"/"+model)),
		Table:  fmt.Sprintf("[endpoints.%s]\nbase_url = %s\n", c.ID, strconv.Quote(c.BaseURL)),
	}
	p.address, p.secret = c.address(), c.BaseURL
	if c.Key != "" {
		p.KeyFile, p.Key = filepath.Join(filepath.Dir(config), c.ID+"_api_key"), c.Key
		p.Table += "key_file = " + strconv.Quote(p.KeyFile) + "\n"
	}
	return p
}

// Write writes the key first, then the configuration, each whole or not at all. What config.toml
// has already stays, and another key is not replaced. Check says whether podd accepts a file; if
// it does not, nothing is written.
func (p Plan) Write(check func(path string) error) error {
	if err := os.MkdirAll(filepath.Dir(p.Config), 0o700); err != nil {
		return err
	}
	text, err := p.compose()
	if err != nil {
		return err
	}
	wrote, err := p.writeKey()
	if err == nil {
		err = p.writeConfig(text, check)
	}
	if err != nil && wrote {
		err = errors.Join(err, os.Remove(p.KeyFile))
	}
	return err
}

// compose is config.toml as it will be.
func (p Plan) compose() (string, error) {
	old, err := os.ReadFile(p.Config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text := p.Top + "\n"
	if kept := strings.TrimSpace(strings.TrimPrefix(string(old), "\ufeff")); kept != "" {
		text += kept + "\n\n"
	}
	return text + p.Table, nil
}

// writeKey says whether the key's file is new.
func (p Plan) writeKey() (wrote bool, err error) {
	if p.Key == "" {
		return false, nil
	}
	switch old, err := os.ReadFile(p.KeyFile); {
	case err == nil && strings.TrimSpace(string(old)) != p.Key:
		return false, fmt.Errorf("%s has another key: remove it, then run podd setup again", p.KeyFile)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	default:
		return err != nil, paths.WritePrivateFile(p.KeyFile, p.Key+"\n")
	}
}

func (p Plan) writeConfig(text string, check func(path string) error) error {
	path := p.Config
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		// People keep their configuration elsewhere and link to it.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("%s is a link to a file that is not there: %w", p.Config, err)
		}
	}
	trial := path + ".setup"
	defer os.Remove(trial)
	if err := paths.WritePrivateFile(trial, text); err != nil {
		return err
	}
	if err := check(trial); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	return os.Rename(trial, path)
}

// String is the plan as a person may carry it out: each file's name, then its lines. It has no
// secret.
func (p Plan) String() string {
	var b strings.Builder
	if p.KeyFile != "" {
		fmt.Fprintf(&b, "%s (mode 0600):\n    your key\n", sanitize.Line(p.KeyFile))
	}
	lines := func(text string) {
		for line := range strings.Lines(strings.Replace(text, strconv.Quote(p.secret), strconv.Quote(p.address), 1)) {
			b.WriteString("    " + line)
		}
	}
	fmt.Fprintf(&b, "%s, at the top:\n", sanitize.Line(p.Config))
	lines(p.Top)
	b.WriteString("and at the end:\n")
	lines(p.Table)
	return b.String()
}
