package config

import (
	"podd/internal/guard/secrets"
)

// credentialName is the systemd credential that holds the API key.
const credentialName = "openai_api_key"

// readKeyFile reads the API key from the file that api_key_file names, or else from
// the credential of that name, unless the environment has it.
func (l *loader) readKeyFile(env func(string) string) error {
	if l.APIKey != "" {
		return nil
	}
	path, read := l.APIKeyFile, secrets.ReadFile
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
	s := find(l.root, keyAPIKey)
	if !s.set(key) {
		return bad("the key file %s must hold %s", path, s.must)
	}
	s.origin = path
	l.keyFile = l.APIKeyFile
	return nil
}
