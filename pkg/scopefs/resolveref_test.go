package scopefs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/scopefs"
)

func resolve(f *scopefs.FS, ref item.Segment, lim scopefs.RefLimits) (string, error) {
	message, err := f.ResolveRef(context.Background(), ref.(item.FileRef), lim)
	if err == nil && message.Origin != item.OriginFileRef {
		err = fmt.Errorf("the origin is %q", message.Origin)
	}
	return message.Text, err
}

func TestResolveRef(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "open.txt": "one\ntwo", "empty": "", "crlf": "a\r\nb\r\n",
		"日本.txt": "日本語", "sub/deep/": "", "sub/file": "", "sub/.dot": "", "nothing/": "", "a:1-2": "name",
		"bom": "\ufefftext", "long": "aaaa\nbbbb\ncccc\n",
	})
	must(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
	must(t, os.Symlink("deep", filepath.Join(dir, "sub/link")))
	small := scopefs.RefLimits{MaxBytes: 5, DirEntries: 2}
	const rest = " — use read_file for the rest]"
	tests := []struct {
		name string
		ref  item.Segment
		lim  scopefs.RefLimits
		want string
	}{
		{"file", ref("a.txt"), scopefs.RefLimits{}, "[File: a.txt]\none\ntwo\nthree\n"},
		{"the path as written", ref("./sub/../a.txt"), scopefs.RefLimits{}, "[File: ./sub/../a.txt]\none\ntwo\nthree\n"},
		{"absolute", ref(dir + "/empty"), scopefs.RefLimits{}, "[File: " + dir + "/empty]\n"},
		{"empty", ref("empty"), scopefs.RefLimits{}, "[File: empty]\n"},
		{"link", ref("link"), scopefs.RefLimits{}, "[File: link]\none\ntwo\nthree\n"},
		{"bytes stay", ref("crlf"), scopefs.RefLimits{}, "[File: crlf]\na\r\nb\r\n"},
		{"byte order mark", ref("bom"), scopefs.RefLimits{}, "[File: bom]\n\ufefftext"},
		{"name with a range", ref("a:1-2"), scopefs.RefLimits{}, "[File: a:1-2]\nname"},

		{"cut", ref("a.txt"), small, "[File: a.txt]\none\nt\n[...truncated, 14 bytes total" + rest},
		{"cut at a line's end", ref("long"), small, "[File: long]\naaaa\n[...truncated, 15 bytes total" + rest},
		{"cut between characters", ref("日本.txt"), small, "[File: 日本.txt]\n日\n[...truncated, 9 bytes total" + rest},
		{"cut before the first character", ref("日本.txt"), scopefs.RefLimits{MaxBytes: 2}, "[File: 日本.txt]\n[...truncated, 9 bytes total" + rest},
		{"exactly the limit", ref("日本.txt"), scopefs.RefLimits{MaxBytes: 9}, "[File: 日本.txt]\n日本語"},

		{"range", ref("a.txt", 2, 3), scopefs.RefLimits{}, "[File: a.txt:2-3]\ntwo\nthree\n"},
		{"line", ref("a.txt", 2), scopefs.RefLimits{}, "[File: a.txt:2]\ntwo\n"},
		{"range of one line", ref("a.txt", 1, 1), scopefs.RefLimits{}, "[File: a.txt:1-1]\none\n"},
		{"range beyond the end", ref("a.txt", 3, 99), scopefs.RefLimits{}, "[File: a.txt:3-99]\nthree\n"},
		{"last line without an end", ref("open.txt", 2, 2), scopefs.RefLimits{}, "[File: open.txt:2-2]\ntwo"},
		{"range that is cut", ref("long", 2, 3), small, "[File: long:2-3]\nbbbb\n[...truncated, 15 bytes total" + rest},
		{"range that just fits", ref("long", 2, 2), small, "[File: long:2-2]\nbbbb\n"},

		{"directory", ref("sub"), scopefs.RefLimits{}, "[Dir: sub]\n.dot\ndeep/\nfile\nlink\n"},
		{"directory with a slash", ref("sub/"), scopefs.RefLimits{}, "[Dir: sub/]\n.dot\ndeep/\nfile\nlink\n"},
		{"more entries than fit", ref("sub"), small, "[Dir: sub]\n.dot\ndeep/\n[...2 more entries]\n"},
		{"empty directory", ref("nothing"), scopefs.RefLimits{}, "[Dir: nothing]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := resolve(f, tt.ref, tt.lim)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
}

func TestResolveRefErrors(t *testing.T) {
	f, dir := workspace(t, map[string]string{
		"a": "one\ntwo\n", "empty": "", "nul": "text\x00text", "latin1": "caf\xe9", "utf16le": "\xff\xfeh\x00i\x00", "utf16be": "\xfe\xff\x00h\x00i",
		"utf16": "h\x00i\x00", "png": "\x89PNG\r\n\x1a\n\x00\x00", "half": "text\xe6\x97", "late": strings.Repeat("line\n", 20000) + "\x00\nend\n", "sub/": "",
	})
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "passwd")))
	tests := []struct {
		ref  item.Segment
		want scopefs.Kind
		says string
	}{
		{ref("none"), scopefs.NotFound, "none does not exist"},
		{ref("a/b"), scopefs.NotFound, "not a directory"},
		{ref(""), scopefs.NotFound, "names no file"},
		{ref("../a"), scopefs.OutOfScope, "outside the scope"},
		{ref("passwd"), scopefs.OutOfScope, "outside the scope"},
		{ref("nul"), scopefs.Binary, "not UTF-8"},
		{ref("latin1"), scopefs.Binary, "not UTF-8"},
		{ref("utf16le"), scopefs.Binary, "UTF-16"},
		{ref("utf16be"), scopefs.Binary, "UTF-16"},
		{ref("utf16"), scopefs.Binary, "not UTF-8"},
		{ref("png"), scopefs.Binary, "not UTF-8"},
		{ref("half"), scopefs.Binary, "not UTF-8"},
		{ref("latin1", 1), scopefs.Binary, "not UTF-8"},
		{ref("late", 20002), scopefs.Binary, "not UTF-8"},
		{ref("pipe"), scopefs.IO, "pipe is a named pipe"},
		{ref("a", 3), scopefs.NotFound, "a has no line 3: it ends with line 2"},
		{ref("a", 9, 10), scopefs.NotFound, "no line 9: it ends with line 2"},
		{ref("empty", 1), scopefs.NotFound, "no line 1: it ends with line 0"},
		{ref("a", 2, 1), scopefs.IO, "2-1"},
		{ref("a", 0, 1), scopefs.IO, "numbered from 1"},
		{ref("a", -1), scopefs.IO, "numbered from 1"},
		{ref("sub", 1), scopefs.IO, "is a directory"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%+v", tt.ref), func(t *testing.T) {
			got, err := resolve(f, tt.ref, scopefs.RefLimits{})
			wantKind(t, err, tt.want)
			if got != "" || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %q, %v, want an error with %q", got, err, tt.says)
			}
		})
	}
}

// Names from the disk, and paths from a client, cannot imitate a header.
func TestResolveRefQuotesNames(t *testing.T) {
	forged := "x]\n[File: etc"
	f, _ := workspace(t, map[string]string{forged: "body", "d/a\nb/": "", "d/\x1b[2J": ""})
	for path, want := range map[string]string{
		forged: "[File: \"x]\\n[File: etc\"]\nbody",
		"d":    "[Dir: d]\n\"\\x1b[2J\"\n\"a\\nb\"/\n",
	} {
		if got, err := resolve(f, ref(path), scopefs.RefLimits{}); err != nil || got != want {
			t.Errorf("%q gives %q, %v, want %q", path, got, err, want)
		}
	}
}

func TestResolveRefOfFiveGigabytes(t *testing.T) {
	f, dir := workspace(t, nil)
	sparse(t, filepath.Join(dir, "big"))
	got, err := resolve(f, ref("big"), scopefs.RefLimits{MaxBytes: 5})
	if want := "[File: big]\nbegin\n[...truncated, 5368709120 bytes total — use read_file for the rest]"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	_, err = resolve(f, ref("big"), scopefs.RefLimits{})
	wantKind(t, err, scopefs.Binary)
	// It has no line end, and no range makes podd read it to the end.
	_, err = resolve(f, ref("big", 2), scopefs.RefLimits{})
	wantKind(t, err, scopefs.Binary)
}

func TestResolveRefSearchesSoFarForLines(t *testing.T) {
	f, dir := workspace(t, nil)
	must(t, os.WriteFile(filepath.Join(dir, "long"), []byte(strings.Repeat("x", scopefs.MaxFileBytes+1<<20)+"\nend\n"), 0o644))
	_, err := resolve(f, ref("long", 2), scopefs.RefLimits{})
	wantKind(t, err, scopefs.IO)
	got, err := resolve(f, ref("long", 1), scopefs.RefLimits{MaxBytes: 3})
	if want := "[File: long:1]\nxxx\n[...truncated, 68157445 bytes total — use read_file for the rest]"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestResolveRefOfManyEntries(t *testing.T) {
	f, dir := workspace(t, nil)
	for i := range 5000 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%04d", i)), nil, 0o644))
	}
	got, err := resolve(f, ref("."), scopefs.RefLimits{})
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if err != nil || len(lines) != 102 || lines[1] != "f0000" || lines[100] != "f0099" || lines[101] != "[...4900 more entries]" {
		t.Errorf("got %d lines, the last %q, %v", len(lines), lines[len(lines)-1], err)
	}
}

func TestResolveRefEndsWithItsContext(t *testing.T) {
	f, _ := workspace(t, map[string]string{"a": "a", "sub/": ""})
	boom := errors.New("boom")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(boom)
	for _, r := range []item.Segment{ref("a"), ref("a", 1), ref("sub")} {
		_, err := f.ResolveRef(ctx, r.(item.FileRef), scopefs.RefLimits{})
		wantKind(t, err, scopefs.IO)
		if !errors.Is(err, boom) {
			t.Errorf("%v does not wrap the cause of the context's end", err)
		}
	}
}

func TestExistsRef(t *testing.T) {
	f, dir := workspace(t, map[string]string{"a": "", "sub/": ""})
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "passwd")))
	for path, want := range map[string]bool{
		"a": true, "sub": true, "sub/": true, ".": true, dir: true, "none": false, "..": false, "passwd": false, "/etc/passwd": false, "a\x00": false,
	} {
		if got := f.ExistsRef(path); got != want {
			t.Errorf("ExistsRef(%q) = %t", path, got)
		}
	}
}

// A valid text stays valid, wherever it is cut, and the kept part is its beginning,
// within the limit and at most a character short of it.
func TestCutFilesAreText(t *testing.T) {
	f, dir := workspace(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringOfN(rapid.RuneFrom([]rune("a\né日😀")), 1, 40, -1).Draw(t, "body")
		most := rapid.IntRange(1, 60).Draw(t, "most")
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := resolve(f, ref("f"), scopefs.RefLimits{MaxBytes: most})
		if err != nil {
			t.Fatal(err)
		}
		kept, cut := strings.CutSuffix(got, fmt.Sprintf("[...truncated, %d bytes total — use read_file for the rest]", len(body)))
		kept = strings.TrimPrefix(kept, "[File: f]\n")
		if cut != (len(body) > most) {
			t.Fatalf("%d bytes with limit %d: cut is %t", len(body), most, cut)
		}
		if cut && !strings.HasPrefix(body, kept) {
			kept = strings.TrimSuffix(kept, "\n")
		}
		if !strings.HasPrefix(body, kept) || !utf8.ValidString(kept) || len(kept) > most+1 || cut && len(kept) < most-3 {
			t.Fatalf("kept %q of %q with limit %d", kept, body, most)
		}
	})
}
