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

// nodeName is the file of a podd's id among those that share a database.
const nodeName = "podd.node"

// nodeIDLen is the length of such an id.
const nodeIDLen = 26

// EnsureNode is the id of the podd with a state directory: the existing one, or a new random
// one. The caller has locked the directory.
func EnsureNode(stateDir string) (string, error) {
	path := filepath.Join(stateDir, nodeName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id := rand.Text()
		return id, WritePrivateFile(path, id+"\n")
	}
	if err != nil {
		return "", nodeError(err, path)
	}
	id := strings.TrimSpace(string(text))
	if len(id) != nodeIDLen || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", nodeError(nil, path)
	}
	return id, nil
}

func nodeError(cause error, path string) error {
	e := item.Errorf(item.KindPrecondition, "NODE_ID",
		"cannot read the id of this podd in %s: restore the file from a backup; without it podd does not find its pods", path)
	e.Cause = cause
	return e
}
