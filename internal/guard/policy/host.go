package policy

import (
	"errors"
	"net"
	"strings"

	"podd/pkg/lazy"
)

// hostForm matches a valid host in a rule: a name, an address, or a pattern of either,
// and a port.
var hostForm = lazy.Regexp(`^(?:\[[0-9a-f:.*]+\]|[0-9a-z_.*-]+|[0-9a-f:]*:[0-9a-f:.]*:[0-9a-f:.]*)(?::(?:[0-9]{1,5}|\*))?$`)

// compileHost reads a rule's host; an error continues "the host X ...".
func compileHost(pattern string) (string, error) {
	pattern = strings.ToLower(pattern)
	if strings.ContainsAny(pattern, "/@") {
		return "", errors.New(`is not a host: write a name such as "go.dev" or "*.go.dev", without https:// and path`)
	}
	if !hostForm().MatchString(pattern) {
		return "", errors.New(`is not a host: write a name such as "go.dev", "*.go.dev" or "localhost:8080"`)
	}
	return pattern, nil
}

// coversHost says whether a rule's host matches that of a call. Without a port an allow
// rule means the web's ports, 80 and 443, and a rule that denies or asks means every
// port.
func (c *compiled) coversHost(host string) bool {
	if hasPort(c.host) {
		return matchStars(strings.Split(c.host, "*"), host)
	}
	name, port := splitHost(host)
	return (c.Decision != Allow || webPort(port)) && matchStars(strings.Split(strings.Trim(c.host, "[]"), "*"), name)
}

// hasPort says whether a host includes a port. An IPv6 address with one is in brackets.
func hasPort(host string) bool {
	_, port := splitHost(host)
	return port != ""
}

func splitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return strings.Trim(host, "[]"), ""
	}
	return name, port
}

func webPort(port string) bool { return port == "80" || port == "443" }

// shortHost is a call's host without a web port.
func shortHost(host string) string {
	if name, port := splitHost(host); webPort(port) {
		return name
	}
	return host
}

// Opens says whether a rule that allows a tool's calls names this host with its port, so
// that the operator means it although its address may be private. No rule that denies may
// match.
func (p *Policy) Opens(tool, host string) bool {
	x := p.examine(Call{Tool: tool, Host: host})
	if x.first(Deny, alike) != nil {
		return false
	}
	return x.rule(func(r *compiled) bool { return r.Decision == Allow && hasPort(r.host) && r.coversHost(host) }) != nil
}
