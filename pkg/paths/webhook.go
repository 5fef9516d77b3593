package paths

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"podd/pkg/item"
)

// webhookName is the file of the key that the secrets of webhooks are made of.
const webhookName = "webhook.key"

// EnsureWebhookKey is the key of a state directory that the secrets of webhooks are made of: the existing one, or a new
// random one, which is on disk when it returns. The caller has locked the directory.
func EnsureWebhookKey(stateDir string) (string, error) {
	path := filepath.Join(stateDir, webhookName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := rand.Text() + rand.Text()
		return key, WritePrivateFile(path, key+"\n")
	}
	key := strings.TrimSpace(string(text))
	if err != nil || len(key) < len(rand.Text()) {
		e := item.Errorf(item.KindPrecondition, "WEBHOOK_KEY",
			"cannot read the key of webhooks in %s: restore the file from a backup, or remove it; then each webhook has another secret", path)
		e.Cause = err
		return "", e
	}
	return key, nil
}
