package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// measureWork measures a podd that has worked: its memory, the cost of a step late in a long
// turn, and the bytes that a step writes to the disk.
func measureWork(ctx context.Context, r *rig) error {
	const (
		pods, turns = 200, 5
		rest        = 10 * time.Second
	)
	s, err := r.start(ctx, poddKind, filepath.Join(r.dir, "work"), nil)
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := s.freshTurn(ctx, loop(1)); err != nil {
		return err
	}
	_, before, err := memory(s.pid)
	if err != nil {
		return err
	}
	for range pods {
		if err := s.severalTurns(ctx, turns, loop(1)); err != nil {
			return err
		}
	}
	time.Sleep(rest)
	rss, anonymous, err := memory(s.pid)
	if err != nil {
		return err
	}
	r.results.add(rowWorkRSS, r.podd, float64(rss)/mb)
	r.results.add(rowWorkPod, r.podd, float64(anonymous-before)/mb/pods)
	for range r.reps {
		if err := r.longTurn(ctx, s); err != nil {
			return err
		}
	}
	return r.writes(ctx, s)
}

// writes counts the bytes that a step writes to the database, with strace if it is installed.
// The kernel's own count has whole folios, of which a commit writes a part.
func (r *rig) writes(ctx context.Context, s *subject) error {
	const few, many = 20, 120
	session, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	var written [2]int64
	for i, steps := range []int{few, many} {
		if written[i], err = session.traced(ctx, loop(steps), filepath.Join(r.dir, "writes")); err != nil {
			r.results.note("Writes were not counted: %v.", err)
			return nil
		}
	}
	r.results.add(rowWorkWritten, r.podd, float64(written[1]-written[0])/1024/(many-few))
	return nil
}

// writeCall is a line of strace, with what the call returned.
var writeCall = regexp.MustCompile(`(?m)pwrite64.*\)\s+= (\d+)$`)

// traced runs a turn under strace, which writes to a file, and sums up what podd wrote at offsets
// of files: of a step, only to the database.
func (s *session) traced(ctx context.Context, prompt, file string) (written int64, err error) {
	strace := exec.CommandContext(ctx, "strace", "-f", "-p", strconv.Itoa(s.subject.pid), "-o", file, "-e", "trace=pwrite64")
	said, err := strace.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := strace.Start(); err != nil {
		return 0, err
	}
	lines := bufio.NewReader(said)
	attached, _ := lines.ReadString('\n')
	_, failed := s.turn(ctx, prompt)
	_ = strace.Process.Signal(os.Interrupt)
	_, _ = io.Copy(io.Discard, lines)
	_ = strace.Wait()
	text, err := os.ReadFile(file)
	for _, call := range writeCall.FindAllSubmatch(text, -1) {
		n, _ := strconv.ParseInt(string(call[1]), 10, 64)
		written += n
	}
	if written == 0 && err == nil {
		err = errors.New(strings.TrimSpace(attached))
	}
	return written, errors.Join(failed, err)
}

// longTurn runs a long turn of a new pod. It compares the processor time of steps at its
// end with that of as many at its start, after warm ones.
func (r *rig) longTurn(ctx context.Context, s *subject) error {
	const many, warm, part = 2000, 100, 200
	session, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	used := map[int]time.Duration{warm: 0, warm + part: 0, many - part: 0, many: 0}
	session.step = func(n int) error {
		if _, ok := used[n]; !ok {
			return nil
		}
		used[n], err = cpu(s.pid)
		return err
	}
	if _, err := session.turn(ctx, loop(many)); err != nil {
		return err
	}
	r.results.add(rowWorkGrowth, r.podd, float64(used[many]-used[many-part])/float64(used[warm+part]-used[warm]))
	return nil
}

// severalTurns runs turns of one new pod.
func (s *subject) severalTurns(ctx context.Context, n int, prompt string) error {
	session, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	for range n {
		if _, err := session.turn(ctx, prompt); err != nil {
			return err
		}
	}
	return nil
}
