package skills

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/sanitize"
	"podd/internal/workspace/prompts"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

// ToolName is the name of the tool that returns a skill's body.
const ToolName = "skill"

// Bounds of the search and of the texts sent.
const (
	maxFile = 64 << 10
	// maxSkills bounds the skills of a list, maxList its bytes.
	maxSkills = 50
	maxList   = 12 << 10
	// maxEntries bounds the entries read of a directory, maxBeside those named beside a
	// SKILL.md.
	maxEntries = 200
	maxBeside  = 50
	// maxNotes bounds the notes about single files.
	maxNotes = 20
)

// workspaceDirs are the directories for skills in a workspace, the preferred one first.
var workspaceDirs = []string{".agents/skills", ".claude/skills"}

// Skill is a usable skill.
type Skill struct {
	Name, Description string
	// Path is its SKILL.md, as tools name it.
	Path string
	// User says that it is the user's own, not the workspace's.
	User bool
	// Plugin is the plugin that brings it, if one does.
	Plugin string
}

// Dir is a directory of skills or agents of the user's, or of a plugin, by its real path.
type Dir struct {
	Path string
	// Plugin is the name of the plugin.
	Plugin string
}

// part is a directory of a plugin's.
func (d Dir) part(name string) Dir { return Dir{Path: filepath.Join(d.Path, name), Plugin: d.Plugin} }

// Found are the skills of a pod.
type Found struct {
	fs   *scopefs.FS
	dirs []Dir
	// Skills are in the order of the list, each name once: the user's own before those of
	// the workspace.
	Skills []Skill
	// Agents are presets of sub-pods, each name once, the user's own first.
	Agents []Agent
	// Notes are one sentence each about skills and agents that are left out; leftOut counts them.
	Notes   []string
	leftOut int
}

// Find looks for skills in the user's directories, which are in the scope, and in the
// workspace of fs.
func Find(fs *scopefs.FS, user ...Dir) Found {
	f := Found{fs: fs, dirs: user}
	for _, dir := range user {
		switch {
		case dir.Plugin != "":
			f.addDir(dir.part("skills"), true)
			f.addDir(dir.part(commandsName), true)
			f.addAgents(dir.part(agentsName), true)
		case filepath.Base(dir.Path) == agentsName:
			f.addAgents(dir, true)
		default:
			f.addDir(dir, true)
		}
	}
	for _, dir := range workspaceDirs {
		f.addDir(Dir{Path: filepath.Join(fs.Dir(), dir)}, false)
	}
	f.addAgents(Dir{Path: filepath.Join(fs.Dir(), ".claude", agentsName)}, false)
	if more := f.leftOut - len(f.Notes); more > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d more skills and agents are left out", more))
	}
	return f
}

// addDir adds the skills of a directory.
func (f *Found) addDir(dir Dir, user bool) {
	entries, err := f.fs.ReadDir(dir.Path)
	if err != nil {
		if e, ok := errors.AsType[*scopefs.PathError](err); !ok || e.Kind != scopefs.NotFound {
			f.note(dir.Path, err)
		}
		return
	}
	for _, entry := range entries[:min(len(entries), maxEntries)] {
		file := filepath.Join(dir.Path, entry.Name(), "SKILL.md")
		if user && isCommand(filepath.Join(dir.Path, entry.Name())) {
			file = filepath.Join(dir.Path, entry.Name())
		}
		text, err := f.read(file)
		if e, ok := errors.AsType[*scopefs.PathError](err); ok && e.Kind == scopefs.NotFound {
			continue
		}
		if err != nil {
			f.note(file, err)
			continue
		}
		h, _, err := parse(file, text)
		switch {
		case err != nil:
			f.note(file, err)
		case slices.ContainsFunc(f.Skills, func(s Skill) bool { return s.Name == h.name }):
		default:
			f.Skills = append(f.Skills, Skill{Name: h.name, Description: h.description, Path: f.fs.Rel(file), User: user, Plugin: dir.Plugin})
		}
	}
}

func (f *Found) note(path string, err error) { f.leaveOut("skill", path, err) }

// leaveOut adds a note, which may quote a file.
func (f *Found) leaveOut(what, path string, err error) {
	if f.leftOut++; f.leftOut > maxNotes {
		return
	}
	note := fmt.Sprintf("the %s %s is left out: %v", what, scopefs.Display(f.fs.Rel(path)), err)
	text, _ := sanitize.Visible(strings.ToValidUTF8(note, "?"))
	f.Notes = append(f.Notes, strings.Join(strings.Fields(text), " "))
}

// read is a whole SKILL.md.
func (f *Found) read(path string) ([]byte, error) {
	file, err := f.fs.ReadFile(path, maxFile)
	if err == nil && file.Truncated {
		err = fmt.Errorf("it has %d bytes, more than %d: move what is not always needed into files beside it", file.Size, maxFile)
	}
	return file.Data, err
}

// List is the list of the user's skills, or of the workspace's, to send; empty without
// skills.
func (f Found) List(user bool) string {
	var b strings.Builder
	n, left := 0, 0
	for _, s := range f.Skills {
		if s.User != user {
			continue
		}
		line := fmt.Sprintf("- %s: %s\n", s.Name, s.Description)
		if n == maxSkills || b.Len()+len(line) > maxList {
			left++
			continue
		}
		b.WriteString(line)
		n++
	}
	if n == 0 {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&b, "[%d more skills are not listed]\n", left)
	}
	return listHeading + b.String()
}

const listHeading = "Skills. Each says how a kind of work is done. When one fits, get it with the tool skill before you begin.\n"

type useArgs struct {
	Name string `json:"name" jsonschema:"the skill's name, as listed"`
}

// Tool returns the bodies of the skills; nil without skills.
func (f Found) Tool() tool.Tool {
	if len(f.Skills) == 0 {
		return nil
	}
	return tool.New(ToolName, "Get the instructions of a skill, with the names of the files that belong to it.", f.use, tool.Confined[useArgs](), tool.Repeats[useArgs]())
}

func (f Found) use(ctx context.Context, _ *tool.Invocation, args useArgs) (tool.Output, error) {
	i := slices.IndexFunc(f.Skills, func(s Skill) bool { return s.Name == args.Name })
	if i < 0 {
		var names []string
		for _, s := range f.Skills {
			names = append(names, s.Name)
		}
		return tool.Error("skill: there is no skill %q: there are %s", args.Name, strings.Join(names, ", ")), nil
	}
	s := f.Skills[i]
	_, content, err := f.body(s)
	if err != nil {
		return tool.Error("skill: %s cannot be read any more: %v", scopefs.Display(s.Path), err), nil
	}
	whose := "the workspace's word"
	if s.User {
		whose = "the user's own"
	}
	content += prompts.Runs(content)
	if beside := f.beside(ctx, path.Dir(s.Path)); len(beside) > 0 && !isCommand(s.Path) {
		content += "\n\n[files of this skill; read_file reads them]\n" + strings.Join(beside, "\n")
	}
	out := tool.Output{Summary: tool.Bound(fmt.Sprintf("skill %s from %s, %s", s.Name, scopefs.Display(s.Path), whose)), Content: content, Path: s.Path}
	return out, nil
}

// body is what a skill says below its front matter.
func (f Found) body(s Skill) (h head, body string, err error) {
	text, err := f.read(s.Path)
	if err == nil {
		h, body, err = parse(s.Path, text)
	}
	root := path.Dir(path.Dir(s.Path))
	if !isCommand(s.Path) {
		body, root = strings.ReplaceAll(body, "${CLAUDE_SKILL_DIR}", path.Dir(s.Path)), path.Dir(root)
	}
	if s.Plugin != "" {
		body = strings.ReplaceAll(body, rootVariable, root)
	}
	return h, body, err
}

// rootVariable is for the directory of a plugin.
const rootVariable = "${CLAUDE_PLUGIN_ROOT}"

// beside are the files in a skill's directory.
func (f Found) beside(ctx context.Context, dir string) []string {
	var files []string
	_ = f.fs.Walk(ctx, dir, scopefs.WalkOptions{}, func(e scopefs.Entry) error {
		if !e.Type.IsRegular() || path.Base(e.Path) == "SKILL.md" {
			return nil
		}
		if len(files) == maxBeside {
			return errEnough
		}
		files = append(files, scopefs.Display(e.Path))
		return nil
	})
	return files
}

var errEnough = errors.New("enough")
