package service

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// lingerDir has a file for each user whose services keep running after logout.
const lingerDir = "/var/lib/systemd/linger"

// userManager is systemd's service manager of one user.
type userManager struct {
	// dir is the directory of its units.
	dir string
}

func newUserManager(home string, env func(string) string) userManager {
	base := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(home, ".config")
	}
	return userManager{filepath.Join(base, "systemd", "user")}
}

// Files are the units.
func (m userManager) Files(p Plan) []File {
	files := Units(p)
	for i, f := range files {
		files[i].Path = filepath.Join(m.dir, f.Path)
	}
	return files
}

// Reachable asks the manager for its version.
func (m userManager) Reachable(ctx context.Context) error {
	_, err := systemctl(ctx, patience, "show", "--property=Version")
	return err
}

// Install writes the units and enables them. It recreates their links if a unit has changed.
func (m userManager) Install(ctx context.Context, p Plan, held bool) (done Installed, err error) {
	if err := p.check(); err != nil {
		return done, err
	}
	if done.Files, err = write(m.Files(p)); err != nil {
		return done, err
	}
	if done.Unreachable = m.Reachable(ctx); done.Unreachable != nil {
		return done, nil
	}
	before, err := m.show(ctx)
	if err != nil {
		return done, err
	}
	if _, err := systemctl(ctx, patience, "daemon-reload"); err != nil {
		return done, err
	}
	if _, err := systemctl(ctx, patience, "enable", socketUnit, serviceUnit); err != nil || held {
		return done, err
	}
	running := before["ActiveState"] == "active"
	changed := slices.ContainsFunc(done.Files, func(c Changed) bool { return c.Change != Unchanged })
	verb := "start"
	if done.Restarted = running && changed; done.Restarted {
		verb = "restart"
	}
	if _, err := systemctl(ctx, startPatience, verb, socketUnit, serviceUnit); err != nil {
		return done, err
	}
	done.Running = true
	return done, nil
}

// startPatience is how long podd may take to start and to stop.
const startPatience = 65 * time.Minute

// Uninstall disables and stops the units, and removes them and their links.
func (m userManager) Uninstall(ctx context.Context) ([]Changed, error) {
	if m.Reachable(ctx) == nil {
		state, err := m.show(ctx)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(state["FragmentPath"], m.dir+"/") {
			if _, err := systemctl(ctx, startPatience, "disable", "--now", socketUnit, serviceUnit); err != nil {
				return nil, err
			}
		}
	}
	done, err := remove([]string{filepath.Join(m.dir, socketUnit), filepath.Join(m.dir, serviceUnit)})
	if err != nil {
		return done, err
	}
	for _, link := range []string{filepath.Join("sockets.target.wants", socketUnit), filepath.Join("default.target.wants", serviceUnit)} {
		path := filepath.Join(m.dir, link)
		if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, m.dir+"/") {
			if err := os.Remove(path); err != nil {
				return done, cannotWrite(path, err)
			}
		}
	}
	if len(done) > 0 && m.Reachable(ctx) == nil {
		_, err = systemctl(ctx, patience, "daemon-reload")
	}
	return done, err
}

// Status asks the manager.
func (m userManager) Status(ctx context.Context) (Status, error) {
	s := Status{Lingers: lingers()}
	for _, unit := range []string{socketUnit, serviceUnit} {
		if _, err := os.Stat(filepath.Join(m.dir, unit)); err == nil {
			s.Files = append(s.Files, filepath.Join(m.dir, unit))
		}
	}
	if err := m.Reachable(ctx); err != nil {
		return s, err
	}
	is, err := m.show(ctx)
	if err != nil {
		return s, err
	}
	if path := is["FragmentPath"]; path != "" && len(s.Files) == 0 {
		s.Files = []string{path}
	}
	s.State = is["ActiveState"] + " (" + is["SubState"] + ")"
	if result := is["Result"]; result != "success" && result != "" {
		s.State += ", " + result + " (exit code " + is["ExecMainStatus"] + ")"
	}
	s.Enabled, s.Running, s.Says = is["UnitFileState"], is["ActiveState"] == "active", is["StatusText"]
	if is["MainPID"] != "0" {
		s.PID = is["MainPID"]
	}
	return s, nil
}

// show are properties of the service.
func (m userManager) show(ctx context.Context) (map[string]string, error) {
	out, err := systemctl(ctx, patience, "show", serviceUnit,
		"--property=FragmentPath,ActiveState,SubState,MainPID,UnitFileState,StatusText,Result,ExecMainStatus")
	properties := make(map[string]string)
	for line := range strings.Lines(out) {
		if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			properties[key] = value
		}
	}
	return properties, err
}

func systemctl(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	return command(ctx, limit, append([]string{"systemctl", "--user"}, args...)...)
}

// Logs shows the journal.
func (m userManager) Logs(follow bool, lines string) []string {
	argv := []string{"journalctl", "--user", "--unit=" + serviceUnit, "--lines=" + lines, "--no-pager"}
	if follow {
		argv = append(argv, "--follow")
	}
	return argv
}

// ByHand reads the units, then enables and starts them.
func (m userManager) ByHand() []string {
	return []string{"systemctl --user daemon-reload", "systemctl --user enable --now " + socketUnit + " " + serviceUnit}
}

// Restart keeps the socket: clients that connect meanwhile wait.
func (m userManager) Restart() string { return "systemctl --user restart " + serviceUnit }

// lingers is "on" or "off"; empty if the user is unknown.
func lingers() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	_, err = os.Stat(filepath.Join(lingerDir, u.Username))
	switch {
	case err == nil:
		return "on"
	case errors.Is(err, fs.ErrNotExist):
		return "off"
	}
	return ""
}
