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

// patience bounds one request to the manager; starting and stopping may take as long as
// podd needs.
const patience = 20 * time.Second

// Service is podd as a service of one user.
type Service interface {
	// Files are what Install writes.
	Files(Plan) []File
	// Reachable returns why no service manager runs for this user; nil if one does.
	Reachable(ctx context.Context) error
	// Install writes the files and, if a manager runs, starts podd now and at each login; a
	// running podd is restarted if its files have changed. held says that a podd outside the
	// service is using the state directory: then nothing is started.
	Install(ctx context.Context, p Plan, held bool) (Installed, error)
	// Uninstall stops podd and removes the files. It does nothing if none exist.
	Uninstall(ctx context.Context) ([]Changed, error)
	// Status returns the service's state.
	Status(ctx context.Context) (Status, error)
	// Logs is the command that shows what podd logged.
	Logs(follow bool, lines string) []string
	// ByHand are the commands that Install would run, for a person to run.
	ByHand() []string
	// Restart is the script of sh that restarts podd after a clean shutdown, or starts it.
	Restart() string
}

// Installed is the result of Install.
type Installed struct {
	Files []Changed
	// Unreachable is why the manager could not be used, or nil.
	Unreachable error
	// Running says that podd now runs as a service, Restarted that it was restarted.
	Running, Restarted bool
}

// Status is a service's state. Unknown texts are empty.
type Status struct {
	// Files are the installed ones.
	Files []string
	// State is the state in the manager's words, Enabled whether it is started at login.
	State, Enabled string
	Running        bool
	PID            string
	// Says is podd's own status text.
	Says string
	// Lingers is whether it keeps running after logout; only systemd reports it.
	Lingers string
}

// For is the service for a system, as runtime.GOOS names it. home is the user's home
// directory and env the environment.
func For(system, home string, env func(string) string) (Service, error) {
	if !strings.HasPrefix(home, "/") {
		return nil, item.Errorf(item.KindInvalid, "NO_HOME", "cannot find the directory for the service's files because HOME is not set: set it")
	}
	switch system {
	case "linux":
		return newUserManager(home, env), nil
	case "darwin":
		return launchd{home: home}, nil
	}
	return nil, item.Errorf(item.KindUnimplemented, "NO_SERVICE", "podd does not support services on this system (%s): start podd with the system's own tools", system)
}

// command runs a command of the manager and returns its output. Its error is a sentence.
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

// Show runs a command that prints to a person, until it or ctx ends.
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
