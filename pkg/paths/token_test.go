package paths_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/paths"
)

func TestEnsureToken(t *testing.T) {
	dir := t.TempDir()
	token, err := paths.EnsureToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(token) {
		t.Errorf("the token %q is not 32 bytes in hex", token)
	}
	path := filepath.Join(dir, "client.token")
	if got := mode(t, path); got != 0o600 {
		t.Errorf("mode %04o, want 0600", got)
	}
	// Scripts send the content of the file.
	if content, err := os.ReadFile(path); err != nil || string(content) != token {
		t.Errorf("the file holds %q, %v", content, err)
	}
	if left, _ := filepath.Glob(path + "?*"); left != nil {
		t.Errorf("left behind: %q", left)
	}

	if again, err := paths.EnsureToken(dir); err != nil || again != token {
		t.Errorf("the second start got %q, %v", again, err)
	}
	if read, err := paths.ReadToken(dir); err != nil || read != token {
		t.Errorf("a client got %q, %v", read, err)
	}
	other, err := paths.EnsureToken(t.TempDir())
	if err != nil || other == token {
		t.Errorf("another directory has the token %q, %v", other, err)
	}
}

func TestReadTokenMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := paths.ReadToken(dir)
	wantError(t, err, item.KindUnauthenticated, "CLIENT_TOKEN", dir, "--state-dir")
	if _, err := os.Stat(filepath.Join(dir, "client.token")); !os.IsNotExist(err) {
		t.Error("reading made a token")
	}
	_, err = paths.EnsureToken(filepath.Join(dir, "gone"))
	wantError(t, err, item.KindPrecondition, "CLIENT_TOKEN", "cannot write")
}

func TestUnfitToken(t *testing.T) {
	good := strings.Repeat("0f", 32)
	tests := map[string]struct {
		content string
		perm    fs.FileMode
		want    string
	}{
		"empty":         {"", 0o600, "is damaged"},
		"short":         {good[:62], 0o600, "is damaged"},
		"long":          {good + "00", 0o600, "is damaged"},
		"no hex":        {strings.Repeat("xy", 32), 0o600, "is damaged"},
		"open to all":   {good, 0o644, "was open to other users (mode 0644)"},
		"open to group": {good, 0o640, "was open to other users (mode 0640)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "client.token")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.perm); err != nil {
				t.Fatal(err)
			}
			for _, read := range []func(string) (string, error){paths.EnsureToken, paths.ReadToken} {
				_, err := read(dir)
				wantError(t, err, item.KindUnauthenticated, "CLIENT_TOKEN", path, tt.want, "remove it")
			}
			if content, err := os.ReadFile(path); err != nil || string(content) != tt.content {
				t.Errorf("the file was changed to %q, %v", content, err)
			}
		})
	}
}

func TestTokenWithANewline(t *testing.T) {
	dir := t.TempDir()
	good := strings.Repeat("0f", 32)
	if err := os.WriteFile(filepath.Join(dir, "client.token"), []byte(good+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := paths.ReadToken(dir); err != nil || token != good {
		t.Errorf("got %q, %v", token, err)
	}
}
