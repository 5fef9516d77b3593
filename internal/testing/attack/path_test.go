package attack_test

// pathAttacks are attacks on what a path, or a file that a command executes, is by the
// time it is used.
func pathAttacks() []attack {
	const fs, pol, builtin, pod = "pkg/scopefs", "internal/guard/policy", "internal/tools/builtin", "pkg/pod"
	return []attack{
		{"replacing a directory with a link between the question about a write and its answer", "CWE-367", "sealed targets", pod, "TestApprovedWriteStaysWhereItLed"},
		{"replacing a directory with another one by renames", "CWE-367", "identity", fs, "TestBoundChangesStayWhereTheyWereDecided"},
		{"the same between a decision without a question and the write", "CWE-367", "bound writes", fs, "TestBoundChangesStayWhereTheyWereDecided"},
		{"`approve --always` after the path changed", "CWE-367", "rules as asked", pod, "TestAlwaysIsForWhatWasAsked"},
		{"moving a repository to a directory that was missing when a hook was approved", "CWE-367", "made directories", fs, "TestBoundMakesDirectories"},
		{"a directory that becomes a repository after a write into it was approved", "CWE-863", "protected since", fs, "TestBoundMakesDirectories"},
		{"a link to what a rule denies", "CWE-59", "rules follow links", pol, "TestRulesSeeWherePathsLead"},
		{"a link from a path that a rule allows", "CWE-59", "rules follow links", pol, "TestRulesSeeWherePathsLead"},
		{"a glob, or a search by one, that begins behind a link", "CWE-59", "bases of globs", builtin, "TestAccess"},
		{"`@.env` where a rule denies it", "CWE-863", "rules on references", pod, "TestRulesSeeReferences"},
		{"completing the names in a directory that a rule denies", "CWE-548", "rules on references", pod, "TestRulesSeeCompletions"},
		{"AGENTS.md as a link to a secret", "CWE-59", "rules on references", pod, "TestRulesSeeInstructions"},
		{"a script edited between the question about its command and the answer", "CWE-367", "sealed scripts", pod, "TestApprovedScriptRunsAsItWas"},
	}
}

// pathGuards are the guards against them.
func pathGuards() map[string]guard {
	const target, approve = "pkg/scopefs/target.go", "pkg/worker/approve.go"
	return map[string]guard{
		"sealed targets":   {"an approval covers where paths lead", []edit{{approve, "	for _, target := range targets {\n		parts", "	for _, target := range targets[:0] {\n		parts"}}},
		"rules as asked":   {"podd makes a rule only from what it asked about", []edit{{"internal/workspace/workspace.go", "	if asked.Digest != worker.Digest(", "	if asked.Digest == \"\" && asked.Digest != worker.Digest("}}},
		"identity":         {"podd identifies a directory by its inode", []edit{{target, "		return fmt.Sprint(stat.Ino)\n", "		return \"?\"\n"}}},
		"bound writes":     {"podd uses a path as it resolved at the decision", []edit{{target, "	if now.root != s.root || now.rel != s.rel {", "	if now.root == nil {"}}},
		"made directories": {"podd writes protected files only in directories that existed", []edit{{target, "	if err == nil && !o.fs.bound.has(info) {", "	if err == nil && !o.fs.bound.has(info) && s.held == \"\" {"}}},
		"protected since":  {"a path that became protected after the decision is refused", []edit{{"pkg/scopefs/links.go", "why != p.spot.protected {", "why != p.spot.protected && why == \"\" {"}}},
		"rules follow links": {"rules see where links lead", []edit{{"internal/guard/policy/path.go",
			"append([][]string{c.Paths}, c.Leads...)", "append([][]string{c.Paths}, c.Leads[:0]...)"}}},
		"bases of globs": {"podd checks the directory where a glob begins", []edit{{"internal/tools/builtin/glob.go", "f.reading(scopefs.GlobBase(a.Pattern))", "f.reading(\"\")"}}},
		"rules on references": {"rules apply to what podd reads without a call", []edit{{"pkg/scopefs/guarded.go",
			"	if f.against == nil {", "	if f.against == nil || path != \"\" {"}}},
		"sealed scripts": {"an approval covers the content of scripts", []edit{{approve, "	for _, e := range executes {\n		parts", "	for _, e := range executes[:0] {\n		parts"}}},
	}
}
