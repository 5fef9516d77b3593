package shell

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// maxWhy bounds what a model says of why it needs access, in bytes.
const maxWhy = 300

// checkAccess brings access and why to one form: both, or neither.
func (a *shellArgs) checkAccess() error {
	if a.Access == item.AccessSandbox {
		a.Access = ""
	}
	if a.Access == "" {
		a.Why = ""
		return nil
	}
	switch a.Why = strings.TrimSpace(a.Why); {
	case a.Why == "":
		return fmt.Errorf("why is missing: say what the command needs access %q for", a.Access)
	case len(a.Why) > maxWhy:
		return fmt.Errorf("why has %d bytes: say it in %d", len(a.Why), maxWhy)
	case strings.ContainsRune(a.Why, 0):
		return errors.New("why has a NUL character: remove it")
	}
	return nil
}

// grant is what one command gets of the machine.
type grant struct {
	// level is what the call asks for. beyond says that it is more than the pod has.
	level  item.Access
	beyond bool
	// network is the machine's network, host everything: no sandbox.
	network, host bool
}

// grant is what a command gets that may run.
func (s *Runner) grant(args shellArgs) grant {
	g := grant{level: cmp.Or(args.Access, item.AccessSandbox)}
	if !s.confines() {
		return g // All levels are the same.
	}
	if g.level == item.AccessHost {
		g.host, g.beyond = true, true
		return g
	}
	g.network = s.network()
	if g.level == item.AccessNetwork {
		g.network, g.beyond = true, !g.network
	}
	return g
}

// granted is what a command gets. In a turn that only plans no command gets more than to read.
func (s *Runner) granted(call *tool.Invocation, args shellArgs) grant {
	if call.Plan {
		return grant{level: item.AccessSandbox}
	}
	return s.grant(args)
}

// reached is what a command with a grant can use.
func (s *Runner) reached(use grant) item.Access {
	switch {
	case use.host || !s.confines():
		return item.AccessHost
	case use.network:
		return item.AccessNetwork
	}
	return item.AccessSandbox
}

// network says whether the pod's commands reach the network unasked.
func (s *Runner) network() bool {
	if s.Place.Network != nil {
		return s.Place.Network()
	}
	return s.Sandbox.Network
}

// boxed says whether a command runs in the sandbox.
func (s *Runner) boxed(args shellArgs) bool { return s.confines() && args.Access != item.AccessHost }
