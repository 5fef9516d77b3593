package version_test

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/version"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func stamped(main string, settings ...string) *debug.BuildInfo {
	b := &debug.BuildInfo{Main: debug.Module{Path: "podd", Version: main}}
	for i := 0; i < len(settings); i += 2 {
		b.Settings = append(b.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
	}
	return b
}

func TestString(t *testing.T) {
	toolchain := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	revision := strings.Repeat("4f2c1a9b7d", 4)
	tests := map[string]struct {
		build *debug.BuildInfo
		want  string
	}{
		"no build information": {nil, "devel"},
		"no version":           {stamped(""), "devel"},
		"work tree":            {stamped("(devel)"), "devel"},
		"release":              {stamped("v0.2.0"), "v0.2.0"},
		"commit":               {stamped("(devel)", "vcs.revision", revision, "vcs.modified", "false"), "devel (4f2c1a9b7d4f)"},
		"commit with changes":  {stamped("v0.2.0", "vcs.revision", revision, "vcs.modified", "true"), "v0.2.0 (4f2c1a9b7d4f, modified)"},
		"short revision":       {stamped("v0.2.0", "vcs.revision", "4f2c"), "v0.2.0 (4f2c)"},
		"pseudo-version": {
			stamped("v0.0.0-20260203040506-4f2c1a9b7d4f+dirty", "vcs.revision", revision, "vcs.modified", "true"),
			"v0.0.0-20260203040506-4f2c1a9b7d4f+dirty",
		},
		"changes alone": {stamped("", "vcs.modified", "true"), "devel (modified)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := version.From(tt.build).String(); got != tt.want+toolchain {
				t.Errorf("got %q, want %q", got, tt.want+toolchain)
			}
		})
	}
}

func TestFromKeepsWhatTheToolchainStamped(t *testing.T) {
	got := version.From(stamped("v1.0.0", "vcs.revision", "abc", "vcs.time", "2026-02-03T04:05:06Z", "vcs.modified", "true"))
	want := version.Info{
		Version: "v1.0.0", Revision: "abc", Time: "2026-02-03T04:05:06Z", Modified: true,
		GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRunningBinary(t *testing.T) {
	if got := version.String(); got != version.Get().String() || !strings.Contains(got, runtime.Version()) {
		t.Errorf("the running binary is described as %q", got)
	}
}
