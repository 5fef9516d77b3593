package service

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podd/pkg/item"
)

// launchd is macOS' service manager, in the session of one user.
type launchd struct {
	home string
}

func (l launchd) agent() string {
	return filepath.Join(l.home, "Library", "LaunchAgents", label+".plist")
}

func (l launchd) log() string { return filepath.Join(l.home, "Library", "Logs", "podd.log") }

func domain() string { return fmt.Sprintf("gui/%d", os.Getuid()) }

func target() string { return domain() + "/" + label }

// Files is the agent.
func (l launchd) Files(p Plan) []File {
	p.Log = l.log()
	if p.Socket != "" && !slices.Contains(p.Args, "--socket") {
		p.Args = append(slices.Clone(p.Args), "--socket", p.Socket)
	}
	return []File{{l.agent(), Agent(p)}}
}

// Reachable asks for the user's session.
func (l launchd) Reachable(ctx context.Context) error {
	_, err := command(ctx, patience, "launchctl", "print", domain())
	return err
}

// Install writes the agent and bootstraps it.
func (l launchd) Install(ctx context.Context, p Plan, held bool) (done Installed, err error) {
	if err := p.check(); err != nil {
		return done, err
	}
	if done.Files, err = write(l.Files(p)); err != nil {
		return done, err
	}
	if done.Unreachable = l.Reachable(ctx); done.Unreachable != nil || held {
		return done, nil
	}
	_, err = l.print(ctx)
	loaded := err == nil
	if loaded && done.Files[0].Change == Unchanged {
		done.Running = true
		return done, nil
	}
	if loaded {
		// bootout would end podd's commands. A podd that has ended for a restart has left them running.
		if _, err := command(ctx, patience*3, "sh", "-c", l.drain()); err != nil {
			return done, item.Errorf(item.KindPrecondition, "MANAGER", "podd did not end within %v, so launchd still has the old agent: run podd service install again", patience*3)
		}
		done.Restarted = true
		if _, err := command(ctx, patience*3, "launchctl", "bootout", target()); err != nil {
			return done, err
		}
	}
	if _, err := command(ctx, patience, "launchctl", "bootstrap", domain(), l.agent()); err != nil {
		return done, err
	}
	done.Running = true
	return done, nil
}

// Uninstall ends the agent and removes it.
func (l launchd) Uninstall(ctx context.Context) ([]Changed, error) {
	if _, err := l.print(ctx); err == nil {
		if _, err := command(ctx, patience*3, "launchctl", "bootout", target()); err != nil {
			return nil, err
		}
	}
	return remove([]string{l.agent()})
}

// Status asks launchd.
func (l launchd) Status(ctx context.Context) (Status, error) {
	var s Status
	if _, err := os.Stat(l.agent()); err == nil {
		s.Files = []string{l.agent()}
	}
	if err := l.Reachable(ctx); err != nil {
		return s, err
	}
	out, err := l.print(ctx)
	if err != nil {
		s.State = "not loaded"
		return s, nil
	}
	s.Enabled = "loaded"
	for line := range strings.Lines(out) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case !ok:
		case key == "state" && s.State == "":
			s.State, s.Running = value, value == "running"
		case key == "pid" && s.PID == "":
			s.PID = value
		}
	}
	return s, nil
}

func (l launchd) print(ctx context.Context) (string, error) {
	return command(ctx, patience, "launchctl", "print", target())
}

// Logs shows the end of the log file.
func (l launchd) Logs(follow bool, lines string) []string {
	argv := []string{"tail", "-n", lines}
	if follow {
		argv = append(argv, "-F")
	}
	return append(argv, l.log())
}

// ByHand bootstraps the agent.
func (l launchd) ByHand() []string {
	return []string{"launchctl bootstrap " + domain() + " " + l.agent()}
}

// Restart stops podd and starts it again, or starts one that does not run. launchd starts no podd again that has ended
// with 0, and kickstart does nothing while the old one runs: it has to have ended first.
func (l launchd) Restart() string { return l.drain() + "launchctl kickstart " + target() }

// drain is the script of sh after which podd has ended as it does for a restart.
func (l launchd) drain() string {
	return `pid=$(launchctl print ` + target() + ` | sed -n 's/^[[:space:]]*pid = //p' | head -n 1)
if [ -n "$pid" ] && kill -USR1 "$pid"; then
	while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
fi
`
}
