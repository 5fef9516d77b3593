package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"podd/internal/config"
	"podd/internal/ops/service"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/paths"
)

// servicePlan is the plan for the service of this podd.
func (p *program) servicePlan() (plan service.Plan, err error) {
	if plan.Program, err = stableProgram(p.env("PATH")); err != nil {
		return plan, err
	}
	plan.Path = service.CleanPath(p.env("PATH"))
	state, err := paths.StateDir(p.places, p.env)
	if err != nil {
		return plan, err
	}
	if state.Origin != paths.OriginDefault {
		plan.Args = append(plan.Args, "--state-dir", state.Path)
	}
	file, err := paths.ConfigFile(p.places, p.env)
	if err != nil {
		return plan, err
	}
	if file.Origin != paths.OriginDefault {
		plan.Args = append(plan.Args, "--config", file.Path)
	}
	socket, err := paths.Socket(p.places, p.env)
	if err != nil {
		return plan, err
	}
	if socket.Named || state.Named {
		plan.Socket = socket.Path
	}
	return plan, nil
}

// stableProgram is the path of this podd: the one in PATH, which may be a link that
// survives updates of podd, otherwise its own.
func stableProgram(path string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	is, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(path) {
		there := filepath.Join(dir, "podd")
		if info, err := os.Stat(there); err == nil && filepath.IsAbs(dir) && os.SameFile(info, is) {
			return there, nil
		}
	}
	return self, nil
}

// heldByHand is why podd can't be started as a service now: a podd that is not the service
// is using the state directory.
func (p *program) heldByHand(ctx context.Context, s service.Service) (held, err error) {
	if is, err := s.Status(ctx); err == nil && is.PID != "" {
		return nil, nil
	}
	return p.held()
}

// held is why a podd of this state directory can't start: another one uses it.
func (p *program) held() (held, err error) {
	state, err := paths.StateDir(p.places, p.env)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(state.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	lock, err := paths.LockStateDir(state.Path)
	if item.ReasonOf(err) == "HELD" {
		return err, nil
	}
	if err == nil {
		lock.Release()
	}
	return nil, err
}

// serviceSettings is the configuration that the service will have without the variables of
// this shell, and hints about settings that it will lack.
func (p *program) serviceSettings() (config.Config, []string, error) {
	file, err := paths.ConfigFile(p.places, p.env)
	if err != nil {
		return config.Config{}, nil, err
	}
	settings, err := config.Load(file.Path, file.Named, func(string) string { return "" })
	if err != nil {
		return settings, nil, err
	}
	var hints []string
	for _, v := range []struct{ variable, key, value string }{
		{"OPENAI_BASE_URL", "base_url", p.env("OPENAI_BASE_URL")}, {"PODD_MODEL", "model", p.env("PODD_MODEL")},
	} {
		if v.value != "" {
			hints = append(hints, fmt.Sprintf("%s is set in this shell, but the service does not see it: put %s = %s in %s",
				v.variable, v.key, strconv.Quote(v.value), sanitize.Line(file.Path)))
		}
	}
	return settings, hints, nil
}

// keyHint says how the service gets a key.
func keyHint(env func(string) string) string {
	dir := filepath.Join(env("HOME"), ".config", "podd")
	why := "No API key is configured for the model endpoint"
	if env("OPENAI_API_KEY") != "" {
		why = "OPENAI_API_KEY is set in this shell, but the service does not see it"
	}
	return fmt.Sprintf("%s. Put the key in its own file and name that in config.toml:\n"+
		"    mkdir -p %[3]s && (umask 077; cat > %[3]s/openai_api_key)     # paste the key, then Ctrl-D\n"+
		"    (echo 'api_key_file = \"%[2]s/openai_api_key\"'; cat %[3]s/config.toml 2>/dev/null) > %[3]s/config.new\n"+
		"    mv %[3]s/config.new %[3]s/config.toml\n"+
		"    podctl reload", why, dir, sanitize.Word(dir))
}

// lingerHint says what happens when the user logs out.
func lingerHint(is service.Status) []string {
	if is.Lingers != "off" {
		return nil
	}
	return []string{"lingering is off: podd stops when you log out and starts when you log in. To keep it running: loginctl enable-linger"}
}
