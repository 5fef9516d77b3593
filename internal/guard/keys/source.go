package keys

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"podd/internal/commands/process"
	"podd/internal/guard/secrets"
)

const (
	// DefaultTTL is how long the key of a command counts.
	DefaultTTL = 15 * time.Minute
	// CommandTime bounds a command that prints a key.
	CommandTime = 30 * time.Second
	// maxOutput is far above any key, in bytes.
	maxOutput = 16 << 10
	// grace is the time between SIGTERM and SIGKILL.
	grace = time.Second
)

// Source says where the key of an endpoint is from: Value, File or Command, or none.
type Source struct {
	// Setting is what a person changes for another key: "OPENAI_API_KEY",
	// "endpoints.work.key_file". Empty means that no key is sent.
	Setting string
	// Value is the key of a variable, which does not change while podd runs, or that of File
	// when the configuration was read.
	Value string
	// File has mode 0600.
	File string
	// Command prints the key. It runs without a shell, with Environ.
	Command []string
	Environ []string
	// TTL is how long the key of a command counts; 0 means DefaultTTL.
	TTL time.Duration
	// Limit bounds the command; 0 means CommandTime.
	Limit time.Duration
}

// changes says whether another key can be had now.
func (s Source) changes() bool { return s.File != "" || len(s.Command) > 0 }

// read gets the key. Its error is one sentence.
func (s Source) read(ctx context.Context) (string, error) {
	switch {
	case s.File != "":
		key, err := secrets.ReadFile(s.File)
		if err == nil && !Valid(key) {
			err = fmt.Errorf("the key file %s has more than a key of printable ASCII characters on one line", s.File)
		}
		return key, err
	case len(s.Command) > 0:
		return s.run(ctx)
	}
	return s.Value, nil
}

// Valid says whether a text can be a key: it goes into a header.
func Valid(key string) bool {
	return !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// run runs the command and ends everything that it started.
func (s Source) run(ctx context.Context) (string, error) {
	limit := cmp.Or(s.Limit, CommandTime)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var stdout, stderr bounded
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Env, cmd.Dir = s.Environ, "/"
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = grace
	tree, err := process.Start(cmd)
	if err != nil {
		return "", fmt.Errorf("the command of %s does not start: %w", s.Setting, err)
	}
	select {
	case <-tree.Exited():
	case <-ctx.Done():
	}
	ended := ctx.Err() == nil
	tree.Stop(grace)
	if !ended {
		return "", fmt.Errorf("the command of %s did not end within %s: %w", s.Setting, limit, ctx.Err())
	}
	key := strings.TrimSpace(stdout.String())
	switch {
	case !tree.State().Success():
		// What it says may have a key: only the first line, and it is redacted like any text.
		said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("the command of %s failed (%s): %.200s", s.Setting, tree.State(), said)
	case key == "" || stdout.over || !Valid(key):
		return "", fmt.Errorf("the command of %s printed no key: it must print one line of printable ASCII characters", s.Setting)
	}
	return key, nil
}

// bounded keeps the beginning of what is written.
type bounded struct {
	bytes.Buffer
	over bool
}

// Write keeps p as far as there is room.
func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), maxOutput-b.Len())
	b.over = b.over || room < len(p)
	b.Buffer.Write(p[:room])
	return len(p), nil
}
