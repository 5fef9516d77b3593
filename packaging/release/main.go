// Release makes all files of a release of podd from the commit that is checked out. The same
// commit, version and Go give the same bytes, but for the container image, which has Debian's
// packages of the day.
//
//	release -version v0.1.0 -key FILE [-out DIR] [-url URL] [-targets OS/ARCH,...] [-image=false] [-dirty]
//
// It builds into a directory beside DIR and renames that at the end: DIR has a whole release or
// does not exist.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/semver"
)

// options are what a person tells.
type options struct {
	// version is a semantic version with its v.
	version string
	// key is the file of the SSH key that signs SHA256SUMS; "none" for no signature.
	key string
	// out is the directory to make.
	out string
	// url is where the files will be, without a slash at the end. Without it, the formula of
	// Homebrew and the flake of Nix, which name it, are left out.
	url string
	// targets are what Go calls GOOS/GOARCH.
	targets string
	image   bool
	// dirty allows files that are not committed: for tests.
	dirty bool
}

// release is a release in the making.
type release struct {
	options
	// commit is the full hash of what is built, made is its time: the time of every file.
	commit string
	made   time.Time
	// dir is where files are made, work what is not part of them.
	dir, work string
	// built are the targets' files.
	built []built
}

func main() {
	var o options
	flag.StringVar(&o.version, "version", "", "the `version`, such as v0.1.0")
	flag.StringVar(&o.key, "key", "", "the `file` of the SSH key that signs the checksums, or none")
	flag.StringVar(&o.out, "out", "bin/release", "the `directory` to make")
	flag.StringVar(&o.url, "url", "", "the `address` below which people will find the files")
	flag.StringVar(&o.targets, "targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "the `systems` to build for")
	flag.BoolVar(&o.image, "image", true, "make the container image too")
	flag.BoolVar(&o.dirty, "dirty", false, "build what is not committed too; not for others")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "make release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	r, err := begin(ctx, o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	steps := []struct {
		what string
		do   func(ctx context.Context) error
	}{
		{"programs, manual pages and plugins", r.build},
		{"archives", r.archives},
		{"packages of Debian and Fedora", r.packages},
		{"packages for Python and TypeScript", r.sdks},
		{"container image", r.container},
		{"list of parts (SBOM)", r.parts},
		{"install.sh, formula and flake", r.recipes},
		{"checksums and signature", r.sign},
	}
	for _, step := range steps {
		fmt.Println("release:", step.what)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	if err := os.Rename(r.dir, r.out); err != nil {
		return err
	}
	fmt.Println(r.out)
	return nil
}

// begin checks the options before anything is built.
func begin(ctx context.Context, o options) (*release, error) {
	if !semver.IsValid(o.version) || semver.Canonical(o.version) != o.version {
		return nil, fmt.Errorf("%q is not a version; set VERSION to one such as v0.1.0", o.version)
	}
	if _, err := pythonVersion(strings.TrimPrefix(o.version, "v")); err != nil {
		return nil, err
	}
	if o.key == "" {
		return nil, errors.New("no key signs the checksums; set KEY to the file of an SSH key, or to none for a release without a signature")
	}
	if o.key != "none" {
		if _, err := output(ctx, "ssh-keygen", "-l", "-f", o.key); err != nil {
			return nil, fmt.Errorf("KEY=%s is not an SSH key that can be read: %w", o.key, err)
		}
	}
	if _, err := os.Stat(o.out); err == nil {
		return nil, fmt.Errorf("%s exists; remove it, or set OUT to another directory", o.out)
	}
	for target := range strings.SplitSeq(o.targets, ",") {
		if os, arch, ok := strings.Cut(target, "/"); !ok || os == "" || arch == "" {
			return nil, fmt.Errorf("%q is no target; write TARGETS as linux/amd64,darwin/arm64", target)
		}
	}
	if o.image && !slices.Contains(strings.Split(o.targets, ","), "linux/"+runtime.GOARCH) {
		return nil, fmt.Errorf("TARGETS lacks linux/%s, the system of the container image; add it, or set CONTAINER=false", runtime.GOARCH)
	}
	if changed, err := output(ctx, "git", "status", "--porcelain", "--untracked-files=normal"); err != nil {
		return nil, err
	} else if changed != "" && !o.dirty {
		return nil, fmt.Errorf("a release is made of a commit, and these files are changed or new, and not committed:\n%s", changed)
	}
	r := &release{options: o}
	head, err := output(ctx, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	commit, stamp, _ := strings.Cut(head, " ")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, err
	}
	r.commit, r.made = commit, time.Unix(seconds, 0).UTC()
	return r, r.room()
}

// room makes the directories in which files are made, beside what the release will be.
func (r *release) room() error {
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	r.out = out
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".partial-"); err != nil {
		return err
	}
	r.dir = filepath.Join(r.work, "files")
	return os.Mkdir(r.dir, 0o755)
}

// number is the version without its v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// file is the path of a file of the release.
func (r *release) file(name string) string { return filepath.Join(r.dir, name) }

// command is a program that runs in the repository, with the times of files fixed. What it says
// goes to the person's terminal.
func (r *release) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C", "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=",
		"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.made.Unix(), 10))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// After Ctrl-C programs such as mmdebstrap remove what they began.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// output is what a program prints, without the line's end.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}
