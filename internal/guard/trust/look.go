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

	"podd/internal/extend/claude"
	"podd/pkg/item"
	"podd/pkg/scopefs"
)

// ConfigFile is the configuration of a workspace, below its directory.
const ConfigFile = ".podd/config.toml"

// MaxFileBytes bounds a file that can be trusted, in bytes.
const MaxFileBytes = 64 << 10

// ServersFile names the MCP servers of a workspace, below its directory.
const ServersFile = ".mcp.json"

// trusted are the files that a person trusts, all at once, with those of hooks.
var trusted = []string{ConfigFile, ServersFile}

// hooks are the files of a workspace that may have hooks.
func (b *Book) hooks() []string {
	if b.HookFiles == nil {
		return nil
	}
	return b.HookFiles()
}

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
	kind    fileKind
}

type fileKind int

const (
	settings fileKind = iota
	// hooksFile has hooks of Claude Code, script is a file that such hooks name.
	hooksFile
	script
)

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
	if b.hasNone(dir) {
		return Look{Dir: dir, parser: b.parser}, nil
	}
	files, err := scopefs.Open(scopefs.Config{Dir: dir, Hidden: b.hidden, Checkouts: b.Checkouts})
	if err != nil {
		return Look{}, err
	}
	defer files.Close()
	look := Look{Dir: dir, parser: b.parser}
	for _, name := range trusted {
		if err := look.read(files, name, settings); err != nil {
			return Look{}, err
		}
	}
	for _, name := range b.hooks() {
		if err := look.readHooks(files, name); err != nil {
			return Look{}, err
		}
	}
	look.Digest = digest(look.Files)
	return look, nil
}

// read adds a file, if it exists.
func (l *Look) read(files *scopefs.FS, name string, kind fileKind) error {
	f, err := files.ReadFile(name, MaxFileBytes)
	if e, ok := errors.AsType[*scopefs.PathError](err); ok && (e.Kind == scopefs.NotFound || kind == script) {
		return nil
	}
	if err == nil && f.Truncated {
		err = fmt.Errorf("%s has %d bytes, more than the limit of %d", name, f.Size, MaxFileBytes)
	}
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "PROJECT_FILE", "in %s: %v", scopefs.Display(l.Dir), err)
		e.Cause = err
		return e
	}
	l.Files = append(l.Files, File{Path: name, Content: f.Data, kind: kind})
	return nil
}

// maxScripts bounds the files that hooks name.
const maxScripts = 100

// readHooks adds a file of hooks and the files that its commands name, which run with them.
func (l *Look) readHooks(files *scopefs.FS, name string) error {
	n := len(l.Files)
	if err := l.read(files, name, hooksFile); err != nil || len(l.Files) == n {
		return err
	}
	if !claude.Has(l.Files[n].Content) {
		l.Files = l.Files[:n]
		return nil
	}
	hooks, _ := claude.Parse(name, l.Files[n].Content, claude.Plugin{})
	for _, path := range claude.Named(hooks) {
		if len(l.Files) > n+maxScripts {
			return item.Errorf(item.KindPrecondition, "PROJECT_FILE", "in %s: the hooks of %s name more than %d files", scopefs.Display(l.Dir), name, maxScripts)
		}
		if slices.ContainsFunc(l.Files, func(f File) bool { return f.Path == path }) {
			continue
		}
		if err := l.read(files, path, script); err != nil {
			return err
		}
	}
	return nil
}

// hasNone says that a directory exists and has none of the files, as most have: each turn looks.
func (b *Book) hasNone(dir string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(trusted, b.hooks()), func(name string) bool {
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
