//go:build integrations

package nvim

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// The repository of the plugin works where a plugin manager clones it, and is the same whenever it is made.
func TestRepository(t *testing.T) {
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	makeRepo := func(dir string) ([]byte, error) {
		return exec.Command("make", "-s", "-C", rig.Root(), "nvim-repo", "DIR="+dir).CombinedOutput()
	}
	head := func(dir string) string { return rig.Run(t, exec.Command("git", "-C", dir, "rev-parse", "HEAD")) }
	for _, dir := range []string{repo, filepath.Join(dir, "again")} {
		if said, err := makeRepo(dir); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	if again := head(filepath.Join(dir, "again")); head(repo) != again {
		t.Errorf("one repository is at %s, the other at %s", head(repo), again)
	}
	if said, err := makeRepo(repo); err == nil || strings.Count(string(said), "make nvim-repo: "+repo+" is not empty") != 1 {
		t.Errorf("%v: %s", err, said)
	}
	for _, file := range []string{"lua/podd/init.lua", "plugin/podd.lua", "doc/podd.txt", "LICENSE", "README.md"} {
		if _, err := os.Stat(filepath.Join(repo, file)); err != nil {
			t.Error(err)
		}
	}

	w := newWorld(t, hello)
	makePod(t, w)
	site := filepath.Join(dir, "share", "nvim", "site", "pack", "managed", "start", "podd")
	rig.Run(t, exec.Command("git", "clone", "-q", "file://"+repo, site))
	c := w.Command("nvim", "--headless", "-n", "-i", "NONE", "-c", "helptags ALL", "-c", "help :Podd-approvals", "-c", "Podd submit hello",
		"-c", `lua assert(vim.wait(60000, function() for _, b in ipairs(vim.api.nvim_list_bufs()) do if table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, false), '\n'):find('turn 1 finished', 1, true) then return true end end end, 20))`,
		"-c", "qall!")
	c.Env = append(c.Env, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+filepath.Join(dir, "share"), "XDG_DATA_DIRS="+dir)
	if said, err := c.CombinedOutput(); err != nil || strings.Contains(string(said), "E5") || strings.Contains(string(said), "E149") {
		t.Errorf("%v: %s", err, said)
	}
	if status := rig.Run(t, exec.Command("git", "-C", site, "status", "--porcelain")); status != "" {
		t.Errorf("the clone changed: %s", status)
	}
}
