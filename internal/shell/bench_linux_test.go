package shell_test

import (
	"testing"

	"podd/internal/guard/sandbox"
	"podd/internal/shell"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/spool"
)

// The cost of a command without a sandbox and in each.
func BenchmarkShell(b *testing.B) {
	for _, mode := range []sandbox.Mode{sandbox.Off, sandbox.Bwrap, sandbox.Landlock} {
		b.Run(mode, func(b *testing.B) {
			s := sandbox.Detect(b.Context(), sandbox.Config{Mode: mode})
			if mode != sandbox.Off && s.Mode() != mode {
				b.Skip(s.Why())
			}
			all, err := spool.Open(spool.Config{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			folder, err := all.Folder("p")
			if err != nil {
				b.Fatal(err)
			}
			fs, err := scopefs.Open(scopefs.Config{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer fs.Close()
			tl := shell.New(shell.Config{Starter: starter, Sandbox: s, Path: "/bin/sh"}, shell.Place{FS: fs, Spool: folder}).Tools()[0]
			for b.Loop() {
				if out, err := tl.Run(b.Context(), &tool.Invocation{Arguments: `{"command":"true"}`}); err != nil || out.IsError {
					b.Fatal(out.Summary, err)
				}
			}
		})
	}
}
