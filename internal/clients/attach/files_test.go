package attach

import (
	"testing"

	poddv1 "podd/proto/podd/v1"
)

// Paths of changed files are shown as the lines of tools show them.
func TestRelativePaths(t *testing.T) {
	a := &app{pod: &poddv1.Pod{Spec: &poddv1.PodSpec{Dir: "/home/ada/app"}}}
	for path, want := range map[string]string{
		"/home/ada/app/src/a.go": "src/a.go", "/home/ada/app": ".", "/home/ada/app2/a": "/home/ada/app2/a", "/home/ada/..x": "/home/ada/..x", "/home/ada/app/..x": "..x",
	} {
		if got := a.rel(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
