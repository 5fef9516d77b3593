package main

import (
	"fmt"
	"path/filepath"

	"podd/internal/clients/remote"
	"podd/pkg/client"
	"podd/pkg/paths"
)

// address says which podd is meant, of this machine or of another one.
type address struct {
	paths.Flags
	// host is that of -H.
	host string
	env  func(string) string
}

// clientConfig says where that podd is.
func (a *address) clientConfig() (client.Config, error) {
	text, err := a.hostText()
	switch {
	case err != nil:
		return client.Config{}, err
	case text == "":
		return a.localConfig()
	}
	host, err := parseHost(text)
	if err != nil {
		return client.Config{}, err
	}
	there := remote.New(host)
	return client.Config{Socket: host.String(), Dial: there.Dial, Token: there.Token}, nil
}

func parseHost(text string) (remote.Host, error) {
	host, err := remote.ParseHost(text)
	if err != nil {
		return host, usagef("%w", err)
	}
	return host, nil
}

// hostText is the host of -H or $PODD_HOST; "" for the podd of this machine. A flag that names
// a podd goes before variables.
func (a *address) hostText() (string, error) {
	flag := a.Socket != "" || a.StateDir != ""
	switch {
	case a.host != "" && flag:
		return "", usagef("--socket and --state-dir name a podd of this machine: leave them out, or -H")
	case a.host != "" || flag:
		return a.host, nil
	case a.env(hostVariable) != "" && a.env("PODD_SOCKET") != "":
		return "", usagef("PODD_HOST and PODD_SOCKET name different podds: unset one, or use -H or --socket")
	}
	return a.env(hostVariable), nil
}

const hostVariable = "PODD_HOST"

// remote says whether podd runs on another machine. connect reports a bad host.
func (a *address) remote() bool {
	text, err := a.hostText()
	return err == nil && text != ""
}

// directory makes a path absolute. For another machine it must be so already: the current
// directory is of this one.
func (a *address) directory(path string, to *string) error {
	switch {
	case path == "":
		return usagef("the path of the directory is empty")
	case a.remote() && !filepath.IsAbs(path):
		return usagef("%q is a path of this machine: with -H, give an absolute path of the other one", path)
	}
	whole, err := filepath.Abs(valid(path))
	if err != nil {
		return fmt.Errorf("cannot read the current directory: %w", err)
	}
	*to = whole
	return nil
}

// localConfig says where the podd of this machine is.
func (a *address) localConfig() (client.Config, error) {
	socket, err := paths.Socket(a.Flags, a.env)
	if err != nil {
		return client.Config{}, err
	}
	// Without a state directory the calls that need the client token are refused;
	// all others work.
	state, _ := paths.StateDir(a.Flags, a.env)
	return client.Config{Socket: socket.Path, StateDir: state.Path}, nil
}

// directories makes paths absolute. A single empty path means an empty list.
func (a *address) directories(paths []string, to *[]string) error {
	if len(paths) == 1 && paths[0] == "" {
		*to = nil
		return nil
	}
	all := make([]string, len(paths))
	for i, path := range paths {
		if err := a.directory(path, &all[i]); err != nil {
			return err
		}
	}
	*to = all
	return nil
}

// baseInstructions takes a word, or makes the path of a file absolute.
func (a *address) baseInstructions(value string, to *string) error {
	if value == "" || value == "builtin" || value == "none" {
		*to = value
		return nil
	}
	return a.directory(value, to)
}
