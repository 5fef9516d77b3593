package process

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// What a control group keeps for podd itself when commands use up the rest.
const (
	leastTasks  = 64
	leastMemory = 128 << 20
)

// subgroup is the group in which podd's unit starts podd, below the one that systemd gave to it.
const subgroup = "podd"

// group is the control group that limits the number of this process's tasks.
type group struct {
	// dir is the group's, home the one in which podd may make groups; empty without any.
	dir, home string
	unified   bool
	// limit is the lowest of its limits, math.MaxInt without one.
	limit int
}

// own is the group of this process, as it was started.
var own = sync.OnceValue(func() (g group) {
	g.limit = math.MaxInt
	if g.dir, g.unified = ownDir(); g.dir == "" {
		return g
	}
	from := g.dir
	switch {
	case !g.unified:
		g.home = g.dir
	case filepath.Base(g.dir) == subgroup:
		// Where a group has processes, the kernel does not limit groups below it.
		g.home = filepath.Dir(g.dir)
		from = g.home
	}
	g.limit = lowest(from, "pids.max")
	return g
})

// ownDir is the directory of the group that counts this process's tasks.
func ownDir() (dir string, unified bool) {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	path, kind := "", "cgroup2"
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, at, _ := strings.Cut(rest, ":")
		switch {
		case controllers == "" && path == "":
			path = at
		case strings.Contains(","+controllers+",", ",pids,"):
			path, kind = at, "cgroup"
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		place, system, _ := strings.Cut(line, " - ")
		fields, of := strings.Fields(place), strings.Fields(system)
		if len(fields) < 5 || len(of) < 3 || of[0] != kind || kind == "cgroup" && !strings.Contains(","+of[2]+",", ",pids,") {
			continue
		}
		below, ok := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/"))
		if dir = filepath.Join(fields[4], below); ok {
			return dir, kind == "cgroup2"
		}
	}
	return "", false
}

// lowest is the lowest limit of a group and those above it, math.MaxInt without one.
func lowest(dir, file string) int {
	limit := math.MaxInt
	for ; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return limit
		}
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			limit = min(limit, n)
		}
	}
}

// CommandGroup makes a control group for commands, which leaves to podd some of the tasks and of the memory
// that its own group may use: what fails then is a command. It returns the group's directory, for Limits; empty
// where there is no limit, or podd must not make groups. remove removes it, unless a command is in it.
func CommandGroup() (dir string, remove func()) {
	g := own()
	if g.home == "" || g.limit == math.MaxInt {
		return "", func() {}
	}
	dir = filepath.Join(g.home, "podd-commands")
	if g.make(dir) != nil {
		_ = os.Remove(dir)
		return "", func() {}
	}
	return dir, func() { _ = os.Remove(dir) }
}

func (g group) make(dir string) error {
	set := func(dir, file string, value string) error {
		return os.WriteFile(filepath.Join(dir, file), []byte(value), 0o600)
	}
	memory := math.MaxInt
	if g.unified {
		if err := set(g.home, "cgroup.subtree_control", "+pids"); err != nil {
			return err
		}
		if set(g.home, "cgroup.subtree_control", "+memory") == nil {
			memory = lowest(g.home, "memory.max")
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if memory != math.MaxInt {
		kept := min(max(leastMemory, memory/8), memory/4)
		// Without it commands are still the first that the kernel ends.
		_ = set(dir, "memory.max", strconv.Itoa(memory-kept))
	}
	return set(dir, "pids.max", strconv.Itoa(g.limit-g.kept()))
}

// kept is how many tasks are podd's.
func (g group) kept() int { return min(leastTasks+g.limit/16, g.limit/2) }

// Crowded says whether hardly more tasks than podd needs are left in its control group, and how many all
// commands together may have.
func Crowded() (most int, crowded bool) {
	g := own()
	if g.limit == math.MaxInt {
		return 0, false
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "pids.current"))
	now, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	return g.limit - g.kept(), err == nil && bad == nil && now > g.limit-g.kept()/2
}

// Tasks is how many threads the processes of the tree have.
func (t *Tree) Tasks() (tasks int) {
	const threads = 17
	for _, pid := range t.family() {
		if fields := statOf(pid); len(fields) > threads {
			n, _ := strconv.Atoi(fields[threads])
			tasks += n
		}
	}
	return tasks
}

// blockFor waits in a system call.
func blockFor(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil)
}
