package tty_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"podd/internal/clients/tty"
)

// A paste that does not end stops no key, and nothing of it is lost. One that is slow is a paste to its end.
func TestPasteWithoutEnd(t *testing.T) {
	const start, end, pause = "\x1b[200~", "\x1b[201~", "pause"
	for name, tt := range map[string]struct {
		typed []string
		want  string
	}{
		"keys":                     {[]string{"a", "\x03", pause, "\x1b", "\r"}, "a\x03\x1b\r"},
		"a paste":                  {[]string{start + "a\rb" + end, "\r", pause, "c"}, start + "a\rb" + end + "\rc"},
		"Ctrl-C":                   {[]string{start + "a\rb", "\x03", "\x03"}, start + "a\rb" + end + "\x03"},
		"Ctrl-D":                   {[]string{start + "a", "\x04", "x"}, start + "a" + end + "x"},
		"Escape":                   {[]string{start + "a", pause, "\x1b", pause, "\x1b"}, start + "a" + end + "\x1b"},
		"a letter":                 {[]string{start + "a", pause, "é", "\r"}, start + "a" + end + "é\r"},
		"Enter":                    {[]string{start + "a", pause, "\r"}, start + "a" + end + "\r"},
		"an arrow":                 {[]string{start + "a", pause, "\x1b[A"}, start + "a" + end + "\x1b[A"},
		"a letter at once":         {[]string{start + "a", "b", end, "c"}, start + "ab" + end + "c"},
		"an Escape in a paste":     {[]string{start + "a", "\x1b", "b" + end}, start + "a\x1bb" + end},
		"another paste":            {[]string{start + "a", pause, start + "b" + end, "c"}, start + "a" + end + start + "b" + end + "c"},
		"a slow paste":             {[]string{start + "a", pause, "b\r@c", pause, "@d", pause, end + "\r"}, start + "ab\r@c@d" + end + "\r"},
		"a slow end":               {[]string{start + "a", pause, "\x1b[2", pause, "01~", "\r"}, start + "a" + end + "\r"},
		"an end in two parts":      {[]string{start + "a", pause, "\x1b", "[201~x"}, start + "a" + end + end + "x"},
		"a start in two parts":     {[]string{"x\x1b[20", "0~a", "\x03", "y"}, "x" + start + "a" + end + "y"},
		"the rest after a key":     {[]string{start + "a", pause, "k", "b\rc" + end, "\r"}, start + "a" + end + "k" + start + "b\rc" + end + "\r"},
		"the rest, with more ends": {[]string{start + "a", "\x03", "b\r", "c\r", "d" + end, "\x03"}, start + "a" + end + start + "b\rc\rd" + end + "\x03"},
	} {
		t.Run(name, func(t *testing.T) {
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			var failed error
			k := tty.NewKeyboard(out, func(err error) { failed = err })
			now := time.Unix(0, 0)
			k.Now = func() time.Time { return now }
			var got strings.Builder
			read := func() error {
				var p [64]byte
				n, err := k.Read(p[:])
				got.Write(p[:n])
				return err
			}
			for _, typed := range tt.typed {
				if typed == pause {
					now = now.Add(time.Second)
					continue
				}
				if _, err := in.WriteString(typed); err != nil {
					t.Fatal(err)
				}
				if err := read(); err != nil {
					t.Fatal(err)
				}
			}
			if got.String() != tt.want {
				t.Errorf("the view reads %q, want %q", got.String(), tt.want)
			}
			in.Close()
			if err := read(); err == nil || failed == nil {
				t.Errorf("at the end it reads %v, and fails with %v", err, failed)
			}
		})
	}
}
