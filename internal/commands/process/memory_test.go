package process_test

import (
	"path/filepath"
	"runtime"
	"testing"
)

// holds is a script that uses 30 MB, and says so in a file.
const holds = `x=$(head -c 30000000 /dev/zero | tr '\0' a); `

// Exceeds finds the memory of a tree wherever its processes are, and counts shared memory
// once.
func TestExceeds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is measured on Linux alone")
	}
	const limit = 28_000_000
	for _, c := range []struct {
		name, script string
		least, most  int64
	}{
		{"one process", holds + "echo 1 >pid; sleep 600; : $x", 30, 200},
		{"a child", "(" + holds + "echo 1 >pid; sleep 600; : $x) & wait", 30, 200},
		{"left the session", `setsid env -i sh -c '` + holds2 + `' & wait`, 30, 200},
		{"left the session and its parents", `(setsid sh -c '` + holds2 + `' &) ; sleep 600`, 30, 200},
		{"two that hold half each", `for i in 1 2; do (x=$(head -c 16000000 /dev/zero | tr '\0' a); echo 1 >up$i; sleep 600; : $x) & done
			while ! [ -e up1 ] || ! [ -e up2 ]; do sleep 0.01; done; echo 1 >pid; wait`, 30, 200},
		{"forks that share", holds + `for i in 1 2 3 4 5 6 7 8; do (echo 1 >up$i; sleep 600; : $x) & done
			while ! [ -e up1 ] || ! [ -e up2 ] || ! [ -e up3 ] || ! [ -e up4 ] || ! [ -e up5 ] || ! [ -e up6 ] || ! [ -e up7 ] || ! [ -e up8 ]; do sleep 0.01; done
			echo 1 >pid; wait; : $x`, 30, 200},
		{"nothing to speak of", "echo 1 >pid; sleep 600", 0, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, dir := start(t, c.script)
			waitFor(t, filepath.Join(dir, "pid"))
			taken, over := tree.Exceeds(limit)
			if over != (c.least > 0) || taken < c.least*1_000_000 || taken > c.most*1_000_000 {
				t.Errorf("it holds %d bytes, over: %v", taken, over)
			}
			if taken, over := tree.Exceeds(1 << 60); over || taken != 0 {
				t.Errorf("over a limit that no machine has: %d", taken)
			}
		})
	}
	tree, _ := start(t, "true")
	<-tree.Exited()
	if taken, over := tree.Exceeds(1); taken != 0 || over {
		t.Errorf("a tree that has ended holds %d bytes", taken)
	}
}

const holds2 = `x=$(head -c 30000000 /dev/zero | tr "\0" a); echo 1 >pid; sleep 600; : $x`
