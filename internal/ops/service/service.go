package service

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"podd/pkg/item"
)

// patience bounds one question to the manager; starting and stopping may take as long as
// podd does.
const patience = 20 * time.Second

// Service is podd as the service of one user.
type Service interface {
	// Files are what Install writes.
	Files(Plan) []File
	// Reachable says why no manager of services runs for this user; nil when one does.
	Reachable(ctx context.Context) error
	// Install writes the files and, where a manager runs, has podd started, now and at each
	// login; a podd that runs is restarted when its files have changed. held says that a
	// podd which is no service holds the place: then nothing is started.
	Install(ctx context.Context, p Plan, held bool) (Installed, error)
	// Uninstall stops podd and removes the files. It is no error when there is nothing.
	Uninstall(ctx context.Context) ([]Changed, error)
	// Status says how the service does.
	Status(ctx context.Context) (Status, error)
	// Logs is the command that shows what podd logged.
	Logs(follow bool, lines string) []string
	// ByHand are the commands that Install would have run, for a person to run.
	ByHand() []string
	// Restart is the command that lets podd end in order and start anew.
	Restart() string
}

// Installed is what Install did.
type Installed struct {
	Files []Changed
	// Unreachable is why the manager was not asked; nil when it was.
	Unreachable error
	// Running says that podd runs as a service now, Restarted that it was anew.
	Running, Restarted bool
}

// Status is how a service does. A text is empty when it is not known.
type Status struct {
	// Files are those that are installed.
	Files []string
	// State is the manager's word for the state, Enabled for whether it is started at login.
	State, Enabled string
	Running        bool
	PID            string
	// Says is what podd said of itself.
	Says string
	// Lingers is whether it outlives the login; only systemd can say.
	Lingers string
}

// For is the service of a system, as runtime.GOOS names it. home is the user's home
// directory and env the environment.
func For(system, home string, env func(string) string) (Service, error) {
	if !strings.HasPrefix(home, "/") {
		return nil, item.Errorf(item.KindInvalid, "NO_HOME", "there is no place for the files of the service because HOME is not set: set it")
	}
	switch system {
	case "linux":
		return newUserManager(home, env), nil
	case "darwin":
		return launchd{home: home}, nil
	}
	return nil, item.Errorf(item.KindUnimplemented, "NO_SERVICE", "podd knows no services of this system (%s): start podd from whatever starts programs here", system)
}

// command runs a command of the manager and gives what it printed. An error is its own
// sentence.
func command(ctx context.Context, limit time.Duration, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", item.Errorf(item.KindPrecondition, "NO_MANAGER", "%s is not installed", argv[0])
	}
	said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	if said == "" {
		said = err.Error()
	}
	return out.String(), item.Errorf(item.KindPrecondition, "MANAGER", "%s: %s", strings.Join(argv, " "), said)
}

// Show runs a command that shows something to a person until it ends or ctx does.
func Show(ctx context.Context, out, errs io.Writer, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return item.Errorf(item.KindPrecondition, "NO_MANAGER", "%s is not installed", argv[0])
	}
	if err != nil {
		return item.Errorf(item.KindPrecondition, "MANAGER", "%s failed (%v)", strings.Join(argv, " "), err)
	}
	return nil
}
