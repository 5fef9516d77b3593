package config

import (
	"path/filepath"
	"strings"

	"podd/internal/guard/secrets"
)

// credentialName is the systemd credential that holds the API key.
const credentialName = "openai_api_key"

// applyKeyFile takes the API key from the file that api_key_file names, or else from
// the credential of that name, unless the environment has it.
func (l *loader) applyKeyFile(env func(string) string) error {
	if l.config.APIKey != "" {
		return nil
	}
	path, read := l.config.APIKeyFile, secrets.ReadFile
	if path == "" {
		path, read = secrets.Credential(env, credentialName), secrets.ReadCredential
	}
	if path == "" {
		return nil
	}
	key, err := read(path)
	if err != nil {
		return bad("%v", err)
	}
	if s := secret("api_key", &l.config.APIKey); !s.set(key) {
		return bad("the key file %s must hold %s", path, s.must)
	}
	l.origins["api_key"] = path
	return nil
}

// file sets a variable to the path of a file.
func file(key string, target *string) setting {
	return setting{
		key:  key,
		must: "an absolute path",
		set: func(value any) bool {
			text, ok := value.(string)
			if !ok || text != "" && (!filepath.IsAbs(text) || strings.ContainsRune(text, 0)) {
				return false
			}
			*target = text
			return true
		},
		show: func() string { return quote(*target) },
	}
}
