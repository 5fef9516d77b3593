package service

import "strings"

// The names of the units.
const (
	socketUnit  = "podd.socket"
	serviceUnit = "podd.service"
)

// Units are the units for systemd's user manager.
//
// KillMode=process: podd ends its commands itself when it is told to stop; those of a podd
// that was killed go on, and the next one finds their results. OOMPolicy=continue: a command
// that takes too much memory does not end podd. Exit code 2 is a wrong configuration, 3 a
// damaged database: trying again mends neither. A start may have to check and migrate a large store.
//
// Hardened is what a user manager can hold podd to, and with it hooks, interceptors and
// commands without a sandbox: no program gains rights by its file, no calls for the clock,
// modules, swap, a reboot or bare hardware, no families of sockets but those of bwrap and of
// the network. What needs a mount namespace (ProtectSystem=, ProtectKernelTunables=,
// PrivateTmp=...) is left out: in one, the kernel refuses bwrap's /proc. So is what programs
// of every day want: LockPersonality= (gdb, the thread sanitizer),
// MemoryDenyWriteExecute= (compilers at run time), RestrictSUIDSGID= (git init --shared).
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

[Service]
Type=notify
ExecStart=` + commandLine(p.program()) + `
ExecReload=/bin/kill -HUP $MAINPID
KillMode=process
TimeoutStartSec=1h
TimeoutStopSec=30s
Restart=on-failure
RestartSec=1s
RestartPreventExitStatus=2 3
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

// commandLine is a command as ExecStart has it: variables are replaced in the arguments,
// not in the program.
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

// quoteUnit is a word of a unit as systemd.syntax(7) has it, with the specifiers of
// systemd.unit(5) switched off.
func quoteUnit(word string) string {
	word = strings.ReplaceAll(word, "%", "%%")
	if word != "" && !strings.ContainsAny(word, " \t'\"\\;") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}
