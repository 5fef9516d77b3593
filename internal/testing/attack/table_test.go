package attack_test

import "slices"

// attack is one attempted way in.
type attack struct {
	what string
	// class is the class of published weakness, by its number in MITRE's list, with a
	// similar CVE if one is known.
	class string
	guard string
	// pkg and test show that it fails.
	pkg, test string
}

// attacks is the table of README.md.
func attacks() []attack {
	return slices.Concat(daemonAttacks(), sandboxAttacks(), commandAttacks(), pathAttacks(), pageAttacks(), webAttacks())
}

// daemonAttacks are attacks on podd itself.
func daemonAttacks() []attack {
	const (
		fs, srv, sock, paths = "pkg/scopefs", "internal/server", "pkg/socket", "pkg/paths"
		sec, san, ctl, trig  = "internal/guard/secrets", "internal/sanitize", "cmd/podctl", "internal/triggers"
	)
	return []attack{
		// Paths.
		{"`../secret`", "CWE-23", "scope", fs, "TestNothingLeavesTheScope"},
		{"an absolute path", "CWE-36", "scope", fs, "TestNothingLeavesTheScope"},
		{"a sibling whose name begins like the workspace's", "CWE-22, CVE-2025-53110", "scope", fs, "TestNothingLeavesTheScope"},
		{"`sub/../../secret`, clean only in parts", "CWE-27", "scope", fs, "TestNothingLeavesTheScope"},
		{"a link to a file outside", "CWE-59, CVE-2025-53109", "os.Root", fs, "TestNothingLeavesTheScope"},
		{"a link to a directory outside, then a file in it", "CWE-61", "os.Root", fs, "TestNothingLeavesTheScope"},
		{"a chain of links that leaves at its end", "CWE-61", "os.Root", fs, "TestNothingLeavesTheScope"},
		{"a write through an absolute link", "CWE-59", "root of writes", fs, "TestNothingLeavesTheScope"},
		{"a directory swapped for a link while it is read", "CWE-367, CVE-2018-15664", "os.Root", fs, "TestSwapRaceOfReads"},
		{"a write into a root for reading", "CWE-732", "read-only roots", fs, "TestReadOnlyRoots"},
		{"a link from a writable root into one for reading", "CWE-59", "read-only roots", fs, "TestOverlappingRoots"},
		{"a link that leads to itself", "CWE-835", "bounded links", fs, "TestLinkLoop"},
		{"a named pipe that blocks its reader", "CWE-66", "regular files", fs, "TestOnlyRegularFiles"},
		{"a socket in the workspace", "CWE-66", "regular files", fs, "TestOnlyRegularFiles"},
		{"a device", "CWE-67", "regular files", fs, "TestNoDevicesAndNoKernelFiles"},
		{"/proc/self/environ through the scope", "CWE-200, CVE-2024-21626", "no kernel files", fs, "TestNoDevicesAndNoKernelFiles"},
		{"a file of 5 GB", "CWE-400", "bounded reads", fs, "TestReadFileOfFiveGigabytes"},
		{"a name with a newline and an escape in an error", "CWE-117", "shown paths", fs, "TestDisplay"},
		{"a name that changes text direction in a listing", "CWE-451, CVE-2021-42574", "shown paths", fs, "TestResolveRefQuotesNames"},
		{"a kill in the middle of a write", "CWE-362", "atomic writes", fs, "TestKilledWriterLeavesOldOrNew"},
		{"a write through a hard link into another file", "CWE-62", "atomic writes", fs, "TestReadersSeeOldOrNew"},
		// podd's own files.
		{"reading client.token by its name", "CWE-552", "hidden", fs, "TestHiddenIsOutOfReach"},
		{"the same by a link, and a chain of links", "CWE-59", "hidden", fs, "TestHiddenIsOutOfReach"},
		{"listing, walking and completing the state directory", "CWE-548", "hidden", fs, "TestHiddenIsNotListed"},
		{"writing and removing files in it", "CWE-73", "hidden", fs, "TestHiddenIsOutOfReach"},
		{"another pod's spool", "CWE-552", "hidden", fs, "TestHiddenIsOutOfReach"},
		{"a hard link to client.token", "CWE-62", "hidden links", fs, "TestHardLinkToAHiddenFile"},
		{"creating a configuration file", "CWE-15", "hidden names", fs, "TestHiddenFile"},
		{"the same in other letter case", "CWE-178", "hidden names", fs, "TestHiddenFile"},
		{"a pod whose workspace is podd's state directory", "CWE-284", "hidden roots", fs, "TestRootInAHiddenDirectory"},
		{"a pod whose workspace is beside its checkout, in the trash of checkouts, or a link out of it", "CWE-284", "hidden roots", fs, "TestRootInACheckout"},
		{"a directory swapped for a link into the state directory", "CWE-367", "steps", fs, "TestSwapRaceIntoHidden"},
		{"the same into .git/hooks, for a write", "CWE-367", "steps", fs, "TestSwapRaceIntoHidden"},
		// Protected files.
		{"a hook in .git/hooks, and core.fsmonitor in .git/config", "CWE-829, CVE-2022-39253", "protected", fs, "TestProtectedPaths"},
		{"`.GIT/Hooks`, on a case-insensitive file system", "CWE-178, CVE-2014-9390", "folded names", fs, "TestProtectedPaths"},
		{"`.g\\u200cit`, on one that ignores characters", "CWE-176, CVE-2014-9390", "folded names", fs, "TestProtectedPaths"},
		{"a link into .git", "CWE-59, CVE-2024-32002", "followed", fs, "TestProtectedPaths"},
		{"a hook in the directory of core.hooksPath, and a file that include.path names, by a file tool", "CWE-829", "obeyed", fs, "TestWhatGitObeysIsProtected"},
		{"a bare repository inside the workspace", "CWE-829, CVE-2022-24765", "repositories", fs, "TestProtectedPaths"},
		{"a repository made file by file, HEAD last", "CWE-829", "repositories", fs, "TestProtectedPaths"},
		{"a start-up file of a shell, and .envrc", "CWE-829", "protected", fs, "TestProtectedPaths"},
		{".vscode/tasks.json that runs when a folder opens", "CWE-829, CVE-2025-53773", "protected", fs, "TestProtectedPaths"},
		{"an MCP server in .cursor or .vscode/mcp.json", "CWE-829, CVE-2025-54135", "protected", fs, "TestProtectedPaths"},
		{"instructions in AGENTS.md, a skill, .podd or .claude", "CWE-829", "protected", fs, "TestProtectedPaths"},
		{"a key in .ssh/authorized_keys", "CWE-284", "protected", fs, "TestProtectedPaths"},
		{"a patch that moves a file to a protected name", "CWE-73", "protected", "internal/tools/builtin", "TestToolsLeaveProtectedFilesAlone"},
		{"using the approval of one call for another", "CWE-863", "protected", fs, "TestApprovedChanges"},
		// The socket.
		{"a call of another user, to every method", "CWE-284", "peer", srv, "TestAnotherUserIsRefused"},
		{"a process of another user, with the directory open", "CWE-276", "peer", srv, "TestProcessOfAnotherUserIsRefused"},
		{"a call in no list", "CWE-862", "listed", srv, "TestEveryCallIsListed"},
		{"changing policy without the client token", "CWE-306", "token", srv, "TestClientToken"},
		{"a prefix of the token, and the empty token", "CWE-697", "whole token", srv, "TestForgedTokens"},
		{"the empty token, on a server without a token", "CWE-287", "whole token", srv, "TestNoTokenIsNoPermission"},
		{"500 connections that stay silent", "CWE-770", "room", srv, "TestSilentConnections"},
		{"new connections that push out a call under way", "CWE-400", "busy", sock, "TestLimit"},
		{"a connection that never makes a call", "CWE-772", "greeting", srv, "TestSilentConnectionEnds"},
		{"a message of any size", "CWE-789", "sizes", srv, "TestLargeMessages"},
		{"a socket directory that others can enter", "CWE-732", "private", sock, "TestListenRefusesThePlace"},
		{"a state directory that others can read", "CWE-732", "private", paths, "TestEnsurePrivateDirRefuses"},
		{"a start that takes over a running podd's socket", "CWE-421", "stale", sock, "TestListenTakesNoSocketThatAnswers"},
		{"a stop that removes another program's socket", "CWE-367", "own socket", sock, "TestCloseLeavesAnothersSocket"},
		{"two podds on one state directory", "CWE-667", "lock", paths, "TestLockStateDir"},
		{"a client token that others can read", "CWE-732", "token mode", paths, "TestUnfitToken"},
		{"tokens of an MCP server that others can read", "CWE-732", "sign-in mode", "internal/extend/mcp", "TestTokensArePrivate"},
		// Webhooks.
		{"a webhook without its secret, or with another body than the signed one", "CWE-347", "hook secret", trig, "TestWebhookSecret"},
		{"a webhook for a trigger whose owner wants none", "CWE-862", "hook wanted", trig, "TestWebhookSecret"},
		{"finding out the names of triggers by webhooks", "CWE-204", "hook names", trig, "TestWebhookSecret"},
		{"a webhook with a body of any size", "CWE-770", "hook size", trig, "TestLargeWebhook"},
		{"a page that sends the browser to podd with a guessed state", "CWE-352", "sign-in state", "internal/extend/mcp", "TestLoginRefused"},
		{"an MCP server that names another authorization server, for podd's secret", "CWE-522", "issuer", "internal/extend/mcp", "TestAccountSecretStaysAtItsIssuer"},
		{"an authorization server that sends a secret on to another", "CWE-601", "token place", "internal/extend/mcp", "TestAccountFails"},
		{"orders and control characters in what an MCP server asks a person", "CWE-451", "asked text", "internal/extend/mcp", "TestElicitHostile"},
		{"a form of an MCP server of any size", "CWE-770", "asked size", "internal/extend/mcp", "TestElicitHostile"},
		{"an address to open that looks like another one", "CWE-1007", "asked address", "internal/extend/mcp", "TestElicitURL"},
		// Secrets.
		{"a key in a file that a tool reads", "CWE-532", "outputs", "internal/daemon", "TestSecretsStayOut"},
		{"a key in a command's output, in two fragments", "CWE-200", "fragments", sec, "TestStreamCutAnywhere"},
		{"a key in a spool file, across any boundary", "CWE-312", "spool", sec, "TestScrubFile"},
		{"a key in JSON or URL encoding", "CWE-116", "known values", sec, "TestRedact"},
		{"a private key, a token of a forge, a password in a URL", "CWE-200", "known forms", sec, "TestRedact"},
		{"a key in an error that is logged, in any type of value", "CWE-532", "log", sec, "TestHandler"},
		{"a forged line in the log", "CWE-117", "log", sec, "TestHandler"},
		{"podd's key in a child's environment", "CWE-526", "child", sec, "TestEnviron"},
		{"/proc/PID/environ of podd, by a program of the same user", "CWE-214", "not dumpable", "internal/guard/harden", "TestProcessIsClosed"},
		{"a key file that others can read", "CWE-732", "key files", sec, "TestReadFile"},
		{"a key file placed by another user", "CWE-282", "owned keys", sec, "TestReadFileOfAnotherUser"},
		{"a key in a configuration file that people share", "CWE-260", "no key inside", "internal/config", "TestRefusals"},
		{"a configuration file of another user, or a link to one", "CWE-282", "owned configuration", "internal/config", "TestLoadRefusesWhatOthersCanChange/another user's"},
		{"a configuration file that names programs and that others can write", "CWE-732", "unshared configuration", "internal/config", "TestLoadRefusesWhatOthersCanChange/world-writable"},
		{"one that others can replace in its directory", "CWE-732", "unshared configuration", "internal/config", "TestLoadRefusesWhatOthersCanChange/in a shared directory"},
		{"a mark for a secret written over the secret", "CWE-372", "shown secrets", "internal/tools/builtin", "TestToolsKeepSecrets"},
		// Text.
		{"OSC 52 writes the clipboard", "CWE-150, CVE-2003-0063", "controls", san, "TestTerminal"},
		{"C1 controls, as runes", "CWE-150", "controls", san, "TestEveryRune"},
		{"C1 controls as invalid UTF-8", "CWE-838", "bytes", san, "TestTerminal"},
		{"a carriage return that overwrites a line", "CWE-451", "controls", san, "TestTerminal"},
		{"text that changes direction", "CWE-451, CVE-2021-42574", "invisible", san, "TestTerminal"},
		{"zero-width and tag characters that carry instructions", "CWE-1007", "invisible", san, "TestEveryRune"},
		{"an escape cut in two by fragments", "CWE-150", "controls", san, "TestWriterCutAnywhere"},
		{"a newline that starts a forged line", "CWE-93", "one line", san, "TestLine"},
		{"a podd that sends escapes in JSON", "CWE-150", "json", ctl, "TestHostilePodd"},
		{"an error, and a command line, with escapes", "CWE-150", "errors", ctl, "TestHostilePodd"},
		{"a question about a command with invisible characters", "CWE-451", "hidden count", "internal/clients/view", "TestApprovalCountsWhatIsHidden"},
		{"an error that quotes megabytes of a request", "CWE-400", "brief errors", srv, "TestErrorsAreBrief"},
		{"one with characters that look like spaces", "CWE-1007", "blanks", san, "TestExact"},
		{"a request that programs parse differently: a key twice, or in other letter case", "CWE-436", "exact keys", "internal/clients/bridge", "TestParse"},
		// Contents of a workspace.
		{"AGENTS.md with invisible instructions", "CWE-1007", "visible instructions", "internal/workspace/instructions", "TestHostileFiles"},
		{"AGENTS.md of 5 GB", "CWE-400", "bounded instructions", "internal/workspace/instructions", "TestHostileFiles"},
		{"AGENTS.md that is a link to a secret", "CWE-59", "os.Root", "internal/workspace/instructions", "TestHostileFiles"},
		{"AGENTS.md above the scope that imports a secret", "CWE-22", "imports in scope", "internal/workspace/instructions", "TestAboveTheScope"},
		{"AGENTS.md that is a named pipe", "CWE-66", "regular files", "internal/workspace/instructions", "TestHostileFiles"},
		{"a configuration in a newly cloned workspace", "CWE-829, CVE-2025-59536", "asked first", "internal/guard/trust", "TestTrust"},
		{"one that changes after it was trusted", "CWE-494, CVE-2025-54136", "as trusted", "internal/guard/trust", "TestTrust"},
		{"one that changes to drop its rules", "CWE-636", "trusted rules", "internal/guard/trust", "TestTrustedRulesHold"},
		{"one that changes between showing and trusting", "CWE-367", "as shown", "internal/guard/trust", "TestTrust"},
		{"a trusted one with base_url, keys, commands, limits", "CWE-15", "narrow keys", "internal/config", "TestParseProject"},
		{"a trusted one with a rule that allows", "CWE-269", "narrow rules", "internal/config", "TestParseProject"},
		{"one that is a link to a file outside", "CWE-59", "os.Root", "internal/guard/trust", "TestHostileFiles"},
	}
}
