package scopefs_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/scopefs"
)

func TestReadFile(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a": "hello", "empty": "", "sub/b": "b"})
	info, err := os.Stat(filepath.Join(dir, "a"))
	must(t, err)
	tests := []struct {
		path      string
		most      int64
		want      string
		size      int64
		truncated bool
	}{
		{"a", 0, "hello", 5, false},
		{"a", -1, "hello", 5, false},
		{"a", 5, "hello", 5, false},
		{"a", 4, "hell", 5, true},
		{"a", 1 << 40, "hello", 5, false},
		{"./sub/../a", 0, "hello", 5, false},
		{filepath.Join(dir, "a"), 0, "hello", 5, false},
		{"empty", 0, "", 0, false},
		{"empty", 1, "", 0, false},
	}
	for _, tt := range tests {
		got, err := f.ReadFile(tt.path, tt.most)
		if err != nil || string(got.Data) != tt.want || got.Size != tt.size || got.Truncated != tt.truncated {
			t.Errorf("ReadFile(%q, %d) = %+v, %v", tt.path, tt.most, got, err)
		}
	}
	if got, err := f.ReadFile("a", 0); err != nil || got.Path != "a" || !got.ModTime.Equal(info.ModTime()) {
		t.Errorf("ReadFile gives %+v, %v", got, err)
	}
}

func TestReadFileErrors(t *testing.T) {
	f, _ := workspace(t, map[string]string{"a": "hello", "sub/": ""})
	for path, want := range map[string]scopefs.Kind{
		"none":     scopefs.NotFound,
		"a/b":      scopefs.NotFound,
		"none/b":   scopefs.NotFound,
		"sub":      scopefs.IsDir,
		"":         scopefs.IsDir,
		".":        scopefs.IsDir,
		"../other": scopefs.OutOfScope,
	} {
		_, err := f.ReadFile(path, 0)
		wantKind(t, err, want)
	}
}

// sparse makes a file of 5 GB that uses no space.
func sparse(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	must(t, err)
	_, err = file.WriteString("begin")
	must(t, err)
	if err := file.Truncate(5 << 30); err != nil {
		t.Skip(err)
	}
	must(t, file.Close())
}

// However large a file is, only the requested part is read.
func TestReadFileOfFiveGigabytes(t *testing.T) {
	f, dir := workspace(t, nil)
	sparse(t, filepath.Join(dir, "big"))
	allocated := testing.AllocsPerRun(1, func() {
		got, err := f.ReadFile("big", 5)
		if err != nil || string(got.Data) != "begin" || got.Size != 5<<30 || !got.Truncated {
			t.Errorf("got %+v, %v", got, err)
		}
		if cap(got.Data) > 4096 {
			t.Errorf("%d bytes were allocated for 5", cap(got.Data))
		}
	})
	t.Logf("%v allocations", allocated)
	_, err := f.ReadFile("big", 0)
	wantKind(t, err, scopefs.TooLarge)
	if !strings.Contains(err.Error(), "5368709120 bytes") {
		t.Errorf("%q does not say how large the file is", err)
	}
}

func TestOpenStreams(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a": "hello"})
	must(t, os.Symlink("a", filepath.Join(dir, "link")))
	file, info, err := f.Open("link")
	must(t, err)
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil || string(data) != "hello" || info.Size() != 5 || !info.Mode().IsRegular() {
		t.Errorf("got %q, %v, %v", data, info, err)
	}
	if _, err := file.WriteString("x"); err == nil {
		t.Error("the file can be written")
	}
}

func TestReadDir(t *testing.T) {
	f, dir := workspace(t, map[string]string{"b": "", "a": "", "C/": "", "sub/x": ""})
	must(t, os.Symlink("sub", filepath.Join(dir, "link")))
	names := func(path string) string {
		entries, err := f.ReadDir(path)
		must(t, err)
		var all []string
		for _, e := range entries {
			all = append(all, e.Type().String()[:1]+e.Name())
		}
		return strings.Join(all, " ")
	}
	for path, want := range map[string]string{
		"":     "dC -a -b Llink dsub",
		"sub":  "-x",
		"link": "-x",
		"C":    "",
	} {
		if got := names(path); got != want {
			t.Errorf("ReadDir(%q) gives %q, want %q", path, got, want)
		}
	}
	_, err := f.ReadDir("a")
	wantKind(t, err, scopefs.NotFound)
	_, err = f.ReadDir("none")
	wantKind(t, err, scopefs.NotFound)
}

func TestStat(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a": "hello", "sub/": ""})
	must(t, os.Symlink("a", filepath.Join(dir, "link")))
	for path, want := range map[string]string{"a": "-rw-r--r--", "link": "-rw-r--r--", "sub": "drwxr-xr-x"} {
		info, err := f.Stat(path)
		if err != nil || info.Mode().String() != want || info.Name() != path {
			t.Errorf("Stat(%q) = %v, %v, want mode %s", path, info, err, want)
		}
	}
}
