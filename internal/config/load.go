package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"podd/internal/guard/secrets"
	"podd/pkg/item"
)

// maxFileBytes is far above any configuration; it keeps a wrong path from filling the
// memory.
const maxFileBytes = 1 << 20

// Keys that code outside of their table names.
const (
	keyAPIKey = "api_key"
	keyRule   = "rule"
)

// credentialName is the systemd credential that holds the API key.
const credentialName = "openai_api_key"

// Load reads the configuration file at path, then the environment through env, then the
// defaults. A missing file is an error only if a flag or a variable names it. An empty
// path means that there is no file.
//
// Errors are of kind KindInvalid, reason CONFIG.
func Load(path string, named bool, env func(string) string) (Config, error) {
	text, err := readFile(path, named)
	if err != nil {
		return Config{}, err
	}
	l := loader{decoder: newDecoder(path), env: env}
	if wrong := l.decode(text); len(wrong) > 0 {
		return Config{}, bad("%s", wrong[0])
	}
	for _, k := range l.keys() {
		variable := k.tag.Get("env")
		if variable == "" || env(variable) == "" {
			continue
		}
		if !k.set(env(variable)) {
			return Config{}, bad("%s must be %s", variable, k.must())
		}
		l.origins[k.name] = variable
	}
	for _, step := range []func() error{l.readKeyFile, l.readEndpoints, l.fill, l.findModels, l.check} {
		if err := step(); err != nil {
			return Config{}, err
		}
	}
	l.config.values = l.values("", l.keys())
	return l.config, nil
}

// loader makes a configuration of a file and of the environment.
type loader struct {
	*decoder
	env    func(string) string
	config Config
}

// readKeyFile reads the API key from the file that api_key_file names, or else from the
// credential, unless the environment has it.
func (l *loader) readKeyFile() error {
	if l.APIKey != "" {
		return nil
	}
	path, read := l.APIKeyFile, secrets.ReadFile
	if path == "" {
		path, read = secrets.Credential(l.env, credentialName), secrets.ReadCredential
	}
	if path == "" {
		return nil
	}
	text, err := read(path)
	if err != nil {
		return bad("%v", err)
	}
	k := find(l.keys(), keyAPIKey)
	if !k.set(text) {
		return bad("the key file %s must hold %s", path, k.must())
	}
	l.origins[keyAPIKey], l.config.keyFile = path, l.APIKeyFile
	return nil
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
