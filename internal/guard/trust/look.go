package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// ConfigFile is the configuration of a workspace, below its directory.
const ConfigFile = ".podd/config.toml"

// MaxFileBytes bounds a file that can be trusted, in bytes.
const MaxFileBytes = 64 << 10

// ServersFile names the MCP servers of a workspace, below its directory.
const ServersFile = ".mcp.json"

// trusted are the files that a person trusts, all at once.
var trusted = []string{ConfigFile, ServersFile}

// State is a person's decision about the files of a workspace.
type State string

// The states.
const (
	// None: the workspace has none of these files.
	None State = "none"
	// Never: no person has trusted them.
	Never State = "never"
	// Changed: they differ from what was trusted.
	Changed State = "changed"
	// Trusted: they are what was trusted, byte by byte.
	Trusted State = "trusted"
)

// File is a file of a workspace.
type File struct {
	// Path is relative to the workspace.
	Path    string
	Content []byte
}

// Look is a workspace's files, all read at one time.
type Look struct {
	// Dir is the workspace, with links resolved.
	Dir   string
	Files []File
	// Digest is the SHA-256 of the files in hexadecimal; empty without files.
	Digest string
	State  State
	parser Parser
}

// files reads the files of a workspace, within it. It does not say whether they are
// trusted.
func (b *Book) files(dir string) (Look, error) {
	if !filepath.IsAbs(dir) {
		return Look{}, item.Errorf(item.KindInvalid, "BAD_DIR", "the path of the directory %s is not absolute", scopefs.Display(dir))
	}
	dir = resolved(dir)
	if hasNone(dir) {
		return Look{Dir: dir, parser: b.parser}, nil
	}
	files, err := scopefs.Open(scopefs.Config{Dir: dir, Hidden: b.hidden, Checkouts: b.Checkouts})
	if err != nil {
		return Look{}, err
	}
	defer files.Close()
	look := Look{Dir: dir, parser: b.parser}
	for _, name := range trusted {
		f, err := files.ReadFile(name, MaxFileBytes)
		if e, ok := errors.AsType[*scopefs.PathError](err); ok && e.Kind == scopefs.NotFound {
			continue
		}
		if err == nil && f.Truncated {
			err = fmt.Errorf("%s has %d bytes, more than the limit of %d", name, f.Size, MaxFileBytes)
		}
		if err != nil {
			e := item.Errorf(item.KindPrecondition, "PROJECT_FILE", "in %s: %v", scopefs.Display(dir), err)
			e.Cause = err
			return Look{}, e
		}
		look.Files = append(look.Files, File{Path: name, Content: f.Data})
	}
	look.Digest = digest(look.Files)
	return look, nil
}

// hasNone says that a directory exists and has none of the files, as most have: each turn looks.
func hasNone(dir string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	return !slices.ContainsFunc(trusted, func(name string) bool {
		first, _, _ := strings.Cut(name, "/")
		_, err := os.Lstat(filepath.Join(dir, first))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// resolved is a directory without links, or unchanged if it does not exist.
func resolved(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// config is the content of the configuration; empty without one.
func (l Look) config() string {
	for _, f := range l.Files {
		if f.Path == ConfigFile {
			return string(f.Content)
		}
	}
	return ""
}

// digest covers names, lengths and contents, so that no two sets of files have the same.
func digest(files []File) string {
	if len(files) == 0 {
		return ""
	}
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s\x00%d\x00", f.Path, len(f.Content))
		h.Write(f.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}
