package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"podd/internal/guard/sandbox"
)

// The cost of making the command line.
func BenchmarkCommand(b *testing.B) {
	for _, mode := range modes {
		b.Run(mode, func(b *testing.B) {
			h := newHouse(b)
			s := h.sandbox(mode)
			scope, done := h.scope()
			defer done()
			b.ReportAllocs()
			for b.Loop() {
				c, err := s.Command(scope, 3, "/bin/true")
				if err != nil {
					b.Fatal(err)
				}
				c.Close()
			}
		})
	}
}

// part is a command line of bwrap without some options. An option is named alone or with
// its first argument.
type part struct {
	name    string
	without []string
}

// The cost of the parts of bwrap's work. Each part is omitted from podd's command line,
// and all variants run alternately, so that a busy moment affects all of them. The result
// is medians of processor time, in milliseconds: that of bwrap, of what it runs and of
// their end.
func BenchmarkParts(b *testing.B) {
	h := newHouse(b)
	s := h.sandbox(sandbox.Bwrap)
	mounts := []string{"--proc", "--dev", "--remount-ro", "--size", "--tmpfs", "--bind-fd", "--ro-bind-fd", "--ro-bind-try", "--ro-bind /dev/null"}
	namespaces := []string{"--unshare-net", "--disable-userns", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"}
	parts := []part{
		{"all", nil},
		{"without-network", []string{"--unshare-net"}},
		{"without-nested", []string{"--disable-userns"}},
		{"without-filter", []string{"--seccomp"}},
		{"without-dev", []string{"--dev", "--remount-ro", "--size", "--tmpfs /dev/shm"}},
		{"without-mounts", mounts},
		{"least", slices.Concat(mounts, namespaces, []string{"--seccomp", "--cap-drop"})},
	}
	// bwrap ends before its first process inside, which this process then reaps.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, p := range parts {
			took[p.name] = append(took[p.name], h.took(s, p))
		}
		took["no-sandbox"] = append(took["no-sandbox"], h.processor(exec.Command("/bin/true")))
	}
	for name, all := range took {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name+"-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// took is the processor time of bwrap without a part of its work.
func (h *house) took(s *sandbox.Sandbox, p part) time.Duration {
	h.t.Helper()
	scope, done := h.scope()
	defer done()
	c, err := s.Command(scope, 3, "/bin/true")
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	cmd := exec.Command(c.Args[0], less(c.Args[1:], p.without)...)
	cmd.Dir, cmd.ExtraFiles, cmd.Env = scope.Dir, c.Files, []string{"PATH=" + os.Getenv("PATH")}
	return h.processor(cmd)
}

// processor is the processor time of a command and of all that it leaves behind.
func (h *house) processor(cmd *exec.Cmd) time.Duration {
	h.t.Helper()
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("%s: %v", cmd, err)
	}
	sum := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	for {
		var usage unix.Rusage
		switch _, err := unix.Wait4(-1, nil, 0, &usage); {
		case errors.Is(err, unix.ECHILD):
			return sum
		case err == nil:
			sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
}

// less is a command line of bwrap without some of its options.
func less(args, without []string) []string {
	var rest []string
	for i := 0; i < len(args); {
		if args[i] == "--" {
			return append(rest, args[i:]...)
		}
		end := i + 1
		for !strings.HasPrefix(args[end], "--") {
			end++
		}
		if !slices.Contains(without, args[i]) && !slices.Contains(without, strings.Join(args[i:min(i+2, end)], " ")) {
			rest = append(rest, args[i:end]...)
		}
		i = end
	}
	return rest
}
