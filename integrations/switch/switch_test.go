//go:build integrations && switch

package switches

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"podd/integrations/rig"
)

// A task is what a person does with Claude Code or Codex, and with podd. Each line is for a shell in a directory of its own, which is a git
// repository; all of them must print what want matches. An empty line: that program cannot do it without a terminal.
type task struct {
	name  string
	files map[string]string
	// home are files of the person, below the home directory.
	home                map[string]string
	claude, codex, podd string
	want                string
}

// desk has the three programs at one model.
type desk struct {
	w   *rig.World
	env []string
}

func newDesk(t *testing.T) *desk {
	w := rig.Prepare(t, answer)
	model := ""
	for _, v := range w.Env {
		if url, ok := strings.CutPrefix(v, "OPENAI_BASE_URL="); ok {
			model = url
		}
	}
	url := lenient(t, model)
	bin := filepath.Join(w.Dir, "bin")
	tmp := filepath.Join(w.Dir, "tmp") // Codex has no sandbox if its home directory is below TMPDIR.
	write(t, filepath.Join(tmp, "here"), "", 0o600)
	for name, program := range programs(t) {
		write(t, filepath.Join(bin, name), fmt.Sprintf("#!/bin/sh\nTMPDIR=%q exec %q \"$@\" 2>>%q\n", tmp, program, filepath.Join(w.Dir, name+".log")), 0o755)
	}
	codex := fmt.Sprintf("model = \"gpt-5.1\"\nmodel_provider = \"here\"\n[model_providers.here]\nname = \"here\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n", url+"/v1")
	write(t, filepath.Join(w.Dir, ".codex", "config.toml"), codex, 0o600)
	w.Configure("[[rule]]\ntool = \"mcp__every__echo\"\ndecision = \"allow\"\n[hooks]\nclaude = [\".claude/settings.json\"]\n")
	w.Start()
	return &desk{w: w, env: append(w.Env, "PATH="+bin+string(os.PathListSeparator)+path(w.Env), "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=test",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false", "MCP_CONNECTION_NONBLOCKING=false", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")}
}

func path(env []string) string {
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			return p
		}
	}
	return ""
}

// programs are Claude Code and Codex, as npm has them for this machine.
func programs(t *testing.T) map[string]string {
	if runtime.GOARCH != "amd64" {
		t.Fatalf("the programs are installed for x64, and this is %s", runtime.GOARCH)
	}
	modules := filepath.Join(rig.Root(), "integrations", "switch", "npm", "node_modules")
	found := map[string]string{}
	for name, pattern := range map[string]string{"claude": "@anthropic-ai/claude-code-linux-x64/claude", "codex": "@openai/codex-linux-x64/vendor/*/bin/codex"} {
		paths, err := filepath.Glob(filepath.Join(modules, pattern))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s is not below %s: run make switch-test, which installs it", name, modules)
		}
		found[name] = paths[0]
	}
	return found
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// do runs a line in a new directory with the files of a task, and returns what it prints.
func (d *desk) do(t *testing.T, k task, who, line string) string {
	t.Helper()
	dir := filepath.Join(d.w.Dir, "tasks", strings.ReplaceAll(k.name, " ", "-")+"-"+who)
	write(t, filepath.Join(dir, "README.md"), "hello\n", 0o644)
	for name, text := range k.files {
		write(t, filepath.Join(dir, name), text, 0o755)
	}
	for name, text := range k.home {
		write(t, filepath.Join(d.w.Dir, name), text, 0o755)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", "git init -q . && git add README.md && git commit -qm first\n"+line)
	c.Dir, c.Env, c.WaitDelay = dir, d.env, time.Second
	out, err := c.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(d.w.Dir, who+".log"))
		return fmt.Sprintf("%s\nfailed: %v\n%s", out, err, log[max(0, len(log)-2000):])
	}
	return string(out)
}

// What the page says of the three programs is true of them.
func TestSwitch(t *testing.T) {
	d := newDesk(t)
	for _, k := range tasks(t) {
		t.Run(k.name, func(t *testing.T) {
			want := regexp.MustCompile(`(?m)` + k.want)
			for who, line := range map[string]string{"claude": k.claude, "codex": k.codex, "podd": k.podd} {
				if line == "" {
					continue
				}
				if got := d.do(t, k, who, line); !want.MatchString(got) {
					t.Errorf("%s: %s\nprints\n%s\nand that has no %q", who, line, got, k.want)
				}
			}
		})
	}
}

// Each command of the page that works without a terminal is in a task.
func TestPageIsTried(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "coming-from.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tried strings.Builder
	for _, k := range tasks(t) {
		tried.WriteString(k.claude + "\n" + k.codex + "\n" + k.podd + "\n")
	}
	for _, m := range regexp.MustCompile("`(claude -p|codex exec)( [a-z]+| --?[a-z-]+)?[^`]*`").FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(tried.String(), m[1]) || !strings.Contains(tried.String(), strings.TrimSpace(m[2])) {
			t.Errorf("no task does %s", m[0])
		}
	}
}
