package sessions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// agent is where an agent stores its sessions, and how.
type agent struct {
	// home is the directory, of which the variable names another one.
	home, variable string
	globs          []string
	read           func(*file, *Session) error
	// list and export, if any, are the arguments of the agent's program, which has a database instead of files: they list the
	// sessions as JSON, and write the one whose id follows.
	list, export []string
}

// The program runs in the home directory: a project's own configuration could make opencode run what the project says.
var agents = map[string]agent{
	"claude": {home: ".claude", variable: "CLAUDE_CONFIG_DIR", globs: []string{"projects/*/*.jsonl"}, read: readClaude},
	"codex": {home: ".codex", variable: "CODEX_HOME", globs: []string{"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"},
		read: readCodex},
	"opencode": {read: readOpencode, export: []string{"export"},
		list: []string{"db", "SELECT id, directory, title, time_updated FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC", "--format", "json"}},
	"pi": {home: ".pi/agent", variable: "PI_CODING_AGENT_DIR", globs: []string{"sessions/*/*.jsonl"}, read: readPi},
}

// Agents are those whose sessions can be read.
func Agents() []string { return slices.Sorted(maps.Keys(agents)) }

// Stored is a session that an agent stored: in a file, or where only the agent's program reads it.
type Stored struct {
	Agent, ID string
	// File is empty if the program has it. Then the program says the title, and the time of the last change.
	File, Title string
	Time        time.Time
	dir         string
}

// List lists the sessions of an agent, the newest first. The error is one sentence.
func List(ctx context.Context, name string, env func(string) string) ([]Stored, error) {
	a := agents[name]
	if a.list != nil {
		return a.listed(ctx, name, env("HOME"))
	}
	var found []Stored
	home := cmp.Or(env(a.variable), filepath.Join(env("HOME"), a.home))
	for _, glob := range a.globs {
		paths, _ := filepath.Glob(filepath.Join(quoted(home), glob))
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(filepath.Base(path), "agent-") {
				found = append(found, Stored{Agent: name, ID: idOf(path), File: path, Time: info.ModTime()})
			}
		}
	}
	slices.SortFunc(found, func(a, b Stored) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.File, b.File)) })
	if len(found) == 0 {
		return nil, fmt.Errorf("no session of %s in %s", name, home)
	}
	return found, nil
}

// listed are the sessions that the agent's program lists.
func (a agent) listed(ctx context.Context, name, home string) ([]Stored, error) {
	var out bytes.Buffer
	if err := run(ctx, name, home, &out, a.list...); err != nil {
		return nil, err
	}
	var rows []struct {
		ID, Directory, Title string
		Updated              float64 `json:"time_updated"`
	}
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil && out.Len() > 0 {
		return nil, fmt.Errorf("%s lists its sessions in another form: %s export ID > FILE, then podctl import %s FILE", name, name, name)
	}
	found := make([]Stored, len(rows))
	for i, r := range rows {
		found[i] = Stored{Agent: name, ID: r.ID, Title: r.Title, Time: millis(r.Updated), dir: r.Directory}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no session", name)
	}
	return found, nil
}

// run runs the program of an agent. Its output is a file or short: opencode does not write all of a long one to a pipe.
func run(ctx context.Context, name, home string, out io.Writer, args ...string) error {
	if home == "" {
		return fmt.Errorf("cannot run %s: HOME is not set", name)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = home, out, &said, time.Second
	err := cmd.Run()
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not on the PATH: where it is, %s export ID > FILE, then podctl import %s FILE", name, name, name)
	}
	lines := strings.Fields(cut(said.String(), 1000))
	return fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.Join(lines, " "))
}

// Dir is where a session worked; empty if the beginning of its file does not say.
func (s Stored) Dir() string {
	if s.File == "" {
		return s.dir
	}
	return dirOf(s.File)
}

// Read reads a session. The error is one sentence.
func (s Stored) Read(ctx context.Context, env func(string) string) (*Session, error) {
	if s.File != "" {
		return Read(s.Agent, s.File)
	}
	f, err := os.CreateTemp("", "podctl-import-")
	if err != nil {
		return nil, fmt.Errorf("cannot write what %s exports: %w", s.Agent, err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := run(ctx, s.Agent, env("HOME"), f, append(slices.Clone(agents[s.Agent].export), s.ID)...); err != nil {
		return nil, err
	}
	read, err := Read(s.Agent, f.Name())
	if err != nil {
		return nil, err
	}
	read.File = s.Agent + " export " + s.ID
	return read, nil
}
