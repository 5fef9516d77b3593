//go:build integrations && release && linux

package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"podd/integrations/rig"
)

// Ruby parses the formula of Homebrew. It names the archives by their sums, and installs only what they have.
func TestFormula(t *testing.T) {
	formula := wholeFile(t, "podd.rb")
	if said := rig.Run(t, exec.Command(rig.Need(t, "ruby"), "-wc", formula)); said != "Syntax OK\n" {
		t.Errorf("ruby says %q", said)
	}
	text, err := os.ReadFile(formula)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(wholeFile(t, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`url "`+address+`/(\S+)"\s+sha256 "(\S+)"`).FindAllStringSubmatch(string(text), -1)
	for _, n := range named {
		if !strings.Contains(string(sums), n[2]+"  "+n[1]+"\n") {
			t.Errorf("the formula has %s of %s", n[2], n[1])
		}
	}
	if len(named) != 4 {
		t.Errorf("the formula names %d archives", len(named))
	}
	for _, system := range []string{"linux", "darwin"} {
		dir := t.TempDir()
		unpack(t, wholeFile(t, "podd-*-"+system+"-arm64.tar.gz"), dir)
		installed := regexp.MustCompile(`\.install .*"(.+)"`).FindAllStringSubmatch(string(text), -1)
		for _, pattern := range installed {
			if found, err := filepath.Glob(filepath.Join(dir, pattern[1])); err != nil || found == nil {
				t.Errorf("the archive for %s has no %s: %v", system, pattern[1], err)
			}
		}
		if len(installed) < 8 {
			t.Errorf("the formula installs %v", installed)
		}
	}
}

// nixpkgs has what the flake needs of it, as a flake that needs no network. The archives are below a directory.
const nixpkgs = `{
  outputs = { self }: {
    legacyPackages = builtins.listToAttrs (map (system: { name = system; value = {
      fetchurl = { url, sha256 }: builtins.path { path = /. + "%s/${baseNameOf url}"; inherit sha256; recursive = false; };
      stdenv.mkDerivation = { pname, version, src, installPhase, meta, ... }: derivation {
        name = "${pname}-${version}"; inherit system src; builder = "/bin/sh"; PATH = "/usr/bin:/bin";
        args = [ "-euc" ("tar -xzf $src; cd *; " + installPhase) ];
      } // { inherit meta; };
    }; }) [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ]);
  };
}
`

// Nix accepts the flake, and builds, runs and removes podd with it.
func TestFlake(t *testing.T) {
	rig.Need(t, "nix")
	flake, dir := wholeFile(t, "flake.nix"), t.TempDir()
	in := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	text, err := os.ReadFile(flake)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"podd/flake.nix": string(text), "nixpkgs/flake.nix": fmt.Sprintf(nixpkgs, filepath.Dir(flake)),
		"conf/nix.conf": "experimental-features = nix-command flakes\nsandbox = false\nbuild-users-group =\nsubstituters =\n", //nolint:misspell // Nix calls them so.
	} {
		if err := os.MkdirAll(filepath.Dir(in(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nix := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("nix", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in("home"), "NIX_CONF_DIR=" + in("conf"),
			"NIX_STORE_DIR=" + in("store"), "NIX_STATE_DIR=" + in("state"), "NIX_LOG_DIR=" + in("log"), "NIX_LOCALSTATE_DIR=" + in("state")}
		return rig.Run(t, cmd)
	}
	with := func(args ...string) []string {
		return append(args, "--impure", "path:"+in("podd"), "--override-input", "nixpkgs", "path:"+in("nixpkgs"), "--no-write-lock-file")
	}
	nix(with("flake", "check")...)
	if said := nix(append(with("run"), "--", "version")...); !strings.HasPrefix(said, "podd "+version) || !strings.Contains(said, runtime.GOARCH) {
		t.Errorf("nix run says %q", said)
	}
	nix(with("profile", "install", "--profile", in("profile"))...)
	if said := rig.Run(t, exec.Command(in("profile", "bin", "podctl"), "version")); !strings.HasPrefix(said, "podctl: "+version) {
		t.Errorf("podctl version says %q", said)
	}
	nix("profile", "remove", "--profile", in("profile"), "0")
	if _, err := os.Stat(in("profile", "bin", "podctl")); err == nil {
		t.Error("the removal left podctl")
	}
	// Nix makes what it has built read-only.
	rig.Run(t, exec.Command("chmod", "--recursive", "u+w", in("store")))
}
