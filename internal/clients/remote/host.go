package remote

import (
	"net/url"
	"strings"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Host is where another podd runs.
type Host struct {
	// user and port may be empty: then ssh's configuration decides.
	user, name, port string
}

// ParseHost reads ssh://[USER@]HOST[:PORT].
func ParseHost(text string) (Host, error) {
	bad := func(why string) error {
		return item.Errorf(item.KindInvalid, "BAD_HOST", "the host %q %s: write ssh://[USER@]HOST[:PORT]", text, why)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return Host{}, bad("is not an address")
	case u.Scheme != "ssh" || u.Opaque != "":
		return Host{}, bad("does not begin with ssh://")
	case u.Hostname() == "":
		return Host{}, bad("has no name")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return Host{}, bad("has more than a name")
	}
	h := Host{user: u.User.Username(), name: u.Hostname(), port: u.Port()}
	if _, has := u.User.Password(); has {
		return Host{}, item.Errorf(item.KindInvalid, "BAD_HOST", "the host has a password, which other users could see: use a key, and write ssh://[USER@]HOST[:PORT]")
	}
	// ssh would take them for options.
	if strings.HasPrefix(h.name, "-") || strings.HasPrefix(h.user, "-") {
		return Host{}, bad("begins with a dash")
	}
	return h, nil
}

// String is the address that ParseHost reads.
func (h Host) String() string {
	u := url.URL{Scheme: "ssh", Host: h.name}
	if strings.Contains(h.name, ":") {
		u.Host = "[" + h.name + "]"
	}
	if h.port != "" {
		u.Host += ":" + h.port
	}
	if h.user != "" {
		u.User = url.User(h.user)
	}
	return u.String()
}

// command is how a person tries the host in a shell.
func (h Host) command() string {
	command, to := "ssh ", h.name
	if h.port != "" {
		command += "-p " + sanitize.Word(h.port) + " "
	}
	if h.user != "" {
		to = h.user + "@" + h.name
	}
	return command + sanitize.Word(to)
}

// arguments are ssh's, with options about forwardings. Nothing of this machine is forwarded to
// the other one. A connection that is lost without a word ends within a minute.
func (h Host) arguments(forwardings ...string) []string {
	args := append([]string{"-T", "-a", "-x"}, forwardings...)
	args = append(args, "-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15")
	if h.user != "" {
		args = append(args, "-l", h.user)
	}
	if h.port != "" {
		args = append(args, "-p", h.port)
	}
	return append(args, "--", h.name, "podctl", "dial-stdio")
}
