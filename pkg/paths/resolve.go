package paths

import (
	"path/filepath"

	"podd/pkg/item"
)

// Flags are the values of the flags that name places; empty means not given.
type Flags struct {
	Socket   string
	StateDir string
	Config   string
}

// Place is a path and its origin.
type Place struct {
	// Path is absolute; empty if it is unknown.
	Path string
	// Origin is the flag or environment variable that decided, or "default".
	Origin string
	// Named says that a flag or one of podd's own variables names the place, so that it must
	// exist or be created.
	Named bool
}

// OriginDefault is the origin of a place that follows from the home directory alone.
const OriginDefault = "default"

// StateDir is the directory of everything that podd stores: --state-dir,
// $PODD_STATE_DIR, $XDG_STATE_HOME/podd or ~/.local/state/podd.
func StateDir(f Flags, env func(string) string) (Place, error) {
	if p, err := named(f.StateDir, "--state-dir", "PODD_STATE_DIR", env); err != nil || p.Named {
		return p, err
	}
	p := underBase("XDG_STATE_HOME", filepath.Join(".local", "state"), "podd", env)
	if p.Path == "" {
		return Place{}, item.Errorf(item.KindInvalid, "NO_STATE_DIR",
			"podd has no state directory because HOME is not set: name one with --state-dir or PODD_STATE_DIR")
	}
	return p, nil
}

// Socket is the socket that podd listens on: --socket, $PODD_SOCKET, podd.sock in
// a state directory that is named, $XDG_RUNTIME_DIR/podd/podd.sock, or podd.sock
// in the default state directory. A path that is too long for a socket is an
// error, as with CheckSocketLength.
func Socket(f Flags, env func(string) string) (Place, error) {
	p, err := socket(f, env)
	if err != nil {
		return Place{}, err
	}
	if err := CheckSocketLength(p.Path); err != nil {
		return Place{}, err
	}
	return p, nil
}

func socket(f Flags, env func(string) string) (Place, error) {
	if p, err := named(f.Socket, "--socket", "PODD_SOCKET", env); err != nil || p.Named {
		return p, err
	}
	state, err := StateDir(f, env)
	inState := Place{Path: filepath.Join(state.Path, socketName), Origin: state.Origin}
	if state.Named {
		return inState, nil
	}
	const variable = "XDG_RUNTIME_DIR"
	if base := env(variable); filepath.IsAbs(base) {
		return Place{Path: filepath.Join(base, "podd", socketName), Origin: variable}, nil
	}
	if err != nil {
		return Place{}, err
	}
	return inState, nil
}

const socketName = "podd.sock"

// ConfigFile is the configuration file: --config, $PODD_CONFIG,
// $XDG_CONFIG_HOME/podd/config.toml or ~/.config/podd/config.toml. Only a Named one must
// exist. Its path is empty without a home directory.
func ConfigFile(f Flags, env func(string) string) (Place, error) {
	if p, err := named(f.Config, "--config", "PODD_CONFIG", env); err != nil || p.Named {
		return p, err
	}
	return underBase("XDG_CONFIG_HOME", ".config", filepath.Join("podd", "config.toml"), env), nil
}

// named is the place that a flag or a variable names, made absolute; the zero Place if
// neither is set.
func named(flagValue, flag, variable string, env func(string) string) (Place, error) {
	path, origin := flagValue, flag
	if path == "" {
		path, origin = env(variable), variable
	}
	if path == "" {
		return Place{}, nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		e := item.Errorf(item.KindInvalid, "NO_WORKING_DIRECTORY",
			"%s is the relative path %s, but podd cannot read the working directory: use an absolute path", origin, path)
		e.Cause = err
		return Place{}, e
	}
	return Place{Path: absolute, Origin: origin, Named: true}, nil
}

// underBase is a place below an XDG base directory, or below its default in the
// home directory. The XDG rules say to ignore a base that is not absolute.
func underBase(variable, inHome, rest string, env func(string) string) Place {
	if base := env(variable); filepath.IsAbs(base) {
		return Place{Path: filepath.Join(base, rest), Origin: variable}
	}
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return Place{Origin: OriginDefault}
	}
	return Place{Path: filepath.Join(home, inHome, rest), Origin: OriginDefault}
}
