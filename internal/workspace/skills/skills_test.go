package skills_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/workspace/skills"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
)

func plant(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string, read ...string) *scopefs.FS {
	t.Helper()
	fs, err := scopefs.Open(scopefs.Config{Dir: dir, Read: read})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fs.Close() })
	return fs
}

func skill(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s\n", name, description, body)
}

func TestFind(t *testing.T) {
	dir, user := t.TempDir(), t.TempDir()
	plant(t, filepath.Join(user, "review", "SKILL.md"), skill("review", "Reviews.", "Look twice."))
	plant(t, filepath.Join(dir, ".agents/skills/pdf/SKILL.md"), "\ufeff---\r\nname: pdf\r\ndescription: >\r\n  Fills in\r\n  PDF\u202e forms.\r\nlicense: MIT\r\nmetadata: {a: [b]}\r\n---\r\n\r\n# PDF\r\nRun scripts/fill.py.\r\n")
	plant(t, filepath.Join(dir, ".agents/skills/pdf/scripts/fill.py"), "print()")
	plant(t, filepath.Join(dir, ".agents/skills/README.md"), "not a skill")
	plant(t, filepath.Join(dir, ".claude/skills/pdf/SKILL.md"), skill("pdf", "Another.", "x"))
	plant(t, filepath.Join(dir, ".claude/skills/review/SKILL.md"), skill("review", "The workspace's.", "x"))
	plant(t, filepath.Join(dir, ".claude/skills/bad/SKILL.md"), "no front matter")
	fs := open(t, dir, user)
	found := skills.Find(fs, skills.Dir{Path: user})
	if len(found.Skills) != 2 || found.Skills[0].Description != "Reviews." || !found.Skills[0].User ||
		found.Skills[1] != (skills.Skill{Name: "pdf", Description: "Fills in PDF forms.", Path: ".agents/skills/pdf/SKILL.md"}) {
		t.Errorf("%+v", found.Skills)
	}
	if len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "the skill .claude/skills/bad/SKILL.md is left out: it does not begin with front matter") {
		t.Errorf("%q", found.Notes)
	}
	if list := found.List(false); strings.Count(list, "\n- ")+strings.Count(list, "\n") != 3 || !strings.HasSuffix(list, "\n- pdf: Fills in PDF forms.\n") {
		t.Errorf("%q", list)
	}
	if list := found.List(true); !strings.HasSuffix(list, "\n- review: Reviews.\n") {
		t.Errorf("%q", list)
	}
	rest, listed := skills.Split("Before.\n\n" + found.List(false) + "\n[a note]")
	if len(listed) != 1 || listed[0].Name != "pdf" || listed[0].Line != "- pdf: Fills in PDF forms.\n" || !strings.Contains(rest, "Before.") || !strings.Contains(rest, "[a note]") {
		t.Errorf("%q %+v", rest, listed)
	}

	out, err := found.Tool().Run(t.Context(), &tool.Invocation{Arguments: `{"name": "pdf"}`})
	if err != nil || out.IsError || out.Summary != "skill pdf from .agents/skills/pdf/SKILL.md, the workspace's word" ||
		out.Content != "# PDF\nRun scripts/fill.py.\n\n[files of this skill; read_file reads them]\n.agents/skills/pdf/scripts/fill.py" {
		t.Errorf("%+v, %v", out, err)
	}
	if out, _ := found.Tool().Run(t.Context(), &tool.Invocation{Arguments: `{"name": "review"}`}); !strings.HasSuffix(out.Summary, "the user's own") || out.Content != "Look twice." {
		t.Errorf("%+v", out)
	}
	if out, _ := found.Tool().Run(t.Context(), &tool.Invocation{Arguments: `{"name": "none"}`}); !out.IsError || !strings.Contains(out.Summary, "there are review, pdf") {
		t.Errorf("%+v", out)
	}
	plant(t, filepath.Join(dir, ".agents/skills/pdf/SKILL.md"), "broken now")
	if out, _ := found.Tool().Run(t.Context(), &tool.Invocation{Arguments: `{"name": "pdf"}`}); !out.IsError || !strings.Contains(out.Summary, "cannot be read any more") {
		t.Errorf("%+v", out)
	}
	if !found.Tool().Access(`{"name": "pdf"}`).Confined {
		t.Error("a skill asks")
	}
	if none := skills.Find(open(t, t.TempDir())); none.Tool() != nil || none.List(false) != "" {
		t.Errorf("%+v", none)
	}
}

// A path out of the scope is not a skill, and lists are bounded.
func TestBounds(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	plant(t, filepath.Join(outside, "SKILL.md"), skill("stolen", "x", "secret"))
	if err := os.MkdirAll(filepath.Join(dir, ".agents/skills"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".agents/skills/stolen")); err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		plant(t, fmt.Sprintf("%s/.agents/skills/s%02d/SKILL.md", dir, n), skill(fmt.Sprintf("s%02d", n), strings.Repeat("x", 2000), "body"))
	}
	plant(t, filepath.Join(dir, ".agents/skills/zz/SKILL.md"), skill("zz", "x", strings.Repeat("x", 70<<10)))
	found := skills.Find(open(t, dir))
	list := found.List(false)
	if len(found.Skills) != 60 || len(list) > 13<<10 || !strings.Contains(list, "more skills are not listed]") || strings.Contains(list, strings.Repeat("x", 1024)) {
		t.Errorf("%d skills, %d bytes: %s", len(found.Skills), len(list), list[len(list)-60:])
	}
	if notes := strings.Join(found.Notes, "\n"); len(found.Notes) != 2 || !strings.Contains(notes, "more than 65536") || !strings.Contains(notes, "stolen") {
		t.Errorf("%q", notes)
	}
}

func TestBrokenSkills(t *testing.T) {
	for text, want := range map[string]string{
		"---\nname: a\ndescription: b\n":                    "its front matter has no end",
		"---\nname: a\ndescription: b\n---x\nbody":          "its front matter has no end",
		"---\nname: a\ndescription: b: c\n---\nbody":        "",
		"---\nname: a\n description: b: c\n---\nbody":       "is no YAML (",
		"---\n- a\n---\nbody":                               "does not consist of keys and values",
		"---\nname: A b\ndescription: b\n---\nbody":         "its name must be",
		"---\nname: a--b\ndescription: b\n---\nbody":        "its name must be",
		"---\nname: a\n---\nbody":                           "it has no description",
		"---\nname: a\ndescription: [b]\n---\nbody":         "",
		"---\nname: a\ndescription: b\n---\n \n":            "says nothing below",
		"---\nx: &a y\nname: *a\ndescription: b\n---\nbody": "its name must be",
		"---\nname: a\nname: b\ndescription: b\n---\nbody":  "",
	} {
		dir := t.TempDir()
		plant(t, filepath.Join(dir, ".agents/skills/a/SKILL.md"), text)
		found := skills.Find(open(t, dir))
		if want == "" {
			if len(found.Skills) != 1 {
				t.Errorf("%q: %+v", text, found)
			}
			continue
		}
		if len(found.Skills) != 0 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], want) {
			t.Errorf("%q: %+v, want %q", text, found.Notes, want)
		}
	}
}

// Front matter that is no YAML is read line by line, as Claude Code does; lists stay lists.
func TestLooseFrontMatter(t *testing.T) {
	dir := t.TempDir()
	plant(t, filepath.Join(dir, ".claude/agents/deep/critic.md"), "---\nname: critic\ndescription: Finds faults. Example: user: \"it's bad\"\ntools:\n  - Read\n  - Bash(git add:*, git log)\ndisallowedTools: [Write, \"Edit\"]\nmodel: opus\n---\nBe strict.\n")
	plant(t, filepath.Join(dir, ".claude/agents/none.md"), "---\nname: none\ndescription: x\ntools: []\nmodel: inherit\n---\nx")
	plant(t, filepath.Join(dir, ".claude/agents/zall.md"), "---\nname: zall\ndescription: x\ntools: \"*\"\n---\nx")
	plant(t, filepath.Join(dir, ".claude/agents/zz.md"), "---\nname: zz\ndescription: x\ntools:\n---\nx")
	found := skills.Find(open(t, dir))
	got := fmt.Sprintf("%+v", found.Agents)
	want := fmt.Sprintf("%+v", []skills.Agent{
		{Name: "critic", Description: `Finds faults. Example: user: "it's bad"`, Instructions: "Be strict.", Tools: []string{"Read", "Bash(git add:*, git log)"}, Denied: []string{"Write", "Edit"}, Model: "opus"},
		{Name: "none", Description: "x", Instructions: "x", Tools: []string{}},
		{Name: "zall", Description: "x", Instructions: "x"},
		{Name: "zz", Description: "x", Instructions: "x"},
	})
	if got != want || found.Agents[1].Tools == nil || found.Agents[2].Tools != nil || found.Agents[3].Tools != nil {
		t.Errorf("%s, want %s", got, want)
	}
}

// An agent whose tools podd cannot read is left out: it would have all. One below a directory commands is no command.
func TestAgentsToolsAreReadable(t *testing.T) {
	for front, want := range map[string]string{
		"tools: {read: true}": "its tools is neither text", "a: &x Read\ntools: *x": "its tools is neither text", "tools: [Read, {Bash: true}]": "its tools is neither text",
		"disallowedTools: {write: false}": "its disallowedTools is neither text", "disallowedTools:\n- [Write]": "its disallowedTools is neither text",
		"a: &x {tools: Read}\n<<: *x": "its << is neither text", "tools: [Read, ~]\nhooks: {Stop: []}": "",
	} {
		dir := t.TempDir()
		plant(t, filepath.Join(dir, ".claude/agents/commands/a.md"), "---\nname: a\ndescription: b\n"+front+"\n---\nx")
		found := skills.Find(open(t, dir))
		if want == "" && len(found.Agents) == 1 && fmt.Sprint(found.Agents[0].Tools) == "[Read]" {
			continue
		}
		if want == "" || len(found.Agents) != 0 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], want) {
			t.Errorf("%q: %+v, %q, want %q", front, found.Agents, found.Notes, want)
		}
	}
}

// Many broken agents give few notes; the search ends at the bound of agents. A file without front matter below the top directory is no agent.
func TestManyAgents(t *testing.T) {
	dir := t.TempDir()
	for n := range 80 {
		plant(t, fmt.Sprintf("%s/.claude/agents/a%02d.md", dir, n), "none")
		plant(t, fmt.Sprintf("%s/.claude/agents/b%02d/README.md", dir, n), "About these.")
	}
	found := skills.Find(open(t, dir))
	if len(found.Agents) != 0 || len(found.Notes) != 21 || !strings.Contains(found.Notes[19], "a19.md") || found.Notes[20] != "60 more skills and agents are left out" {
		t.Errorf("%+v, %q", found.Agents, found.Notes)
	}
	dir = t.TempDir()
	for n := range 80 {
		plant(t, fmt.Sprintf("%s/.claude/agents/a%02d.md", dir, n), skill(fmt.Sprintf("a%02d", n), "b", "c"))
	}
	found = skills.Find(open(t, dir))
	if len(found.Agents) != 50 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "a50.md is left out: there are more than 50") {
		t.Errorf("%d agents, %q", len(found.Agents), found.Notes)
	}
}
