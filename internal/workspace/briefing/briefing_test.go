package briefing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/workspace/briefing"
)

// podd itself adds at most 900 tokens to each request, whatever the names of the pod's
// directories.
func TestWhatPoddSaysIsShort(t *testing.T) {
	base, err := briefing.Base(briefing.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	long := "/" + strings.Repeat("long/", 800)
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf("/srv/%d/\x1b/%s", i, strings.Repeat("ü", 20))
	}
	longest := 0
	for _, sandbox := range []briefing.Sandbox{{}, {Confines: true}, {Confines: true, Network: true}, {Refused: true}, {Unasked: true}} {
		for _, ask := range []string{"never", "risky", "always"} {
			for _, roots := range [][]string{many, {long}} {
				e := briefing.Environment{
					Dir: long, Write: roots, Read: roots, Shell: long, Sandbox: sandbox, Ask: ask, Parent: strings.Repeat("p", 63),
				}
				longest = max(longest, len(e.Text()))
			}
		}
	}
	if total := len(base) + longest; total > 3600 || longest < 1000 {
		t.Errorf("the built-in instructions have %d bytes, the longest environment %d: together more than 3600", len(base), longest)
	}
}

func TestBadBaseInstructionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	for setting, want := range map[string]string{
		"own.md":                   `must be "builtin", "none" or the absolute path of a file, not own.md`,
		"Builtin":                  "not Builtin",
		filepath.Join(dir, "gone"): "gone cannot be read: no such file",
		dir:                        "is not a regular file",
		fifo:                       "is not a regular file",
		file("latin", "caf\xe9"):   "latin is not UTF-8 text",
		file("large", strings.Repeat("a", 32<<10+1)): "large has more than 32768 bytes: shorten it",
	} {
		text, err := briefing.Base(setting)
		if err == nil || text != "" || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "base_instructions") {
			t.Errorf("%q gives %q and the error %v, want %q", setting, text, err, want)
		}
	}
	exact := strings.Repeat("a", 32<<10)
	for setting, want := range map[string]string{"none": "", file("exact", exact): exact, file("empty", ""): ""} {
		if text, err := briefing.Base(setting); err != nil || text != want {
			t.Errorf("%q gives %d bytes and the error %v", setting, len(text), err)
		}
	}
}

func TestEnvironmentSaysWhatCommandsMayDo(t *testing.T) {
	for _, tt := range []struct {
		e     briefing.Environment
		says  []string
		never string
	}{
		{
			briefing.Environment{Dir: "/w", Write: []string{"/a b", "/o"}, Read: []string{"/r"}, Shell: "/bin/bash", Sandbox: briefing.Sandbox{Confines: true}, Ask: "risky"},
			[]string{"Workspace: /w\n", "read and write: /a b, /o\n", "only read: /r\n", "with /bin/bash. A sandbox keeps them", "and from the network", "waits until a person allows it"},
			"gave you your task",
		},
		{
			briefing.Environment{Dir: "/w", Shell: "sh", Sandbox: briefing.Sandbox{Confines: true, Network: true}, Ask: "never", Parent: "boss"},
			[]string{"they reach the network", "podd asks no one", "The pod boss gave you your task"}, "read and write",
		},
		{briefing.Environment{Dir: "/w", Shell: "sh", Sandbox: briefing.Sandbox{Unasked: true}, Ask: "always"}, []string{"without a sandbox, with all rights", "each call waits"}, "keeps them"},
		{briefing.Environment{Dir: "/w", Shell: "sh", Sandbox: briefing.Sandbox{Refused: true}}, []string{"podd refuses them"}, "keeps them"},
		{briefing.Environment{Dir: "/w", Shell: "sh"}, []string{"a person has to approve them"}, "keeps them"},
		{briefing.Environment{Dir: "/w"}, []string{"Workspace: /w"}, "Commands"},
	} {
		text := tt.e.Text()
		for _, want := range tt.says {
			if !strings.Contains(text, want) {
				t.Errorf("%+v does not say %q:\n%s", tt.e, want, text)
			}
		}
		if strings.Contains(text, tt.never) {
			t.Errorf("%+v says %q:\n%s", tt.e, tt.never, text)
		}
	}
}

func TestStateIsTheDayTheZoneAndTheCommit(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	commit := strings.Repeat("0123456789", 4)
	for _, tt := range []struct {
		at   time.Time
		head briefing.Head
		want string
	}{
		{time.Date(2026, 11, 23, 23, 59, 0, 0, berlin), briefing.Head{}, "Today is Monday, 23 November 2026, time zone CET (UTC+01:00).\n"},
		{time.Date(2026, 3, 1, 0, 0, 0, 0, time.FixedZone("", -5400)), briefing.Head{}, "Today is Sunday, 1 March 2026, time zone UTC-01:30.\n"},
		{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), briefing.Head{Branch: "main", Commit: commit}, "Today is Sunday, 1 March 2026, time zone UTC (UTC+00:00).\ngit: branch main, commit 012345678901.\n"},
		{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), briefing.Head{Branch: "new"}, "Today is Sunday, 1 March 2026, time zone UTC (UTC+00:00).\ngit: branch new, no commit yet.\n"},
		{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), briefing.Head{Commit: commit}, "Today is Sunday, 1 March 2026, time zone UTC (UTC+00:00).\ngit: no branch, HEAD is commit 012345678901.\n"},
	} {
		if got := briefing.State(tt.at, tt.head, nil); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestStateNamesTheRunningJobs(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	if got := briefing.State(at, briefing.Head{}, []string{"1 (npm run dev)", "3 (make)"}); !strings.HasSuffix(got, ").\nRunning jobs: 1 (npm run dev), 3 (make).\n") {
		t.Errorf("the state is %q", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
