package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/commands/confine"
	"podd/internal/web"
)

// children are the processes that this one started with the verb of podd web's child.
func children(t *testing.T) (pids []int) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	check(t, err)
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(text)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			if args := strings.Split(string(line), "\x00"); len(args) > 1 && args[1] == web.ChildVerb {
				n, err := strconv.Atoi(pid)
				check(t, err)
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// child waits for the one child that is not old.
func child(t *testing.T, old int) int {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if pids := children(t); len(pids) == 1 && pids[0] != old {
			return pids[0]
		}
	}
	t.Fatal("podd web has no child")
	return 0
}

// The process that serves the page is confined, and has nothing but its sockets.
func TestConfined(t *testing.T) {
	s := newStage(t)
	bearer := s.pair(view).Login()
	pid := child(t, 0)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	check(t, err)
	// This process may have filters too, and Landlock comes with one.
	filters := 1
	own, err := os.ReadFile("/proc/self/status")
	check(t, err)
	for line := range strings.Lines(string(own)) {
		if n, ok := strings.CutPrefix(line, "Seccomp_filters:\t"); ok {
			has, err := strconv.Atoi(strings.TrimSpace(n))
			check(t, err)
			filters += has
		}
	}
	if confine.Version() >= confine.MinVersion {
		filters++
	}
	for _, want := range []string{"Seccomp:\t2", fmt.Sprintf("Seccomp_filters:\t%d", filters), "NoNewPrivs:\t1"} {
		if !slices.Contains(strings.Split(string(text), "\n"), want) {
			t.Errorf("the child has not %q: %s", want, text)
		}
	}
	// So have all its threads.
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	check(t, err)
	for _, task := range tasks {
		if text, err := os.ReadFile(task); err == nil && !strings.Contains(string(text), "Seccomp:\t2") {
			t.Errorf("the thread %s has no filter", task)
		}
	}
	if environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err != nil || len(environ) > 0 {
		t.Errorf("the child has the environment %q, %v", environ, err)
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	check(t, err)
	for _, file := range files {
		// Standard error is a pipe to the parent; the runtime waits with the others.
		where, _ := os.Readlink(file)
		if kind, _, _ := strings.Cut(where, ":"); kind != "socket" && kind != "anon_inode" && kind != "pipe" && where != "" {
			t.Errorf("the child has %s open", where)
		}
	}
	// A child that ends is replaced, and the page goes on with its bearer.
	check(t, syscall.Kill(pid, syscall.SIGKILL))
	child(t, pid)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		a := s.Call("/podd.v1.PodService/GetPod", bearer, `{"pod":"p"}`)
		if a.Status == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the next child answers with %d %s %v", a.Status, a.Body, a.Err)
		}
	}
}
