package process

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Exceeds says whether the processes of the tree use more memory than limit, in bytes,
// and how much they use. It counts memory and swap that is not part of a file: it ignores
// reserved address space and counts shared memory once. It does not see memory that no
// process maps (a memfd that is only written, a file in a tmpfs) or that the kernel uses
// for them.
//
// The kernel's own limits don't fit: RLIMIT_AS and RLIMIT_DATA count reserved memory, which
// breaks Go, node and the JVM, and a control group needs a delegated memory controller.
//
// The check is cheap while the whole machine uses less than limit.
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
	// The sum counts pages that forks share once for each fork.
	taken = 0
	for _, pid := range family {
		share := sumOf(pid, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:", "SwapPss:")
		if share == 0 {
			// The process does not let others look at it, or has just ended.
			share = sumOf(pid, "status", "RssAnon:", "RssShmem:", "VmSwap:")
		}
		taken += share
	}
	return taken, taken > limit
}

// used is how much memory the machine uses, in bytes: all that is not available without
// writing to disk.
func used() (int64, bool) {
	total, free := sumIn("/proc/meminfo", "MemTotal:", "SwapTotal:"), sumIn("/proc/meminfo", "MemAvailable:", "SwapFree:")
	return total - free, total > 0 && free > 0
}

// sumOf adds up lines of a file of a process, in bytes; 0 when it cannot be read.
func sumOf(pid int, file string, names ...string) int64 {
	return sumIn("/proc/"+strconv.Itoa(pid)+"/"+file, names...)
}

// sumIn adds up lines such as "VmSwap: 12 kB".
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
