package attack_test

// commandAttacks are attacks on how commands are chosen and started.
func commandAttacks() []attack {
	const pol, builtin, shell, spool = "internal/guard/policy", "internal/tools/builtin", "internal/shell", "pkg/tool/spool"
	return []attack{
		// Lines under a rule that allows echo.
		{"`echo $(rm x)`, also with backquotes, in quotes, in arithmetic", "CWE-78", "no expansions", pol, "TestAttacks"},
		{"`echo hi & rm x`", "CWE-78", "no background", pol, "TestAttacks"},
		{"`echo hi > f`, `>|`, `<>`, `&>` and numbered ones", "CWE-73", "no redirections", pol, "TestAttacks"},
		{"`LD_PRELOAD=x.so echo hi`", "CWE-427", "no assignments", pol, "TestAttacks"},
		{"`echo *`, where file names decide", "CWE-155", "no globs", pol, "TestAttacks"},
		{"spaces and line ends that the shell does not know, text that changes direction", "CWE-451, CVE-2021-42574", "plain characters", pol, "TestAttacks"},
		{"a comment that ends for one shell and not for another", "CWE-436", "no continued comments", pol, "TestAttacks"},
		{"access to the network or the host, unasked", "CWE-862", "more asks", shell, "TestShellSaysWhatIsMore"},
		{"a rule for a command in the sandbox, used for the same command on the host", "CWE-863", "levels in rules", pol, "TestLevels"},
		{"a pod with the network, below one that has none", "CWE-269", "the family's network", "pkg/item", "TestNetworkNeverGrows"},
		// Lines under a rule that denies rm, or git push.
		{"a denied command in the arguments of env, xargs, sh -c", "CWE-184", "commands in arguments", pol, "TestDeniedCommands"},
		{"`git -C x push`, options before the command", "CWE-184", "options before commands", pol, "TestDenyPatterns"},
		{"a denied command in the words of an unlisted program, in git settings, in variables", "CWE-184", "named commands", pol, "TestDeniedCommandsRunByOthers"},
		{"a denied command that a shell reads as input, encoded or not", "CWE-184", "shells that read", pol, "TestDeniedCommandsRunByOthers"},
		// Rules that allow more than a person meant.
		{"`git log --output=f`, `sort -o f`, under rules for reading", "CWE-88", "options of readers", pol, "TestWildcardsAllowReadingOnly"},
		{"`uniq a b`, where the second file is written", "CWE-73", "files of readers", pol, "TestWildcardsAllowReadingOnly"},
		{"`uv run *`, `docker run *`, which would allow any command", "CWE-183", "no open runners", pol, "TestWildcardsBehindRunnersAreRefused"},
		// How commands are started.
		{"LD_PRELOAD, BASH_ENV, NODE_OPTIONS, PYTHONSTARTUP, GIT_SSH_COMMAND of podd's environment", "CWE-427", "listed variables", shell, "TestShellEnvironmentIsAList"},
		{"a workspace program found by a relative PATH entry", "CWE-426", "absolute PATH", shell, "TestShellEnvironmentIsAList"},
		{"the same for a hook or interceptor, which has no sandbox", "CWE-426", "absolute PATH", "internal/extend/extern", "TestEnvironment"},
		{"a program named in rg's configuration", "CWE-427", "bare rg", builtin, "TestSearchGivesRipgrepNothing"},
		{"command output that others can read", "CWE-732", "private spool", spool, "TestKeep"},
	}
}

// commandGuards are the guards against them.
func commandGuards() map[string]guard {
	const line = "internal/guard/policy/line.go"
	return map[string]guard{
		"no expansions": {"no rule allows a line with an expansion", []edit{{line, "			err = errExpands\n", "			err = nil\n"}}},
		"more asks": {"a call that asks for more than the pod has leaves the sandbox only if a rule or a person allows it",
			[]edit{{"internal/shell/guard.go", "Confined: s.Confined && !use.beyond}", "Confined: s.Confined}"}}},
		"levels in rules": {"a rule that allows names each level of access that is more than the pod has",
			[]edit{{"internal/guard/policy/level.go", "		return c.Decision != Allow || !call.Beyond\n", "		return true\n"}}},
		"the family's network": {"a pod has the network only if all pods above it have it",
			[]edit{{"pkg/item/pod.go", "	return !off(s) && !slices.ContainsFunc(above, func(p Pod) bool { return off(p.Spec) })", "	return !off(s) || slices.ContainsFunc(above, func(p Pod) bool { return off(p.Spec) })"}}},
		"no background":           {"no rule allows a line with a background command", []edit{{line, "	if s.Background || s.Coprocess || s.Disown {", "	if s.Coprocess || s.Disown {"}}},
		"no redirections":         {"no rule allows a line with a redirection to a file", []edit{{line, "		if !harmless(r) {", "		if !harmless(r) && s == nil {"}}},
		"no assignments":          {"no rule allows a line that sets variables", []edit{{line, "	if len(call.Assigns) > 0 {", "	if len(call.Assigns) > 1<<30 {"}}},
		"no globs":                {"no rule allows a line with a glob", []edit{{line, "		case '*', '?', '[':", "		case 0:"}}},
		"plain characters":        {"no rule allows a line with characters that look or parse like others", []edit{{line, "	case strings.ContainsFunc(line, odd):", "	case line == \"\" && strings.ContainsFunc(line, odd):"}}},
		"no continued comments":   {"no rule allows a line that shells parse differently", []edit{{line, "	if continuesComment(line) {\n		return nil, errors", "	if line == \"\" {\n		return nil, errors"}}},
		"commands in arguments":   {"podd finds commands in the arguments of others", []edit{{"internal/guard/policy/seen.go", "k == runner || k == evaluator ||", "k < 0 ||"}}},
		"options before commands": {"podd finds commands behind options", []edit{{"internal/guard/policy/match.go", "{option: true}, {many: true}}", "}"}}},
		"named commands":          {"a line that names a denied command in other words asks", []edit{{"internal/guard/policy/policy.go", " || r.named(x.seen.text.String())", ""}}},
		"shells that read":        {"a line with a shell that reads what it runs asks", []edit{{"internal/guard/policy/seen.go", "	case at < 0:\n", "	case at < -1:\n"}}},
		"options of readers":      {"a wildcard matches only options with which a program reads", []edit{{"internal/guard/policy/readers.go", "			bad[i] = !options.MatchString(w)\n", "			bad[i] = w == \"\"\n"}}},
		"files of readers":        {"a wildcard matches only files that a program reads", []edit{{"internal/guard/policy/readers.go", "operands > 1 && (program", "operands > 1<<30 && (program"}}},
		"no open runners":         {"podd refuses a wildcard for a command that another one runs", []edit{{"internal/guard/policy/programs.go", "	if verb == 0 {\n", "	if verb >= 0 {\n"}}},
		"listed variables":        {"commands get only listed variables", []edit{{"internal/shell/env.go", "		if slices.Contains(passedVariables, name) ||", "		if name != \"\" || slices.Contains(passedVariables, name) ||"}}},
		"absolute PATH":           {"PATH has only absolute directories", []edit{{"internal/commands/process/path.go", "!filepath.IsAbs(dir) })", "!filepath.IsAbs(dir) && false })"}}},
		"bare rg":                 {"rg gets an empty environment", []edit{{"internal/tools/builtin/ripgrep.go", "cmd.Dir, cmd.Env, cmd.WaitDelay = b.search.Dir(), []string{}, ripgrepPatience", "cmd.Dir, cmd.WaitDelay = b.search.Dir(), ripgrepPatience"}}},
		"private spool":           {"only podd's user can read spool files", []edit{{"pkg/tool/spool/folder.go", "os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)", "os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)"}}},
	}
}
