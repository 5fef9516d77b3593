package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// class is a kind of programs that keep credentials in well-known places: keys, tokens,
// passwords, cookies, sockets of agents.
type class struct {
	name string
	// source is the documentation of the programs.
	source string
	// places are paths below the home directory. One that begins with $ begins with the
	// value of a variable, which may be a list.
	places []string
}

// credentials are hidden from commands. The list has a directory if everything in it is a
// secret or what a program would do with one; otherwise the files, so that caches and
// settings stay visible.
//
// It omits files that everyday work needs and that only might contain a token:
// .gitconfig, .cargo/config.toml, NuGet.Config, nix.conf.
var credentials = []class{
	{"remote access", "ssh(1), sshpass, PuTTY, vncpasswd(1), Remmina, Teleport, step-ca, Tailscale: manuals", []string{
		".ssh", ".putty", ".vnc/passwd", ".config/remmina", ".local/share/remmina", ".config/freerdp", ".tsh", ".step", ".sekey",
		".local/share/tailscale", ".cert", ".pki", ".smbcredentials", ".davfs2/secrets", ".config/filezilla", ".netrc", "$NETRC",
	}},
	{"keys", "gpg(1), age(1), minisign(1), sops: documentation", []string{
		".gnupg", "$GNUPGHOME", ".config/sops", "$SOPS_AGE_KEY_FILE", ".config/age", ".age", ".minisign", ".signify",
	}},
	{"password stores", "pass(1), gopass, KWallet, GNOME Keyring, Bitwarden, 1Password, LastPass, KeePassXC: documentation", []string{
		".password-store", "$PASSWORD_STORE_DIR", ".local/share/gopass", ".config/gopass", ".local/share/keyrings", ".local/share/kwalletd",
		".kde/share/apps/kwallet", ".config/Bitwarden CLI", ".config/Bitwarden", ".local/share/rbw", ".cache/rbw", ".config/op", ".op",
		".1password", ".config/1Password", ".local/share/lpass", ".lpass", ".config/keepassxc", ".cache/keepassxc", ".authinfo", ".authinfo.gpg",
		".vault-token", ".config/infisical", ".infisical", ".doppler", ".akeyless", ".consul-token",
	}},
	{"agents", "Claude Code, Codex, Gemini CLI, Copilot, Cursor, opencode, goose, aider, Continue, Amp, Qwen Code, Hugging Face, llm: documentation", []string{
		".claude/.credentials.json", ".claude.json", "$CLAUDE_CONFIG_DIR/.credentials.json", ".config/claude/.credentials.json",
		".codex/auth.json", "$CODEX_HOME/auth.json", ".gemini/oauth_creds.json", ".gemini/.env", ".gemini/mcp-oauth-tokens.json", ".qwen/oauth_creds.json", ".qwen/.env",
		".config/github-copilot", ".copilot", ".config/cursor/auth.json", ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json",
		".local/share/crush", ".config/goose/secrets.yaml", ".aider.conf.yml", ".continue/.env", ".continue/config.json", ".continue/config.yaml",
		".local/share/amp/secrets.json", ".factory/auth.json", ".codeium", ".tabnine", ".cody", ".config/io.datasette.llm/keys.json",
		".cache/huggingface/token", ".cache/huggingface/stored_tokens", "$HF_TOKEN_PATH", "$HF_HOME/token", "$HF_HOME/stored_tokens", ".huggingface",
		".kaggle", ".config/kaggle", ".ollama/id_ed25519", ".mcp-auth", ".openai", ".anthropic", ".config/openai", ".config/anthropic", ".config/wandb",
	}},
	{"clouds", "AWS, Azure, Google Cloud, Oracle, IBM, DigitalOcean, Hetzner, Linode, Fly, Vercel, Netlify, Cloudflare, Supabase, Firebase, Terraform, Pulumi, rclone, s3cmd, MinIO: documentation", []string{
		".aws", "$AWS_SHARED_CREDENTIALS_FILE", "$AWS_CONFIG_FILE", ".azure", "$AZURE_CONFIG_DIR", ".config/gcloud", "$CLOUDSDK_CONFIG", "$GOOGLE_APPLICATION_CREDENTIALS",
		".boto", "$BOTO_CONFIG", ".gsutil", ".oci", ".bluemix", ".aliyun", ".tccli", ".config/scw", ".config/doctl", ".config/hcloud", ".config/linode-cli", ".config/exoscale",
		".config/openstack", ".ovh.conf", ".fly", ".vercel", ".local/share/com.vercel.cli", ".config/netlify", ".netlify", ".wrangler", ".config/.wrangler",
		".cloudflared", ".railway", ".render", ".supabase", ".config/configstore/firebase-tools.json", ".config/heroku", ".local/share/heroku", ".scalingo",
		".terraform.d/credentials.tfrc.json", ".terraformrc", "$TF_CLI_CONFIG_FILE", ".pulumi/credentials.json", "$PULUMI_HOME/credentials.json",
		".config/rclone", "$RCLONE_CONFIG", ".rclone.conf", ".s3cfg", ".passwd-s3fs", ".mc", ".mcli", ".config/borg", ".config/syncthing", ".local/state/syncthing", ".dropbox", ".config/backblaze", ".b2_account_info",
	}},
	{"containers", "Docker, Podman, Kubernetes, Helm, Argo CD, minikube, Rancher, Talos: documentation", []string{
		".docker", "$DOCKER_CONFIG", ".dockercfg", ".config/containers/auth.json", "$REGISTRY_AUTH_FILE", ".kube", "$KUBECONFIG", ".config/helm/registry",
		".config/argocd", ".argocd", ".minikube/profiles", ".minikube/certs", ".minikube/ca.key", ".rancher", ".talos", ".config/k3d",
	}},
	{"databases", "PostgreSQL, MySQL, MongoDB, Snowflake, Databricks, ClickHouse, InfluxDB, Cassandra, DBeaver: documentation", []string{
		".pgpass", "$PGPASSFILE", ".pg_service.conf", "$PGSERVICEFILE", ".my.cnf", ".mylogin.cnf", ".mongodb", ".mongorc.js", ".snowsql", ".snowflake", ".config/snowflake",
		".databrickscfg", "$DATABRICKS_CONFIG_FILE", ".clickhouse-client", ".influxdbv2", ".cassandra", ".usqlpass", ".config/usql", ".local/share/DBeaverData", ".cockroach-certs", ".fauna", ".bigqueryrc",
	}},
	{"packages", "npm, Yarn, pnpm, pip, twine, Poetry, uv, Cargo, RubyGems, Bundler, Composer, Maven, Gradle, sbt, Hex, pub, Conan, LuaRocks: documentation", []string{
		".npmrc", "$NPM_CONFIG_USERCONFIG", ".yarnrc.yml", ".config/pnpm/auth.ini", ".pypirc", ".pip/pip.conf", ".config/pip/pip.conf", "$PIP_CONFIG_FILE",
		".config/pypoetry/auth.toml", ".local/share/uv/credentials", ".local/share/binstar", ".cargo/credentials", ".cargo/credentials.toml",
		"$CARGO_HOME/credentials", "$CARGO_HOME/credentials.toml", ".gem/credentials", ".local/share/gem/credentials", ".bundle/config", ".composer/auth.json", ".config/composer/auth.json",
		"$COMPOSER_HOME/auth.json", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", "$GRADLE_USER_HOME/gradle.properties", ".ivy2/.credentials", ".sbt/.credentials", ".sbt/1.0/credentials.sbt",
		".hex/hex.config", ".pub-cache/credentials.json", ".config/dart/pub-credentials.json", ".conan2/credentials.json", ".luarocks/upload_config.lua", ".jfrog", ".config/cachix", ".pause",
	}},
	{"forges and services", "git-credential-store(1), gh, glab, hub, tea, CircleCI, Travis, Sentry, Stripe, Twilio, Slack CLI, ngrok, Snyk, Expo, Android: documentation", []string{
		".git-credentials", ".config/git/credentials", ".cache/git/credential", ".git-credential-cache", ".config/gh", "$GH_CONFIG_DIR", ".config/glab-cli", ".config/hub", ".config/tea", ".config/lab", ".config/jira", ".config/.jira",
		".circleci", ".travis", ".buildkite", ".sentryclirc", ".config/stripe", ".twilio-cli", ".config/twilio", ".slack", ".config/ngrok", ".ngrok2", ".config/configstore/snyk.json", ".earthly", ".config/earthly",
		".expo", ".android/adbkey", ".src-config.json", ".config/Postman", ".config/Insomnia", ".atlassian", ".config/linear", ".config/notion",
	}},
	{"browsers", "Firefox, Chromium, Chrome, Brave, Edge, Vivaldi, Opera, Tor, and editors made of one: documentation of their profiles", []string{
		".mozilla", ".config/mozilla", ".config/google-chrome", ".config/google-chrome-beta", ".config/google-chrome-unstable", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
		".config/vivaldi", ".config/opera", ".librewolf", ".waterfox", ".zen", ".tor-browser", ".local/share/torbrowser", ".local/share/epiphany", ".local/share/qutebrowser",
		"snap/firefox", "snap/chromium", ".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".var/app/org.chromium.Chromium", ".var/app/com.brave.Browser",
		".config/Code/User/globalStorage", ".config/VSCodium/User/globalStorage", ".config/Cursor/User/globalStorage", ".config/Windsurf/User/globalStorage", ".vscode-server/data/User/globalStorage",
	}},
	{"mail and chat", "msmtp, isync, OfflineIMAP, fetchmail, mutt, aerc, Himalaya, Thunderbird, Signal, Telegram, WeeChat: documentation", []string{
		".msmtprc", ".config/msmtp", ".mbsyncrc", ".config/isyncrc", ".offlineimaprc", ".config/offlineimap", ".fetchmailrc", ".getmail", ".config/getmail", ".muttrc", ".mutt", ".config/mutt", ".config/neomutt",
		".config/aerc", ".config/himalaya", ".thunderbird", ".config/evolution", ".local/share/evolution", ".config/Signal", ".local/share/TelegramDesktop", ".config/discord", ".config/Slack", ".config/Element",
		".weechat/sec.conf", ".config/weechat/sec.conf", ".irssi", ".purple",
	}},
	{"wallets", "Bitcoin Core, Ethereum, Electrum, Monero, Solana, NEAR, Sui, Aptos, Foundry, LND, Zcash: documentation", []string{
		".bitcoin", ".litecoin", ".dogecoin", ".dashcore", ".zcash", ".ethereum", ".local/share/io.parity.ethereum", ".electrum", ".electrum-ltc", ".bitmonero", "Monero/wallets", ".config/monero-project",
		".config/solana", ".near-credentials", ".sui", ".aptos", ".foundry/keystores", ".brownie/accounts", ".starkli-wallets", ".config/Exodus", ".config/atomic", ".config/Ledger Live", ".lnd", ".lightning",
		".cardano", ".local/share/polkadot", ".multibit", ".armory", ".wasabi", ".walletwasabi",
	}},
	{"histories", "bash(1), zsh(1), fish(1), psql(1), mysql(1), redis-cli, Python, Node.js, Atuin: what was typed holds tokens", []string{
		".bash_history", ".zsh_history", ".zhistory", ".sh_history", ".local/share/fish/fish_history", ".local/share/atuin", ".psql_history", ".mysql_history", ".mariadb_history", ".rediscli_history", ".sqlite_history",
		".python_history", ".node_repl_history", ".irb_history", ".dbshell", ".local/state/bash/history", "$HISTFILE",
	}},
}

// xdg are the directories that a variable may move, by their default.
var xdg = map[string]string{
	".config/": "XDG_CONFIG_HOME", ".local/share/": "XDG_DATA_HOME", ".local/state/": "XDG_STATE_HOME", ".cache/": "XDG_CACHE_HOME",
}

// places are the paths of all credentials, existing or not, by the values of variables.
func places(variable func(string) string) (all []string) {
	home := variable("HOME")
	for _, c := range credentials {
		for _, place := range c.places {
			for _, path := range expand(place, home, variable) {
				// A variable could name anything: directories above the home directory are not
				// secret.
				above := path == "/" || filepath.IsAbs(home) && within(path, filepath.Clean(home))
				if !above && !slices.Contains(all, path) {
					all = append(all, path)
				}
			}
		}
	}
	return all
}

// expand are the absolute paths of a place in the table.
func expand(place, home string, variable func(string) string) (paths []string) {
	if name, ok := strings.CutPrefix(place, "$"); ok {
		name, rest, _ := strings.Cut(name, "/")
		for _, value := range filepath.SplitList(variable(name)) {
			paths = append(paths, filepath.Join(value, rest))
		}
	} else {
		paths = append(paths, filepath.Join(home, place))
	}
	for prefix, name := range xdg {
		if rest, ok := strings.CutPrefix(place, prefix); ok && variable(name) != "" {
			paths = append(paths, filepath.Join(variable(name), rest))
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}
