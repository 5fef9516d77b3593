package service

import "strings"

// The names of the units.
const (
	socketUnit  = "podd.socket"
	serviceUnit = "podd.service"
)

// Units are the units for systemd's user manager.
//
// KillMode=process: podd ends its commands itself when it stops; the commands of a killed
// podd keep running, and the next podd finds their results. At a restart podd leaves them running
// (RestartKillSignal=SIGUSR1; systemd 244). OOMPolicy=continue: a command
// that uses too much memory does not stop podd. Exit code 64 means an invalid configuration,
// 3 a damaged database: a restart repairs neither. After anything else podd is started again,
// also after exit code 2, with which Go ends a program that crashes. The start limit is above what
// Restart= does, so that only a client which waits at the socket of a podd that cannot start
// reaches it. A start may have to check and migrate a large store.
//
// The hardening options are those that a user manager can apply to podd, and so to hooks,
// interceptors and commands without a sandbox: no privileges through setuid files; no system
// calls for the clock, modules, swap, reboot or raw hardware; no socket families but those
// that bwrap and the network need. Options that need a mount namespace (ProtectSystem=,
// ProtectKernelTunables=, PrivateTmp=...) are left out, because inside one the kernel refuses
// bwrap's /proc. So are options that break everyday programs: LockPersonality= (gdb, the
// thread sanitizer), MemoryDenyWriteExecute= (JIT compilers), RestrictSUIDSGID= (git init
// --shared).
func Units(p Plan) []File {
	listen := "%t/podd/podd.sock"
	if p.Socket != "" {
		listen = strings.ReplaceAll(p.Socket, "%", "%%")
	}
	socket := unitHead(socketUnit) + `[Unit]
Description=the socket of podd
Documentation=man:podd(1)

[Socket]
ListenStream=` + listen + `
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`
	service := unitHead(serviceUnit) + `[Unit]
Description=podd, which hosts LLM agents as pods
Documentation=man:podd(1)
Requires=podd.socket
After=podd.socket
StartLimitIntervalSec=10s
StartLimitBurst=20

[Service]
Type=notify
ExecStart=` + commandLine(p.program()) + `
ExecReload=/bin/kill -HUP $MAINPID
KillMode=process
RestartKillSignal=SIGUSR1
TimeoutStartSec=1h
TimeoutStopSec=30s
Restart=on-failure
RestartSec=1s
RestartPreventExitStatus=3 64
OOMPolicy=continue
LimitCORE=0
UMask=0077
` + hardened
	if p.Path != "" {
		service += "Environment=" + quoteUnit("PATH="+p.Path) + "\n"
	}
	service += `
[Install]
WantedBy=default.target
`
	return []File{{socketUnit, socket}, {serviceUnit, service}}
}

const hardened = `NoNewPrivileges=yes
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
`

func unitHead(unit string) string {
	return "# " + marker + ", which may replace it. Changes belong into a drop-in:\n# systemctl --user edit " + unit + "\n\n"
}

// commandLine is a command in the syntax of ExecStart, where variables are replaced in the
// arguments but not in the program.
func commandLine(argv []string) string {
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		quoted[i] = quoteUnit(arg)
		if i > 0 {
			quoted[i] = strings.ReplaceAll(quoted[i], "$", "$$")
		}
	}
	return strings.Join(quoted, " ")
}

// quoteUnit quotes a word for a unit as in systemd.syntax(7), and escapes the specifiers of
// systemd.unit(5).
func quoteUnit(word string) string {
	word = strings.ReplaceAll(word, "%", "%%")
	if word != "" && !strings.ContainsAny(word, " \t'\"\\;") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}
