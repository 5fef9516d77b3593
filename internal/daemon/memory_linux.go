package daemon

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// unmapProgram drops the pages of podd's program from podd's memory. They stay in the kernel's
// cache while memory is free, and come back as they are used. It leaves out pages that podd
// may write or has a copy of its own of, as relocation makes.
func unmapProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range unchanged(bufio.NewScanner(f), program) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
	}
}

// mapping is a part of the address space.
type mapping struct{ start, end uintptr }

// unchanged are the mappings of a file that can't be written and equal the file. smaps is the
// text of proc_pid_smaps(5).
func unchanged(smaps *bufio.Scanner, file string) (found []mapping) {
	var at mapping
	ours := false
	for smaps.Scan() {
		fields := strings.Fields(smaps.Text())
		switch {
		case len(fields) > 1 && strings.HasSuffix(fields[0], ":"):
			if ours && fields[0] == "Anonymous:" && fields[1] == "0" {
				found = append(found, at)
			}
		case len(fields) >= 6:
			// START-END MODE OFFSET DEVICE INODE PATH
			_, path, _ := strings.Cut(smaps.Text(), "/")
			_, err := fmt.Sscanf(fields[0], "%x-%x", &at.start, &at.end)
			ours = err == nil && "/"+path == file && !strings.Contains(fields[1], "w")
		default:
			ours = false
		}
	}
	return found
}
