package attack_test

// sandboxAttacks are commands that try to get out of their sandbox.
func sandboxAttacks() []attack {
	const sb, builtin, process = "internal/sandbox", "pkg/tool/builtin", "internal/process"
	return []attack{
		// Files.
		{"a command that writes, moves and removes outside of the workspace", "CWE-284", "read-only system", sb, "TestAttacks/write outside of the workspace"},
		{"a symbolic link to a file outside, then a write", "CWE-61", "read-only system", sb, "TestAttacks/write through a link/symlink"},
		{"a write by /proc/self/root, and by /proc/self/cwd", "CWE-22, CVE-2024-21626", "read-only system", sb, "TestAttacks/ways around paths/append"},
		{"a program that is in no file", "CWE-284", "read-only system", sb, "TestAttacks/ways around paths/program in memory"},
		{"a command that writes outside, without bwrap", "CWE-284", "landlock", sb, "TestAttacks/write outside of the workspace/write/landlock"},
		{"a hard link, without bwrap", "CWE-62", "landlock", sb, "TestAttacks/write through a link/hard link/landlock"},
		{"a user namespace of its own, for the kernel's holes behind it", "CWE-250, CVE-2022-0185", "no namespaces", sb, "TestAttacks/mounts of its own/namespace"},
		{"moving the directory that holds something hidden", "CWE-706", "pinned", sb, "TestWorkspaceAroundPoddsOwn"},
		{"a workspace around podd's own, without bwrap", "CWE-284", "whole workspaces", sb, "TestWorkspaceAroundPoddsOwn"},
		{"a hook of git, by a command", "CWE-829, CVE-2022-39253", "read-only hooks", sb, "TestAttacks/persistence by git/write"},
		{"another .git in the place of this one", "CWE-706", "pinned", sb, "TestAttacks/persistence by git/rename"},
		{"a start-up file, by a command", "CWE-829", "read-only hooks", sb, "TestAttacks/persistence by a start-up file"},
		// What it reads.
		{"the client token and other pods' spools, by a command", "CWE-552", "hidden from commands", sb, "TestAttacks/podd's own secrets"},
		{"keys in the home directory", "CWE-522", "hidden from commands", sb, "TestAttacks/the user's keys"},
		{"keys in the kernel's keyring", "CWE-522", "refused calls", sb, "TestAttacks/the user's session/keyring"},
		{"command lines of other processes, without bwrap", "CWE-214", "no /proc", sb, "TestAttacks/other processes/command line/landlock"},
		{"podd's environment and memory", "CWE-214", "own processes", sb, "TestAttacks/other processes/environment/bwrap"},
		{"podd's open files, by /proc/PID/fd", "CWE-403", "own processes", sb, "TestAttacks/other processes/its files/bwrap"},
		{"podd's files, by /proc/PID/root", "CWE-200", "own processes", sb, "TestAttacks/other processes/its root/bwrap"},
		{"tracing another process, without bwrap", "CWE-284", "landlock", sb, "TestAttacks/other processes/trace/landlock"},
		{"reading its memory by a call, without bwrap", "CWE-284", "landlock", sb, "TestAttacks/other processes/memory by call/landlock"},
		{"taking its descriptors, without bwrap", "CWE-403", "landlock", sb, "TestAttacks/other processes/its descriptors/landlock"},
		{"a descriptor that podd left open", "CWE-403, CVE-2024-21626", "closed files", sb, "TestNoFilesArePassedOn/landlock"},
		// What it reaches.
		{"podd's socket, by a command", "CWE-668", "hidden from commands", sb, "TestAttacks/podd's socket/unix/bwrap"},
		{"ssh-agent, docker and D-Bus", "CWE-668", "hidden from commands", sb, "TestAttacks/the session's sockets/unix/bwrap"},
		{"an abstract socket", "CWE-668, CVE-2020-15257", "own network", sb, "TestAttacks/the session's sockets/abstract/bwrap"},
		{"sockets of any kind, without bwrap", "CWE-668", "no sockets", sb, "TestAttacks/podd's socket/unix/landlock"},
		{"what a command read, sent by TCP", "CWE-200", "own network", sb, "TestAttacks/exfiltration/tcp/bwrap"},
		{"the same in a name that is looked up", "CWE-200, CVE-2025-55284", "own network", sb, "TestAttacks/exfiltration/dns/bwrap"},
		{"the same without bwrap", "CWE-200", "no sockets", sb, "TestAttacks/exfiltration"},
		{"vsock, which no namespace holds", "CWE-668", "families", sb, "TestAttacks/ways around the filters/vsock"},
		{"sockets by io_uring, which no filter sees", "CWE-693", "no io_uring", sb, "TestAttacks/ways around the filters/io_uring"},
		{"a terminal of the user, written to", "CWE-150, CVE-2017-5226", "own devices", sb, "TestAttacks/the user's session/terminal"},
		{"shared memory of the user's programs", "CWE-668", "refused calls", sb, "TestAttacks/the user's session/shared memory/landlock"},
		{"a signal to podd, without bwrap", "CWE-284", "scoped signals", sb, "TestAttacks/other processes/signal/landlock"},
		{"podd's resource limits set to nothing, without bwrap", "CWE-400", "no limits of others", sb, "TestAttacks/other processes/its limits/landlock"},
		{"bpf, where holes of the kernel were", "CWE-693, CVE-2021-3490", "refused calls", sb, "TestAttacks/ways around the filters/bpf"},
		{"perf, where others were", "CWE-693, CVE-2013-2094", "refused calls", sb, "TestAttacks/ways around the filters/perf"},
		{"userfaultfd, which holes are widened with", "CWE-693", "refused calls", sb, "TestAttacks/ways around the filters/userfaultfd"},
		// What it takes.
		{"a session of its own, to outlive its end", "CWE-404", "no new session", sb, "TestNothingSurvivesStop/setsid, environment cleared/landlock"},
		{"two forks and a cleared environment", "CWE-404", "no new session", sb, "TestNothingSurvivesStop/double fork/landlock"},
		{"a session of its own, without a sandbox", "CWE-404", "mark", builtin, "TestShellCancelEndsTheWholeTree/setsid"},
		{"the same with a cleared environment", "CWE-404", "known members", process, "TestStopEndsTheWholeTree/setsid, cleared environment"},
		{"a core file with what it read", "CWE-528", "no core", sb, "TestLimits"},
		{"a file without end", "CWE-400", "bounded files", sb, "TestLimits"},
		{"all memory, so that podd is ended", "CWE-400", "ended first", sb, "TestLimits"},
		{"its own output made longer than anybody can read", "CWE-400", "skipped holes", builtin, "TestShellOutputMadeLong"},
		{"output without end, by a process that got away", "CWE-400", "bounded reading", builtin, "TestCaptureDrainsABoundedPart"},
		{"memory without end", "CWE-789", "measured memory", process, "TestExceeds/one process"},
		{"the same in many small processes", "CWE-770", "measured memory", process, "TestExceeds/two that hold half each"},
		{"the same out of the session", "CWE-770", "measured descendants", process, "TestExceeds/left the session"},
		{"files in memory, which are nobody's", "CWE-770", "bounded tmpfs", builtin, "TestShellFilesInMemory"},
	}
}

// sandboxGuards are what confines commands.
func sandboxGuards() map[string]guard {
	const p = "internal/sandbox/"
	// anyway lets podd take a sandbox that confines nothing.
	anyway := edit{p + "try_linux.go", "		return errors.New(\"it confines nothing\")", "		return nil"}
	return map[string]guard{
		"read-only system": {"the file system is mounted read-only (bwrap)", []edit{anyway, {p + "bwrap_linux.go", `m.add("/", "--ro-bind", "/", "/")`, `m.add("/", "--bind", "/", "/")`}}},
		"landlock": {"the kernel is told what may be opened and who may be traced (Landlock)", []edit{anyway, {p + "helper_linux.go",
			"unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0)", "unix.Syscall(unix.SYS_GETPID, uintptr(ruleset), 0, 0)"}}},
		"no namespaces":    {"a command makes no user namespaces (bwrap)", []edit{{p + "bwrap_linux.go", "	if s.nested {", "	if false {"}}},
		"pinned":           {"directories on the way to a mount are mounts themselves", []edit{{p + "mounts_linux.go", `			m.add(dir, "--bind-fd", m.command.add(file), dir)`, `			_ = m.command.add(file)`}}},
		"whole workspaces": {"a workspace that holds podd's own is refused where it cannot be hidden", []edit{{p + "landlock_linux.go", "return within(root.Path, path) }); i >= 0 {", "return within(root.Path, path) }); i >= 1<<30 {"}}},
		"read-only hooks":  {"what other programs obey is mounted read-only", []edit{{p + "mounts_linux.go", `m.add(path, "--ro-bind-fd", m.command.add(file), path)`, `m.add(path, "--bind-fd", m.command.add(file), path)`}}},
		"hidden from commands": {"podd's own and the user's secrets and sockets are not there, or refused", []edit{
			{p + "mounts_linux.go", "func (m *mounts) hide(path string) {", "func (m *mounts) hide(path string) {\n	if path != \"\" {\n		return\n	}"},
			{p + "landlock_linux.go", "slices.Concat(own, others, []string{", "slices.Concat(own[:0], others[:0], []string{"},
		}},
		"refused calls": {"calls that no namespace and no path holds are refused", []edit{{p + "seccomp_linux.go", "range no {", "range no[:0] {"}}},
		"no /proc":      {"/proc cannot be opened (Landlock)", []edit{{p + "landlock_linux.go", `[]string{"/proc", "/dev", `, `[]string{"/dev", `}}},
		"own processes": {"a command sees its own processes alone (bwrap)", []edit{
			{p + "bwrap_linux.go", `"--unshare-pid", `, ""},
			{p + "bwrap_linux.go", `m.add("/proc", "--proc", "/proc")`, `m.add("/proc", "--ro-bind", "/proc", "/proc")`},
		}},
		"closed files": {"what is open is closed when the command begins", []edit{{p + "helper_linux.go", "	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {", "	if err := unix.CloseRange(3000, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {"}}},
		"own network":  {"a command has a network of its own, with nobody in it (bwrap)", []edit{{p + "bwrap_linux.go", "	if !s.Network {", "	if false {"}}},
		"no sockets":   {"a command makes no sockets (Landlock)", []edit{{p + "seccomp_linux.go", "	return nil\n}\n\n// Offsets", "	return []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}\n}\n\n// Offsets"}}},
		"families":     {"sockets of other families are refused", []edit{{p + "seccomp_linux.go", "[]uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}", "[]uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK, unix.AF_VSOCK}"}}},
		"no io_uring":  {"io_uring is refused", []edit{{p + "seccomp_linux.go", "		ifEqual(unix.SYS_IO_URING_SETUP), refuse(uint32(unix.ENOSYS)),\n", ""}}},
		"own devices": {"terminals are not there, or refused", []edit{
			{p + "bwrap_linux.go", `"--dev", "/dev", "--remount-ro", "/dev"`, `"--dev-bind", "/dev", "/dev"`},
			{p + "landlock_linux.go", `[]string{"/proc", "/dev", "/tmp"`, `[]string{"/proc", "/tmp"`},
		}},
		"scoped signals":       {"signals reach nobody outside (Landlock)", []edit{{p + "helper_linux.go", "unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL", "unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET"}}},
		"no limits of others":  {"limits are set for oneself alone", []edit{{p + "seccomp_linux.go", "K: unix.SYS_PRLIMIT64, Jf: 4", "K: 1 << 29, Jf: 4"}}},
		"no new session":       {"a command cannot leave its session (Landlock)", []edit{{p + "seccomp_linux.go", "		unix.SYS_SETSID, ", "		"}}},
		"known members":        {"what left the session is known by its parents", []edit{{"internal/process/members_linux.go", "	if t.seen.has(pid, fields) {", "	if t.seen.has(pid, nil) {"}}},
		"mark":                 {"what left the session is known by a mark", []edit{{"internal/process/members_linux.go", "	return slices.Contains(environOf(pid), t.id.Mark)", "	return slices.Contains(environOf(pid), \"\\x00\")"}}},
		"no core":              {"no core is dumped", []edit{{"internal/process/limits_linux.go", "		bound(unix.RLIMIT_CORE, 0)\n", ""}}},
		"bounded files":        {"files are bounded", []edit{{"internal/process/limits_linux.go", "		bound(unix.RLIMIT_FSIZE, l.FileBytes)\n", ""}}},
		"ended first":          {"the kernel ends a command before podd", []edit{{p + "limit_linux.go", "	oomScore = 500", "	oomScore = 0"}}},
		"skipped holes":        {"what a command did not write is not read", []edit{{"pkg/tool/builtin/capture.go", "			c.skip(dataFrom(c.file, c.offset) - c.offset)\n", "			c.skip(0 * dataFrom(c.file, c.offset))\n"}}},
		"bounded reading":      {"of an output far over its quota the end alone is read", []edit{{"pkg/tool/builtin/capture.go", "left >= 0; left -= captureStep {", "left >= 0; left -= 0 {"}}},
		"measured memory":      {"a command that holds too much is ended", []edit{{"internal/process/memory_linux.go", "	return taken, taken > limit", "	return taken, false"}}},
		"measured descendants": {"what left the session is found by its parents", []edit{{"internal/process/family_linux.go", "			if !inside[p.parent] {", "			if len(inside) > 0 {"}}},
		"bounded tmpfs":        {"file systems in memory have a size", []edit{{p + "mounts_linux.go", "	if most == 0 {", "	if most >= 0 {"}}},
	}
}
