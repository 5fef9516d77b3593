package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podd/internal/guard/sandbox"
)

// wellKnown are files where programs keep credentials, according to their documentation.
const wellKnown = `
.ssh/id_ed25519 .ssh/config .putty/sshkeys .vnc/passwd .config/remmina/a.remmina .tsh/keys/a .step/secrets/key .netrc
.gnupg/private-keys-v1.d/a.key .config/sops/age/keys.txt .age/key.txt .minisign/minisign.key
.password-store/a.gpg .local/share/keyrings/login.keyring .local/share/kwalletd/kdewallet.kwl .config/Bitwarden\ CLI/data.json .config/op/config .authinfo .vault-token
.claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json .config/github-copilot/apps.json .local/share/opencode/auth.json .aider.conf.yml
.continue/config.json .config/goose/secrets.yaml .config/io.datasette.llm/keys.json .cache/huggingface/token .kaggle/kaggle.json .ollama/id_ed25519
.aws/credentials .aws/sso/cache/a.json .azure/msal_token_cache.json .config/gcloud/application_default_credentials.json .boto .oci/config .config/doctl/config.yaml
.config/hcloud/cli.toml .config/linode-cli .fly/config.yml .local/share/com.vercel.cli/auth.json .config/netlify/config.json .config/.wrangler/config/default.toml .supabase/access-token
.config/configstore/firebase-tools.json .terraform.d/credentials.tfrc.json .terraformrc .pulumi/credentials.json .config/rclone/rclone.conf .s3cfg .mc/config.json
.docker/config.json .config/containers/auth.json .kube/config .config/helm/registry/config.json .minikube/ca.key .talos/config
.pgpass .pg_service.conf .my.cnf .mylogin.cnf .snowsql/config .databrickscfg .influxdbv2/configs .cassandra/credentials .local/share/DBeaverData/workspace6/General/.dbeaver/credentials-config.json
.npmrc .yarnrc.yml .pypirc .config/pip/pip.conf .config/pypoetry/auth.toml .cargo/credentials.toml .cargo/credentials .gem/credentials .bundle/config .composer/auth.json
.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .sbt/.credentials .hex/hex.config .config/dart/pub-credentials.json
.git-credentials .config/git/credentials .config/gh/hosts.yml .config/glab-cli/config.yml .config/hub .circleci/cli.yml .sentryclirc .config/stripe/config.toml .config/ngrok/ngrok.yml .config/configstore/snyk.json
.mozilla/firefox/a/logins.json .config/google-chrome/Default/Cookies .config/chromium/Default/Cookies .config/BraveSoftware/a .config/Code/User/globalStorage/state.vscdb
.msmtprc .mbsyncrc .thunderbird/a/logins.json .config/Signal/config.json .weechat/sec.conf
.bitcoin/wallet.dat .ethereum/keystore/a .electrum/wallets/default_wallet .config/solana/id.json .foundry/keystores/a .bitmonero/a .lnd/a
.bash_history .zsh_history .local/share/fish/fish_history .psql_history .python_history`

// everyday are files that work needs.
const everyday = `
.gitconfig .config/git/config .config/git/ignore .npm/_cacache/index .cache/pip/http/a .config/pip/other .cargo/config.toml .cargo/registry/index/a .cargo/bin/tool .rustup/settings.toml
.m2/repository/a/a.jar .gradle/caches/a .gradle/wrapper/a go/pkg/mod/a/a.go .config/go/env .cache/go-build/a .gem/ruby/a .bundle/cache/a .composer/cache/a .local/share/pnpm/store/a .yarn/cache/a .nvm/versions/a
.local/share/uv/python/a .local/lib/python3/site-packages/a .pyenv/version .sdkman/a .cache/huggingface/hub/model .claude/settings.json .codex/config.toml .gemini/settings.json .minikube/cache/a .terraform.d/plugins/a .pulumi/plugins/a
.config/configstore/update-notifier.json .config/Code/User/settings.json .vimrc .local/bin/tool .nuget/packages/a .ollama/models/a`

// in makes files in the home directory and returns their paths.
func (h *house) in(list string) (paths []string) {
	h.t.Helper()
	for _, name := range strings.Fields(strings.ReplaceAll(list, `\ `, "\x00")) {
		path := filepath.Join("home", strings.ReplaceAll(name, "\x00", " "))
		if err := os.MkdirAll(filepath.Dir(h.path(path)), 0o700); err != nil {
			h.t.Fatal(err)
		}
		h.write(path)
		paths = append(paths, h.path(path))
	}
	return paths
}

// seen are the paths that a command can read.
func (h *house) seen(s *sandbox.Sandbox, paths []string) map[string]bool {
	h.t.Helper()
	out := h.run(s, "", append([]string{"/bin/sh", "-c", `for f; do grep -qs secret "$f" && echo "$f"; done; exit 0`, "sh"}, paths...)...)
	seen := map[string]bool{}
	for line := range strings.Lines(out) {
		seen[strings.TrimSuffix(line, "\n")] = true
	}
	return seen
}

// Commands can't read credentials, but can read what work needs.
func TestCredentialsAreHidden(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			hidden, open := h.in(wellKnown), h.in(everyday)
			s := h.sandbox(mode)
			if n := s.Credentials(); n < 100 {
				t.Errorf("%d places are hidden", n)
			}
			off := h.seen(h.sandbox(sandbox.Off), append(hidden, open...))
			seen := h.seen(s, append(hidden, open...))
			for _, path := range hidden {
				if !off[path] || seen[path] {
					t.Errorf("%s: read without a sandbox %v, in it %v", path, off[path], seen[path])
				}
			}
			for _, path := range open {
				if !seen[path] {
					t.Errorf("%s is hidden", path)
				}
			}
			if len(hidden) < 100 {
				t.Errorf("%d well-known files", len(hidden))
			}
		})
	}
}

// Variables move the places.
func TestCredentialsElsewhere(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			paths := h.in("conf/gh/hosts.yml data/opencode/auth.json conf/rclone/rclone.conf rust/credentials.toml kube1 kube2 pg .config/gh/hosts.yml")
			open := h.in("conf/other data/other rust/registry/a")
			for name, value := range map[string]string{
				"XDG_CONFIG_HOME": "home/conf", "XDG_DATA_HOME": "home/data", "CARGO_HOME": "home/rust", "PGPASSFILE": "home/pg",
			} {
				h.config.Environ = append([]string{name + "=" + h.path(value)}, h.config.Environ...)
			}
			// A variable with the home directory, or one above it, hides nothing.
			h.config.Environ = append([]string{"KUBECONFIG=" + h.path("home/kube1") + ":" + h.path("home/kube2"), "PASSWORD_STORE_DIR=" + h.base, "GNUPGHOME=relative"}, h.config.Environ...)
			seen := h.seen(h.sandbox(mode), append(paths, open...))
			for i, path := range append(paths, open...) {
				if seen[path] != (i >= len(paths)) {
					t.Errorf("%s: read %v", path, seen[path])
				}
			}
		})
	}
}

// A path that is hidden by default can be opened by its name, and nothing else with it,
// or hidden again.
func TestCredentialsAreReopened(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			h := newHouse(t)
			h.in(".npmrc .pypirc .aws/config .aws/credentials .kube/config dotfiles/ssh/id")
			h.write("outside/other")
			if err := os.RemoveAll(h.path("home/.ssh")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(h.path("home/dotfiles/ssh"), h.path("home/.ssh")); err != nil {
				t.Fatal(err)
			}
			all := []string{"home/.npmrc", "home/.pypirc", "home/.aws/config", "home/.aws/credentials", "home/.kube/config", "home/.ssh/id", "outside/other"}
			for i, name := range all {
				all[i] = h.path(name)
			}
			for _, c := range []struct{ read, seen []string }{
				{nil, []string{"outside/other"}},
				{[]string{"home/.npmrc", "home/.aws/config"}, []string{"outside/other", "home/.npmrc", "home/.aws/config"}},
				{[]string{"home/.ssh", "home/.kube"}, []string{"outside/other", "home/.ssh/id", "home/.kube/config"}},
				// A missing path neither opens nor hides anything.
				{[]string{"home/.pgpass"}, []string{"outside/other"}},
				{[]string{"outside", "home/.npmrc"}, []string{"outside/other", "home/.npmrc"}},
				{[]string{"home"}, nil},
			} {
				h.config.Read = nil
				for _, name := range c.read {
					h.config.Read = append(h.config.Read, h.path(name))
				}
				seen := h.seen(h.sandbox(mode), all)
				for _, name := range c.seen {
					if !seen[h.path(name)] {
						t.Errorf("read %v: %s is hidden", c.read, name)
					}
				}
				if len(seen) != len(c.seen) {
					t.Errorf("read %v: %v", c.read, seen)
				}
			}
		})
	}
}

// A hidden file still parses if its program would fail otherwise.
func TestHiddenFilesParse(t *testing.T) {
	h := newHouse(t)
	h.in(".composer/auth.json .m2/settings.xml .npmrc")
	out := h.run(h.sandbox(sandbox.Bwrap), "", "/bin/sh", "-c", "cd "+h.path("home")+"; cat .composer/auth.json .m2/settings.xml .npmrc; echo x >.composer/auth.json; exec 2>&1; rm .npmrc")
	if !strings.HasPrefix(out, "{}\n<settings/>\n") || strings.Contains(out, "secret") {
		t.Errorf("%q", out)
	}
	if text, err := os.ReadFile(h.path("home/.composer/auth.json")); err != nil || !strings.Contains(string(text), "secret") {
		t.Errorf("the file itself: %q, %v", text, err)
	}
}

// Everyday programs work with their credentials hidden.
func TestProgramsWithHiddenCredentials(t *testing.T) {
	for _, mode := range modes {
		for _, command := range []string{"npm config get registry", "pip --version && pip config list", "go version && go env GOPROXY", "git config --global user.name", "git ls-files"} {
			name, _, _ := strings.Cut(command, " ")
			if _, err := exec.LookPath(name); err != nil {
				continue
			}
			t.Run(mode+"/"+name, func(t *testing.T) {
				h := newHouse(t)
				h.in(".npmrc .config/pip/pip.conf .netrc .git-credentials")
				if err := os.WriteFile(h.path("home/.gitconfig"), []byte("[user]\nname = ada\n[safe]\ndirectory = *\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				out := h.run(h.sandbox(mode), "", "/bin/sh", "-c", "export HOME="+h.path("home")+" PATH="+os.Getenv("PATH")+"; { git init -q sub/repo && cd sub/repo; } >/dev/null; if out=$({ "+command+"; } 2>&1); then echo ok; else echo \"$out\"; fi")
				if !strings.HasSuffix(out, "ok") {
					t.Errorf("%s: %s", command, out)
				}
			})
		}
	}
}
