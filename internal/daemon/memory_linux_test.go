package daemon

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Only what equals the file may be dropped: a page that podd may write, or that relocation
// has changed, would come back as it is in the file.
func TestUnchangedMappings(t *testing.T) {
	const smaps = `00400000-01400000 r-xp 00000000 fe:00 12 /opt/my podd/podd
Rss:                 400 kB
Anonymous:             0 kB
AnonHugePages:         0 kB
01400000-01500000 r--p 01000000 fe:00 12 /opt/my podd/podd
Anonymous:             4 kB
01500000-01600000 rw-p 01100000 fe:00 12 /opt/my podd/podd
Anonymous:             0 kB
c000000000-c004000000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0010000000 r--s 00000000 fe:00 13 /state/podd.db
Anonymous:             0 kB
7f0020000000-7f0020001000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
`
	got := unchanged(bufio.NewScanner(strings.NewReader(smaps)), "/opt/my podd/podd")
	if want := []mapping{{0x400000, 0x1400000}}; !slices.Equal(got, want) {
		t.Errorf("%x", got)
	}
}

// This program goes on after its pages were dropped, and has fewer of them.
func TestUnmapProgram(t *testing.T) {
	before := fileMemory(t)
	unmapProgram()
	if after := fileMemory(t); after >= before {
		t.Errorf("%d kB of files are in memory, before %d", after, before)
	}
}

// fileMemory is how much of files this process has in memory, in kB.
func fileMemory(t *testing.T) (kb int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(status), "RssFile:")
	if !ok {
		t.Skip("this kernel does not tell files from other memory")
	}
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}
