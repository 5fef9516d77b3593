package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"podd/internal/workspace/checkout"
)

// Whatever a checkout and its configuration have, what podd does with it runs none of that outside
// of the sandbox: the program would leave a mark where the sandbox lets nobody write.
func TestPlantedProgramsRunNowhere(t *testing.T) {
	for _, mode := range []string{"bwrap", "landlock"} {
		t.Run(mode, func(t *testing.T) {
			b := setupIn(t, mode)
			r := b.make(checkout.Wanted{Name: "p"})
			mark, program := filepath.Join(filepath.Dir(b.repo), "mark"), filepath.Join(r.Dir(), "evil")
			plant(b, r.Dir(), program, mark)
			plant(b, b.repo, program, mark)
			b.git(b.repo, "config", "--unset", "filter.x.clean") // The person's own may run on the person's files.

			b.write(r.Dir(), "a.txt", "of the agent\n")
			// git itself runs what is planted.
			b.git(r.Dir(), "-c", "core.hooksPath="+os.DevNull, "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "filter.x.clean=cat", "commit", "--quiet", "-am", "work")
			if err := os.Remove(mark); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			b.git(r.Dir(), "-c", "core.hooksPath=evil-hooks", "-c", "commit.gpgSign=false", "-c", "filter.x.clean=cat", "commit", "--quiet", "--allow-empty", "-m", "marked")
			if b.read(filepath.Dir(mark), "mark") == "gone" {
				t.Fatal("what is planted does not work")
			}
			if err := os.Remove(mark); err != nil {
				t.Fatal(err)
			}

			for name, do := range map[string]func() error{
				"a fetch":  func() error { _, err := b.all.Fetch(t.Context(), r); return err },
				"a look":   func() error { _, err := b.all.Left(t.Context(), r, nil); return err },
				"a remove": func() error { _, err := b.all.Remove(t.Context(), r, nil); return err },
				"another": func() error {
					_, err := b.all.Make(t.Context(), checkout.Wanted{Name: "q", ID: "pod_q", Dir: b.repo, Changes: true})
					return err
				},
			} {
				err := do()
				if b.read(filepath.Dir(mark), "mark") != "gone" {
					t.Errorf("%s ran a planted program (%v)", name, err)
				}
			}
			if tip := b.git(r.Dir(), "-c", "core.fsmonitor=false", "rev-parse", "HEAD"); tip != b.git(b.repo, "rev-parse", "refs/podd/p") {
				t.Error("the fetch brought nothing")
			}
		})
	}
}

// plant makes a program, and a repository that has git run it in every way that its configuration
// has.
func plant(b *bench, dir, program, mark string) {
	b.t.Helper()
	b.write(dir, ".gitattributes", "*.txt filter=x diff=x merge=x\n")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+mark+"\ncat\n"), 0o755); err != nil {
		b.t.Fatal(err)
	}
	for _, hooks := range []string{".git/hooks", "evil-hooks"} {
		if err := os.MkdirAll(filepath.Join(dir, hooks), 0o755); err != nil {
			b.t.Fatal(err)
		}
		for _, name := range []string{
			"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "post-merge", "pre-merge-commit", "reference-transaction", "post-index-change",
			"pre-auto-gc", "post-rewrite", "fsmonitor-watchman", "proc-receive", "pre-receive", "update", "post-update",
		} {
			if err := os.WriteFile(filepath.Join(dir, hooks, name), []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o755); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	for _, set := range [][2]string{
		{"core.hooksPath", "evil-hooks"}, {"core.fsmonitor", program}, {"core.sshCommand", program}, {"core.editor", program}, {"core.pager", program},
		{"core.askPass", program}, {"core.alternateRefsCommand", program}, {"core.gitProxy", program}, {"credential.helper", "!" + program}, {"filter.x.clean", program},
		{"filter.x.smudge", program}, {"diff.x.textconv", program}, {"diff.x.command", program}, {"diff.external", program}, {"merge.x.driver", program},
		{"gpg.program", program}, {"commit.gpgSign", "true"}, {"uploadpack.packObjectsHook", program}, {"remote.origin.uploadpack", program},
		{"interactive.diffFilter", program}, {"sequence.editor", program}, {"log.showSignature", "true"},
	} {
		b.git(dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull, "config", set[0], set[1])
	}
	for _, verb := range []string{"status", "rev-parse", "log", "rev-list", "pack-objects", "index-pack", "update-ref", "for-each-ref", "fetch", "merge", "commit", "add"} {
		b.git(dir, "-c", "core.fsmonitor=false", "config", "alias."+verb, "!"+program)
	}
}
