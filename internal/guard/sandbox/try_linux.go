package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"podd/pkg/scopefs"
)

// tryFor bounds how long a sandbox may take to show that it works.
const tryFor = 10 * time.Second

// try runs a command in the sandbox that writes a file in its workspace and, without
// success, another one beside it.
func (s *Sandbox) try(ctx context.Context) error {
	if s.mode == Bwrap {
		if err := s.findBwrap(ctx); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "podd-sandbox-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	err = s.tryIn(ctx, dir)
	if err != nil && s.mode == Bwrap && s.nested {
		// Not every kernel lets it.
		s.nested = false
		err = s.tryIn(ctx, dir)
	}
	return err
}

func (s *Sandbox) tryIn(ctx context.Context, dir string) error {
	inside, temp, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "temp"), filepath.Join(dir, "outside")
	for _, path := range []string{inside, temp} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
	}
	fs, err := scopefs.Open(scopefs.Config{Dir: inside})
	if err != nil {
		return err
	}
	defer fs.Close()
	sh, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	c, err := s.Command(Scope{Dir: inside, Roots: fs.Roots(), Temp: temp, Network: s.Network}, 3, sh, "-c",
		`echo x >written; { echo x >"$1"; } 2>/dev/null; exit 0`, "try", outside)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.Stderr = inside, append([]string{"PATH=" + s.variable("PATH")}, c.Env...), c.Files, &said
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return tried(err, said.String())
	}
	if _, err := os.Stat(filepath.Join(inside, "written")); err != nil {
		return errors.New("a command cannot write in its workspace")
	}
	if _, err := os.Stat(outside); err == nil {
		return errors.New("it confines nothing")
	}
	return nil
}

// tried is the first sentence that a failed command said.
func tried(err error, said string) error {
	said, _, _ = strings.Cut(strings.Join(strings.Fields(said), " "), ". ")
	if said == "" {
		return err
	}
	const most = 200
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "") + "..."
	}
	return errors.New(strings.TrimSuffix(said, "."))
}

// findBwrap looks for a bwrap that can bind open directories; only that is safe when a
// path can change meanwhile.
func (s *Sandbox) findBwrap(ctx context.Context) error {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return errors.New("it is not installed (the package is called bubblewrap)")
	}
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	help, err := exec.CommandContext(ctx, path, "--help").Output()
	if err != nil {
		return fmt.Errorf("%s cannot be run: %w", path, err)
	}
	if !bytes.Contains(help, []byte("--bind-fd")) {
		return fmt.Errorf("%s is too old: it has no --bind-fd; install version 0.10 or later", path)
	}
	s.program, s.nested = path, bytes.Contains(help, []byte("--disable-userns"))
	return nil
}

// wrap makes the command line of the mode.
func (s *Sandbox) wrap(c *Command, scope Scope, argv []string) error {
	hide := s.unseenBy(scope)
	if err := hide.overlap(scope, s.Checkouts); err != nil {
		return err
	}
	if s.mode == Bwrap {
		return s.wrapBwrap(c, scope, hide, argv)
	}
	return s.wrapLandlock(c, scope, hide, argv)
}

// unseenBy is what a command does not see, as its guard has just found it.
func (s *Sandbox) unseenBy(scope Scope) unseen {
	if scope.Guard != nil && scope.Guard.unseen != nil {
		return *scope.Guard.unseen
	}
	return s.unseen()
}

// overlap refuses a root that is podd's own directory and not in a checkout.
func (u unseen) overlap(scope Scope, checkouts string) error {
	for _, root := range scope.Roots {
		for _, path := range u.own {
			if root.Writable && within(path, root.Path) && !scopefs.IsCheckout(checkouts, root.Path) {
				return fmt.Errorf("%s belongs to podd itself and cannot be a pod's directory", root.Path)
			}
		}
	}
	return nil
}
