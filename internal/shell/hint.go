package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"podd/internal/guard/sandbox"
	"podd/pkg/lazy"
	"podd/pkg/scopefs"
)

// What programs print when a sandbox keeps something from them.
var (
	saysReadOnly = lazy.Regexp(`Read-only file system|Device or resource busy|EROFS`)
	saysNetwork  = lazy.Regexp(`(?i)could(?: not|n't) resolve|unable to resolve|failed to resolve|temporary failure|name or service not known|no such host|` +
		`NameResolutionError|getaddrinfo|EAI_AGAIN|ENOTFOUND|failed to lookup address|dns error|` +
		`network is unreachable|ENETUNREACH|no route to host|address family not supported|EAFNOSUPPORT`)
	saysLoopback = lazy.Regexp(`(?i)(?:localhost|127\.0\.0\.1|\[?::1\b).*(?:refused|ECONNREFUSED|connect to server|failed)|(?:refused|ECONNREFUSED).*(?:localhost|127\.0\.0\.1|::1)`)
	plainPath    = lazy.Regexp(`^[\w@%+:,./-]+$`)
	saysKey      = lazy.Regexp(`Permission denied \(publickey|could not read (?:Username|Password)|Host key verification failed`)
)

// hint says in half a sentence which access helps where the output looks as if the sandbox
// kept something from the command; empty when it does not.
func (r *run) hint(output string) string {
	s := r.Runner
	if s.FS == nil || r.call.Plan || !s.boxed(r.args) {
		return ""
	}
	use := s.granted(r.call, r.args)
	for said := range strings.Lines(output) {
		text := ""
		switch {
		case saysReadOnly().MatchString(said):
			text = outsideHint
		case s.Sandbox.Mode() == sandbox.Landlock && strings.Contains(said, "Permission denied") && s.isOutside(said):
			text = outsideHint
		case !use.network && saysNetwork().MatchString(said):
			text = `; commands have no network here: if it needs one, call again with access "network" and why`
		case !use.network && s.Sandbox.Mode() == sandbox.Bwrap && saysLoopback().MatchString(said):
			text = `; each command has a loopback of its own: to reach a server outside, call again with access "network" and why`
		case saysKey().MatchString(said):
			text = `; the sandbox hides keys and credentials: if it needs them, call again with access "host" and why`
		}
		if text != "" {
			return text
		}
	}
	return ""
}

const outsideHint = `; only the workspace and $TMPDIR can be written: write there, or call again with access "host" and why`

// has says whether a path lies in one of the pod's directories.
func (s *Runner) has(path string) bool {
	return slices.ContainsFunc(s.FS.Roots(), func(r scopefs.Root) bool {
		rel, err := filepath.Rel(r.Path, path)
		return err == nil && filepath.IsLocal(rel)
	})
}
