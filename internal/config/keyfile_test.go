package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/config"
)

// keyFile is a file with a key.
func keyFile(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// The key comes from the environment, otherwise from the named file, otherwise from the
// credential. podd config says from where, and never shows the key.
func TestAPIKeySources(t *testing.T) {
	dir := t.TempDir()
	file := keyFile(t, dir, "key", "from-file\n", 0o600)
	credential := keyFile(t, dir, "openai_api_key", "from-credential", 0o440)
	named := "api_key_file = \"" + file + "\"\n"
	for _, tt := range []struct {
		text, key, origin string
		env               []string
	}{
		{named, "from-env", "OPENAI_API_KEY", []string{"OPENAI_API_KEY=from-env", "CREDENTIALS_DIRECTORY=" + dir}},
		{named, "from-file", file, []string{"CREDENTIALS_DIRECTORY=" + dir}},
		{"", "from-credential", credential, []string{"CREDENTIALS_DIRECTORY=" + dir}},
		{"", "", "default", []string{"CREDENTIALS_DIRECTORY=" + filepath.Join(dir, "none")}},
	} {
		c := load(t, tt.text, tt.env...)
		if string(c.APIKey) != tt.key {
			t.Errorf("the key is %q, want %q", string(c.APIKey), tt.key)
		}
		for _, v := range c.Values() {
			if v.Key == "api_key" && v.Origin != tt.origin || strings.Contains(v.Value, "from-") {
				t.Errorf("shown is %+v, want origin %s", v, tt.origin)
			}
		}
	}
}

func TestBadKeyFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	for text, want := range map[string]string{
		"'relative/key'": "api_key_file must be an absolute path",
		"7":              "api_key_file must be an absolute path",
		"'" + keyFile(t, dir, "open", "k", 0o644) + "'":       "open to other users (mode 0644): run chmod 600",
		"'" + filepath.Join(dir, "none") + "'":                "no such file",
		"'" + keyFile(t, dir, "two", "a key\nb", 0o600) + "'": "on one line",
	} {
		if err := os.WriteFile(path, []byte("api_key_file = "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(path, true, environment())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "a key\nb") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
