package process

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Exceeds says whether the processes of the tree hold more memory than limit, in bytes,
// and how much. It counts what is in memory or swapped out and is no part of a file:
// reserved address space is not counted, what processes share is counted once. It does
// not see what no process has mapped (a memfd that is only written, a file in a tmpfs)
// and what the kernel holds for them.
//
// A tree that left its session is followed by parents, and by the mark where those are
// gone. The look is cheap while the whole machine uses less than limit.
func (t *Tree) Exceeds(limit int64) (taken int64, over bool) {
	if used, ok := used(); ok && used <= limit {
		return 0, false
	}
	family := t.family()
	for _, pid := range family {
		taken += sumOf(pid, "status", "RssAnon:", "RssShmem:", "VmSwap:")
	}
	if taken <= limit {
		return taken, false
	}
	// Pages that forks share were counted for each.
	taken = 0
	for _, pid := range family {
		share := sumOf(pid, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:", "SwapPss:")
		if share == 0 {
			// It keeps others from looking, or has just ended.
			share = sumOf(pid, "status", "RssAnon:", "RssShmem:", "VmSwap:")
		}
		taken += share
	}
	return taken, taken > limit
}

// family lists the processes of the tree and all below them.
func (t *Tree) family() []int {
	if t.recycled() {
		return nil
	}
	type process struct {
		pid    int
		parent string
	}
	leader := strconv.Itoa(t.id.PID)
	inside := map[string]bool{leader: true}
	var rest []process
	family := []int{}
	for _, pid := range allPids() {
		fields := statOf(pid)
		if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		if fields[2] == leader || fields[3] == leader || t.marked(pid) {
			inside[strconv.Itoa(pid)] = true
			family = append(family, pid)
			continue
		}
		rest = append(rest, process{pid, fields[1]})
	}
	for grown := true; grown; {
		grown = false
		left := rest[:0]
		for _, p := range rest {
			if !inside[p.parent] {
				left = append(left, p)
				continue
			}
			inside[strconv.Itoa(p.pid)], grown = true, true
			family = append(family, p.pid)
		}
		rest = left
	}
	return family
}

// marked says whether a process carries the tree's mark, as far as it can be seen now.
func (t *Tree) marked(pid int) bool {
	if pid < t.id.PID {
		return false
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(environ, []byte(t.id.Mark))
}

// used is how much memory the machine uses, in bytes: what could not be had without
// writing anything out.
func used() (int64, bool) {
	total, free := sumIn("/proc/meminfo", "MemTotal:", "SwapTotal:"), sumIn("/proc/meminfo", "MemAvailable:", "SwapFree:")
	return total - free, total > 0 && free > 0
}

// sumOf adds up lines of a file of a process, in bytes; 0 when it cannot be read.
func sumOf(pid int, file string, names ...string) int64 {
	return sumIn("/proc/"+strconv.Itoa(pid)+"/"+file, names...)
}

// sumIn adds up lines such as "VmSwap:   12 kB".
func sumIn(path string, names ...string) (bytes int64) {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		for _, name := range names {
			if rest, ok := strings.CutPrefix(lines.Text(), name); ok {
				kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
				bytes += kib << 10
			}
		}
	}
	return bytes
}
