package paths_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"podd/pkg/item"
	"podd/pkg/paths"
)

func TestEnsureWebhookKey(t *testing.T) {
	dir := t.TempDir()
	key, err := paths.EnsureWebhookKey(dir)
	if err != nil || len(key) < 40 {
		t.Fatalf("got %q, %v", key, err)
	}
	path := filepath.Join(dir, "webhook.key")
	if got := mode(t, path); got != fs.FileMode(0o600) {
		t.Errorf("the mode is %04o", got)
	}
	if again, err := paths.EnsureWebhookKey(dir); err != nil || again != key {
		t.Errorf("the second time it is %q, %v", again, err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = paths.EnsureWebhookKey(dir)
	wantError(t, err, item.KindPrecondition, "WEBHOOK_KEY", path, "restore the file from a backup, or remove it")
}
