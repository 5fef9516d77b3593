//go:build integrations && linux

package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// The list of parts names the release, and each module that Go says is in a program, with its version.
func TestParts(t *testing.T) {
	text, err := os.ReadFile(released(t, "podd-*.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	type component struct{ Name, Version string }
	var parts struct {
		Metadata   struct{ Component component }
		Components []component
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	if got := parts.Metadata.Component; got.Version != version {
		t.Errorf("the parts are of %v", got)
	}
	known := map[component]bool{}
	for _, c := range parts.Components {
		known[c] = true
	}
	dir := t.TempDir()
	rig.Run(t, exec.Command("tar", "--extract", "--strip-components=1", "--directory", dir, "--file", released(t, "podd-*.tar.gz")))
	modules := 0
	for line := range strings.Lines(rig.Run(t, exec.Command("go", "version", "-m", filepath.Join(dir, "bin", "podd"), filepath.Join(dir, "bin", "podctl")))) {
		if f := strings.Fields(line); len(f) >= 3 && f[0] == "dep" {
			modules++
			if !known[component{f[1], f[2]}] {
				t.Errorf("the list lacks %s %s", f[1], f[2])
			}
		}
	}
	if modules < 20 {
		t.Errorf("the programs have %d modules", modules)
	}
}
