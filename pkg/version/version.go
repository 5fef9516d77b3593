// Package version identifies this podd, from what the Go toolchain wrote into the binary
// or make release told the linker; there is no version to maintain by hand.
//
// Rank 0: it imports nothing of podd. All of it is safe for concurrent use.
package version

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// unknown is the version of a binary that was built outside of a repository and of a
// module download.
const unknown = "devel"

// commit is what make found where the toolchain found no git, and release the version that
// make release was told, such as v0.1.0; empty otherwise.
var commit, release string

// Info describes a build.
type Info struct {
	// Version is the module's version: a tag, a pseudo-version, or "devel".
	Version string
	// Revision is the full commit; empty when the toolchain did not stamp one.
	Revision string
	// Time is when the commit was made, in RFC 3339; empty without a Revision.
	Time string
	// Modified says that the work tree had uncommitted changes.
	Modified bool
	// GoVersion is the toolchain, such as "go1.26.8".
	GoVersion string
	// Platform is the system and processor, such as "linux/amd64".
	Platform string
}

// Get describes the running binary.
func Get() Info {
	b, _ := debug.ReadBuildInfo()
	return From(b)
}

// From describes the build of b. A nil b, as of a binary without build information, gives
// the version "devel".
func From(b *debug.BuildInfo) Info {
	i := Info{
		Version:   unknown,
		GoVersion: runtime.Version(),
		Platform:  runtime.GOOS + "/" + runtime.GOARCH,
	}
	i.Revision = commit
	if b == nil {
		return i
	}
	if v := cmp.Or(release, b.Main.Version); v != "" && v != "(devel)" {
		i.Version = v
	}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Revision = s.Value
		case "vcs.time":
			i.Time = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

// String is one line for people: the version, the commit, the toolchain and the platform,
// such as "v0.2.0 (4f2c1a9b7d3e, modified) go1.26.8 linux/amd64". It does not repeat what
// a pseudo-version already contains.
func (i Info) String() string {
	var commit []string
	if short := i.Revision[:min(len(i.Revision), 12)]; !strings.Contains(i.Version, short) {
		commit = append(commit, short)
	}
	if i.Modified && !strings.HasSuffix(i.Version, "+dirty") {
		commit = append(commit, "modified")
	}
	parts := []string{i.Version}
	if len(commit) > 0 {
		parts = append(parts, "("+strings.Join(commit, ", ")+")")
	}
	return strings.Join(append(parts, i.GoVersion, i.Platform), " ")
}

// String describes the running binary in one line.
func String() string {
	return Get().String()
}
