package systemd

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"podd/pkg/item"
)

func environ(pid, fds, names string) func(string) string {
	return func(name string) string {
		return map[string]string{"LISTEN_PID": pid, "LISTEN_FDS": fds, "LISTEN_FDNAMES": names}[name]
	}
}

func TestParse(t *testing.T) {
	for name, tt := range map[string]struct {
		pid, fds, names string
		want            []string
		refused         bool
	}{
		"nothing":          {},
		"one":              {pid: "7", fds: "1", names: "podd.socket", want: []string{"podd.socket"}},
		"two":              {pid: "7", fds: "2", names: "a:b", want: []string{"a", "b"}},
		"no names":         {pid: "7", fds: "2", want: []string{"unknown", "unknown"}},
		"too few names":    {pid: "7", fds: "2", names: "a", want: []string{"unknown", "unknown"}},
		"another process":  {pid: "8", fds: "1"},
		"none":             {pid: "7", fds: "0", want: []string{}},
		"no number":        {pid: "7", fds: "x", refused: true},
		"no number at all": {pid: "7", refused: true},
		"negative":         {pid: "7", fds: "-1", refused: true},
		"too many":         {pid: "7", fds: "100000", refused: true},
	} {
		got, err := parse(7, environ(tt.pid, tt.fds, tt.names))
		if !slices.Equal(got, tt.want) || (err != nil) != tt.refused || tt.refused && item.KindOf(err) != item.KindInvalid {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// For any environment: as many names as descriptors, none of them empty.
func FuzzParse(f *testing.F) {
	f.Add("7", "2", "a:b")
	f.Add("7", "-1", "")
	f.Add("8", "1", ":")
	f.Fuzz(func(t *testing.T, pid, fds, names string) {
		got, err := parse(7, environ(pid, fds, names))
		n, _ := strconv.Atoi(fds)
		if err == nil && got != nil && len(got) != n {
			t.Errorf("%d names of %q", len(got), fds)
		}
		if err != nil && (got != nil || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q, %q", got, err)
		}
		if slices.Contains(got, "") {
			t.Errorf("an empty name: %q", got)
		}
	})
}
