package skills_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"podd/internal/workspace/skills"
	"podd/pkg/item"
)

// Commands are a person's own, those of plugins, skills, and the workspace's, which replace none; directories are parts of their names.
func TestCommands(t *testing.T) {
	home, work, plugin := t.TempDir(), t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		home + "/podd/review.md": "podd's", home + "/claude/review.md": "Claude's", home + "/claude/front/ui/test.md": "---\nargument-hint: [where] [how]\n---\nTest.",
		work + "/.claude/commands/front/lint.md": "Lint.", work + "/.claude/commands/my review\x1b.md": "Mine\u202e.", work + "/.claude/commands/speckit.Plan.md": "---\ndescription: plans: all\narguments:\n  - what\n---\nPlan $what.",
		work + "/.agents/skills/greet/SKILL.md":     "---\nname: greet\ndescription: Greets.\nargument-hint: who\n---\nSay hello to $ARGUMENTS with ${CLAUDE_SKILL_DIR}/x.",
		work + "/.claude/commands/guard/sub/run.md": "Stolen.", work + "/.claude/commands/guard/tidy.md": "Stolen.",
		plugin + "/commands/sub/run.md": "Run ${CLAUDE_PLUGIN_ROOT}/bin.", plugin + "/skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies.\n---\nTidy.",
		plugin + "/shadow/SKILL.md": "---\nname: shadow\ndescription: It is not listed.\n---\nx",
	} {
		plant(t, path, text)
	}
	fs := open(t, work, plugin)
	found := skills.Find(fs, skills.Dir{Path: plugin, Plugin: "guard"})
	var got []string
	for _, p := range found.Prompts([]string{home + "/podd", home + "/claude", home + "/none"}) {
		list, err := p.With([]item.Segment{item.TextSegment{Text: "Ada"}})
		text := fmt.Sprint(err)
		if err == nil {
			text = list[0].(item.TextSegment).Text
		}
		got = append(got, strings.ReplaceAll(fmt.Sprintf("%s|%s|%s|%s", p.Name, p.Description(), p.Arguments(), text), plugin, "PLUGIN"))
	}
	tidy := fs.Rel(plugin + "/skills/tidy")
	want := []string{
		"review|Sends your prompt review||podd's\n\nAda", "front:ui:test|Sends your prompt front:ui:test|[where] [how]|Test.\n\nAda",
		"guard:sub:run|Sends your prompt guard:sub:run||Run PLUGIN/bin.\n\nAda",
		"guard:tidy|Tidies.|task|Tidy.\n\n[This is the skill tidy. Its files are in " + strings.ReplaceAll(tidy, plugin, "PLUGIN") + ".]\n\nAda",
		"front:lint|Sends your prompt front:lint||Lint.\n\nAda", "my-review-|Sends your prompt my-review-||Mine.\n\nAda", "speckit.Plan|plans: all|what|Plan Ada.",
		"greet|Greets.|who|Say hello to Ada with .agents/skills/greet/x.\n\n[This is the skill greet. Its files are in .agents/skills/greet.]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What cannot be used says why, a workspace leads nowhere else, and no tree of directories is too much.
func TestBadCommands(t *testing.T) {
	home, work, outside := t.TempDir(), t.TempDir(), t.TempDir()
	plant(t, outside+"/secret.md", "secret")
	plant(t, home+"/long.md", strings.Repeat("x", 64<<10+1))
	plant(t, home+"/data.md", "\xff")
	plant(t, home+"/broken.md", "---\n[: x\n---\nUse it.")
	plant(t, home+"/list.md", "---\n- a\n---\nUse it.")
	plant(t, home+"/blank.md", "---\ndescription: x\n---\n\n")
	plant(t, home+"/.hidden.md", "x")
	plant(t, home+"/note.txt", "x")
	plant(t, work+"/.claude/commands/long.md", strings.Repeat("x", 64<<10+1))
	plant(t, work+"/.claude/commands/huge.md", strings.Repeat("x", 64<<10+1))
	for link, to := range map[string]string{
		home + "/loop.md": "loop.md", home + "/self": ".", home + "/linked.md": outside + "/secret.md", home + "/shared": outside, home + "/gone.md": "nowhere",
		work + "/.claude/commands/out.md": outside + "/secret.md", work + "/.claude/commands/outside": outside, work + "/.agents": outside,
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	deep := work + "/.claude/commands/" + strings.Repeat("d/", 20)
	plant(t, deep+"x.md", "x")
	for n := range 150 {
		plant(t, fmt.Sprintf("%s/.claude/commands/w%03d/x.md", work, n), "x")
	}
	got := map[string]string{}
	for _, p := range skills.Find(open(t, work)).Prompts([]string{home}) {
		if got[p.Name] = p.Description(); p.Wrong == nil {
			got[p.Name] += " " + p.Text
		}
	}
	for name, want := range map[string]string{
		"long": "of your own of at most 64 KiB: own it, and move", "data": "it is not text", "broken": "is no YAML (", "list": "its front matter does not consist of keys and values", "blank": "it says nothing", "loop": "too many levels of symbolic links",
		"linked": "secret", "shared:secret": "secret", "gone": "no such file", "huge": "more than 65536", "out": "outside", "w050:x": "x",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	for _, name := range []string{"self:linked", "outside:secret", "secret", "note", ".hidden", "w149:x", strings.Repeat("d:", 20) + "x"} {
		if text, there := got[name]; there {
			t.Errorf("%s is there: %q", name, text)
		}
	}
}

// However many commands and skills a workspace has, few are read, and all its directories have one bound together.
func TestManyCommands(t *testing.T) {
	work, big := t.TempDir(), strings.Repeat("x", 60<<10)
	for n := range 60 {
		plant(t, fmt.Sprintf("%s/.agents/commands/a%02d.md", work, n), big)
		plant(t, fmt.Sprintf("%s/.claude/commands/b%02d.md", work, n), big)
		plant(t, fmt.Sprintf("%s/.claude/skills/c%02d/SKILL.md", work, n), skill(fmt.Sprintf("c%02d", n), "x", big))
	}
	size := 0
	for _, p := range skills.Find(open(t, work)).Prompts(nil) {
		size += len(p.Text)
	}
	if size < 4<<20 || size > 5<<20 {
		t.Errorf("%d bytes", size)
	}
	work = t.TempDir()
	for n := range 150 {
		plant(t, fmt.Sprintf("%s/.agents/commands/a%03d.md", work, n), "x")
		plant(t, fmt.Sprintf("%s/.claude/commands/b%03d.md", work, n), "x")
	}
	if list := skills.Find(open(t, work)).Prompts(nil); len(list) != 200 {
		t.Errorf("%d commands", len(list))
	}
}
