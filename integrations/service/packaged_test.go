//go:build integrations && linux

package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// The units of a package are enabled, restarted and reported. podd service install puts a person's own in their place, and
// once those are removed, the package's can be enabled again.
func TestPackagedUnits(t *testing.T) {
	if !alone(t) {
		return
	}
	u := newHome(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("yes")) })
	// systemd reads these as it does those in /usr/lib.
	const packaged = "/run/systemd/user"
	if err := os.MkdirAll(packaged, 0o755); err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(u.run(nil, "podd", "service", "install", "--dry-run"), "==> ") {
		if path, unit, ok := strings.Cut(text, "\n"); ok {
			if err := os.WriteFile(filepath.Join(packaged, filepath.Base(path)), []byte(unit), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	u.login()
	u.run(nil, "systemctl", "--user", "enable", "--now", "podd.socket", "podd.service")
	u.run([]string{packaged + "/podd.service", "enabled", "active (running)"}, "podd", "service", "status")
	before := u.property("MainPID")
	u.run([]string{"podd was restarted"}, "podd", "service", "restart")
	if u.property("MainPID") == before {
		t.Error("podd was not restarted")
	}

	own := filepath.Join(u.dir, ".config", "systemd", "user", "podd.service")
	u.run([]string{"wrote " + own, "podd was restarted"}, "podd", "service", "install")
	u.run([]string{own, "enabled", "active (running)"}, "podd", "service", "status")
	u.run([]string{"removed " + own}, "podd", "service", "uninstall")
	u.fails([]string{packaged + "/podd.service", "disabled", "inactive (dead)", "the service is not running"}, "podd", "service", "status")
	u.run(nil, "systemctl", "--user", "enable", "--now", "podd.socket", "podd.service")
	u.run([]string{packaged + "/podd.service", "enabled", "active (running)"}, "podd", "service", "status")
}
