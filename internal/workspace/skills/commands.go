package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"podd/internal/workspace/prompts"
	"podd/pkg/scopefs"
)

// commandDirs are the directories for commands in a workspace.
var commandDirs = []string{".agents/commands", ".claude/commands"}

// Bounds of trees of Markdown files: how many directories and files are read, how many bytes they have, and how deep they are nested.
const (
	maxDirs   = 100
	maxFiles  = 200
	maxBytes  = 4 << 20
	maxNested = 8
)

// Prompts are what typed text may begin with: the person's commands in some directories, those of plugins, the person's skills,
// then the workspace's commands and skills, which may come from other people. Of one name the first counts.
func (f Found) Prompts(own []string) []prompts.Prompt {
	var c commands
	for _, dir := range own {
		c.add(&tree{readDir: os.ReadDir, stat: os.Stat, readFile: readOwn}, dir, "")
	}
	for _, dir := range f.dirs {
		if c.root = dir.Path; dir.Plugin != "" {
			c.add(f.tree(), dir.part(commandsName).Path, dir.Plugin+":")
		}
	}
	for _, s := range f.Skills {
		if s.User && !isCommand(s.Path) { // Commands are there.
			c.list = prompts.Join(c.list, f.prompt(s))
		}
	}
	w, t := commands{workspace: true, list: c.list}, f.tree()
	for _, dir := range commandDirs {
		w.add(t, filepath.Join(f.fs.Dir(), dir), "")
	}
	for _, s := range f.Skills {
		if !s.User && !t.full() {
			p := f.prompt(s)
			w.list, t.bytes = prompts.Join(w.list, p), t.bytes+len(p.Text)
		}
	}
	return w.list
}

// Named are the names of the commands and agents of the plugin in the directory of fs.
func Named(fs *scopefs.FS) (commands, agents []string) {
	list := func(dir string) (names []string) {
		add := func(name, _ string) { names = append(names, name) }
		_ = Found{fs: fs}.tree().walk(filepath.Join(fs.Dir(), dir), "", add) // A missing directory has none.
		return names
	}
	return list(commandsName), list(agentsName)
}

func (f Found) tree() *tree { return &tree{readDir: f.fs.ReadDir, stat: f.fs.Stat, readFile: f.read} }

// prompt is a skill as a person calls it.
func (f Found) prompt(s Skill) prompts.Prompt {
	p := prompts.Prompt{Name: s.Name, About: s.Description, Workspace: !s.User}
	if s.Plugin != "" {
		p.Name = s.Plugin + ":" + s.Name
	}
	h, body, err := f.body(s)
	if p.Wrong = err; err == nil {
		h.complete(&p)
		if p.Arguments() == "" {
			p.Hint = "task"
		}
		p.Text = fmt.Sprintf("%s\n\n[This is the skill %s. Its files are in %s.]", body, s.Name, scopefs.Display(path.Dir(s.Path)))
	}
	return p
}

// tree reads Markdown files and the directories that have them, until it is full.
type tree struct {
	readDir            func(dir string) ([]fs.DirEntry, error)
	stat               func(path string) (fs.FileInfo, error)
	readFile           func(file string) ([]byte, error)
	dirs, files, bytes int
}

func (t *tree) full() bool { return t.files >= maxFiles || t.bytes >= maxBytes }

func (t *tree) read(file string) ([]byte, error) {
	text, err := t.readFile(file)
	t.bytes += len(text)
	return text, err
}

// walk calls fn with the files below a directory, by their paths and their names, in which a colon separates directories. A
// directory that a link puts into itself is read once. An error is about the directory itself.
func (t *tree) walk(dir, prefix string, fn func(name, file string), above ...fs.FileInfo) error {
	info, _ := t.stat(dir)
	again := slices.ContainsFunc(above, func(up fs.FileInfo) bool { return os.SameFile(up, info) })
	if t.dirs++; t.dirs > maxDirs || t.full() || len(above) > maxNested || again {
		return nil
	}
	entries, err := t.readDir(dir)
	for _, e := range entries[:min(len(entries), maxEntries)] {
		file := filepath.Join(dir, e.Name())
		stem, markdown := strings.CutSuffix(e.Name(), ".md")
		name := prefix + unnamed.ReplaceAllString(stem, "-")
		switch inside, err := t.stat(file); {
		case strings.HasPrefix(stem, "."):
		case err == nil && inside.IsDir():
			_ = t.walk(file, name+":", fn, append(slices.Clip(above), info)...)
		case markdown && !t.full():
			t.files++
			fn(name, file)
		}
	}
	return err
}

// unnamed matches what people cannot type in a name.
var unnamed = regexp.MustCompile(`[^\pL\pN_.-]+`)

// commands are prompts that are files.
type commands struct {
	// root is the plugin's directory; empty for others.
	root string
	// workspace says that they are the workspace's.
	workspace bool
	list      []prompts.Prompt
}

func (c *commands) add(t *tree, dir, prefix string) {
	_ = t.walk(dir, prefix, func(name, file string) { // A missing directory has no commands.
		text, err := t.read(file)
		c.list = prompts.Join(c.list, c.read(name, text, err))
	})
}

// read reads a command with this text. One that cannot be used says why.
func (c *commands) read(name string, text []byte, err error) prompts.Prompt {
	if err == nil && !utf8.Valid(text) {
		err = errors.New("it is not text")
	}
	p := command(name, text)
	p.Workspace = c.workspace
	if p.Wrong = err; err == nil && p.Text == "" {
		p.Wrong = errors.New("it says nothing")
	}
	if c.root != "" {
		p.Text = strings.ReplaceAll(p.Text, rootVariable, c.root)
	}
	return p
}

// command is a command with this text. Broken front matter costs only what it says.
func command(name string, text []byte) prompts.Prompt {
	above, body, _ := split(text)
	p := prompts.Prompt{Name: name, Text: body}
	if len(bytes.TrimSpace(above)) == 0 {
		return p
	}
	values, err := parseFront(above)
	if p.About = short(values.one("description")); err != nil {
		p.About = short(err.Error())
	}
	values.complete(&p)
	return p
}

// complete adds what front matter says of arguments.
func (f front) complete(p *prompts.Prompt) {
	names := func(key string) []string {
		return strings.FieldsFunc(f.one(key), func(r rune) bool { return strings.ContainsRune(" ,[]", r) })
	}
	p.Hint, p.Args = short(f.one("argument-hint")), names("args")
	if p.Needed = len(p.Args) > 0; !p.Needed {
		p.Args = names("arguments")
	}
}

// readOwn reads a file of the person's own. A link may lead to it.
func readOwn(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || ok && int(owner.Uid) != os.Getuid() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is not a regular file of your own of at most %d KiB: own it, and move what is long into files that it names with @", scopefs.Display(file), maxFile>>10)
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}
