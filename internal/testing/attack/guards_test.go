package attack_test

// guard is code that stops attacks.
type guard struct {
	// is says in a few words what it does.
	is string
	// off are the changes that switch it off.
	off []edit
}

// edit replaces a text that occurs once in a file.
type edit struct{ file, old, without string }

// guards are the guards by their names in the table of attacks.
func guards() map[string]guard {
	all := map[string]guard{}
	for _, group := range []map[string]guard{fileGuards(), socketGuards(), secretGuards(), textGuards(), sandboxGuards(), commandGuards(), pathGuards(), pageGuards(), webGuards()} {
		for name, g := range group {
			all[name] = g
		}
	}
	return all
}

func fileGuards() map[string]guard {
	const p = "pkg/scopefs/"
	// anywhere makes the whole file system a root.
	anywhere := edit{p + "locate.go",
		"	if found.root == nil {\n		return place{}, &PathError{Kind: OutOfScope, Path: path}\n	}",
		"	if found.root == nil {\n		r, err := openRoot(\"/\", true, nil)\n		if err != nil {\n			return place{}, err\n		}\n		found.root, found.rel = r, strings.TrimPrefix(abs, \"/\")\n	}"}
	return map[string]guard{
		"scope": {"podd refuses a path outside all roots", []edit{anywhere}},
		"os.Root": {"podd opens files inside their root, link by link", []edit{
			{p + "read.go", "info, err := e.dir.Stat(e.name)\n	if err != nil {\n		return nil, nil", "info, err := os.Stat(e.dir.Name() + \"/\" + e.name)\n	if err != nil {\n		return nil, nil"},
			{p + "read.go", "file, err := e.dir.OpenFile(e.name,", "file, err := os.OpenFile(e.dir.Name()+\"/\"+e.name,"},
		}},
		"root of writes": {"podd follows the links of a written path within its root", []edit{
			{p + "links.go", "			return place{}, &PathError{Kind: OutOfScope, Path: p.given}\n		}\n		done = done[:len(done)-1]", "			return f.locate(target)\n		}\n		done = done[:len(done)-1]"},
			anywhere,
		}},
		"read-only roots": {"a read-only root cannot be written, not even through links", []edit{{p + "links.go", "	if !p.root.writable {\n		return place{}, sayf", "	if false {\n		return place{}, sayf"}}},
		"regular files":   {"podd opens only regular files", []edit{{p + "read.go", "	case mode.IsRegular():", "	case mode.IsRegular(), !mode.IsDir():"}}},
		"no kernel files": {"podd does not read kernel file systems such as /proc", []edit{{p + "kernelfile_linux.go", "	case procMagic,", "	case 1,"}}},
		"bounded links":   {"podd follows at most 40 links", []edit{{p + "links.go", "links > maxLinks", "links > 4096 && false"}}},
		"shown paths":     {"podd quotes a path that could be mistaken for something else", []edit{{p + "error.go", "	if path == \"\" || strings.TrimSpace(path) != path || strings.ContainsFunc(path, unprintable) {", "	if path == \"\" || strings.TrimSpace(path) == \"\\x00\" {"}}},
		"bounded reads":   {"podd reads a file up to a limit", []edit{{p + "read.go", "	if whole && out.Truncated {", "	if false {"}}},
		"atomic writes":   {"podd replaces a file as a whole", []edit{{p + "write.go", "	temp, file, err := stage(dir, mode, data)\n	if err != nil {", "	if _ = dir.Remove(name); name != \"\" {\n		return dir.WriteFile(name, data, 0o666)\n	}\n	temp, file, err := stage(dir, mode, data)\n	if err != nil {"}}},
		"hidden":          {"podd identifies its own files by device and inode", []edit{{p + "hidden.go", "{ return os.SameFile(file, info) }", "{ return os.SameFile(file, info) && info == nil }"}}},
		"hidden names":    {"the names of podd's files are reserved before the files exist", []edit{{p + "hidden.go", "		if info, err := dir.Stat(\".\"); err == nil && os.SameFile(info, m.dir) {\n			return true", "		if info, err := dir.Stat(\".\"); err == nil && os.SameFile(info, m.dir) {\n			return false"}}},
		"hidden links":    {"podd compares a file with several names with its own files", []edit{{p + "hidden.go", "	if HardLinks(info) < 2 {", "	if HardLinks(info) < 1<<30 {"}}},
		"hidden roots":    {"podd's directories cannot be workspaces", []edit{{p + "hidden.go", "{ return inside(path, dir) }", "{ return inside(path, dir) && dir == \"\" }"}}},
		"steps": {"podd opens directories one by one, and none that became a link", []edit{
			{p + "within.go", "	if !os.SameFile(link, info) {\n		return errSwapped", "	if os.SameFile(link, info) && false {\n		return errSwapped"},
			{p + "read.go", "err != nil || !os.SameFile(link, info) {", "err != nil || false && !os.SameFile(link, info) {"},
		}},
		"protected":    {"changing what other programs run needs an approval", []edit{{p + "protect.go", "	if !protected {\n		return nil\n	}\n	return sayf", "	if !protected || protected {\n		return nil\n	}\n	return sayf"}}},
		"folded names": {"podd ignores case and ignorable characters in names", []edit{{p + "protect.go", "	names := strings.Split(fold(rel), \"/\")", "	names := strings.Split(rel, \"/\")"}}},
		"repositories": {"podd recognizes a repository by its content, not its name", []edit{{p + "protect.go", "		if there >= 2 {", "		if there >= 9 {"}}},
		"obeyed":       {"files that a repository's configuration names are protected like .git", []edit{{p + "protect.go", "inRepository(followed) || obeyedByGit(followed) {", "inRepository(followed) || obeyedByGit(followed) && false {"}}},
		"followed":     {"podd follows links to find out whether a path is protected", []edit{{p + "protect.go", "	for _, p := range []place{named, followed} {", "	for _, p := range []place{named} {"}}},
		"shown secrets": {"podd does not write the mark for a secret over the secret", []edit{{"internal/tools/builtin/files.go",
			"strings.Count(after, redactedMark) > strings.Count(before, redactedMark)", "strings.Count(after, redactedMark) > 1<<30+strings.Count(before, redactedMark)"}}},
	}
}

func socketGuards() map[string]guard {
	return map[string]guard{
		"peer":          {"the kernel identifies the caller; podd refuses other users", []edit{{"internal/server/peer.go", "	if ok && info.err == nil && info.uid == owner {", "	if ok && info.err == nil {"}}},
		"listed":        {"podd refuses an unlisted call", []edit{{"internal/server/auth.go", "	return item.Errorf(item.KindUnimplemented, \"UNLISTED_CALL\",", "	if method != \"\" {\n		return nil\n	}\n	return item.Errorf(item.KindUnimplemented, \"UNLISTED_CALL\","}}},
		"token":         {"calls that change what pods may do need the client token", []edit{{"internal/server/auth.go", "		return a.checkToken(md)", "		return nil"}}},
		"whole token":   {"podd compares the whole token; an empty token never matches", []edit{{"internal/server/auth.go", "if ok && a.token != \"\" && subtle.ConstantTimeCompare([]byte(shown), []byte(a.token)) == 1 {", "if _ = subtle.ConstantTimeCompare; ok && strings.HasPrefix(a.token, shown) {"}}},
		"hook secret":   {"podd compares the secret of a webhook, or the signature of its body", []edit{{"internal/triggers/webhook.go", "	return d.Webhook && (signed || shown)", "	_, _ = signed, shown\n	return d.Webhook"}}},
		"hook wanted":   {"a trigger has a webhook only if its owner asks for it", []edit{{"internal/triggers/webhook.go", "	return d.Webhook && (signed || shown)", "	return signed || shown"}}},
		"hook names":    {"an unknown trigger is answered like a wrong secret", []edit{{"internal/triggers/webhook.go", "	case err != nil && item.KindOf(err) != item.KindNotFound:", "	case err != nil:"}}},
		"hook size":     {"the body of a webhook has a size limit", []edit{{"internal/triggers/webhook.go", "http.MaxBytesReader(out, r.Body, maxBody)", "http.MaxBytesReader(out, r.Body, 1<<30)"}}},
		"room":          {"a new connection above the limit replaces an idle one", []edit{{"pkg/socket/limit.go", "		if c.calls.Load() == 0 {", "		if c.calls.Load() < 0 {"}}},
		"busy":          {"a connection with a running call is not idle", []edit{{"pkg/socket/limit.go", "func (c *Conn) Begin() { c.calls.Add(1) }", "func (c *Conn) Begin() {}"}, {"pkg/socket/limit.go", "func (c *Conn) End() { c.calls.Add(-1) }", "func (c *Conn) End() {}"}}},
		"greeting":      {"podd closes a silent connection after 5 seconds", []edit{{"internal/server/server.go", "	greetTimeout = 5 * time.Second", "	greetTimeout = time.Hour"}}},
		"sizes":         {"messages and metadata have a size limit", []edit{{"internal/server/server.go", "		grpc.MaxRecvMsgSize(MaxRequest),", "		grpc.MaxRecvMsgSize(1 << 30),"}}},
		"private":       {"podd refuses directories that others can enter", []edit{{"pkg/paths/private.go", "	if mode := info.Mode().Perm(); mode&0o077 != 0 {", "	if mode := info.Mode().Perm(); mode&0o077 > 0o777 {"}}},
		"stale":         {"podd replaces a socket only when no server answers on it", []edit{{"pkg/socket/listen.go", "	if err := dialSoon(ctx, path); !errors.Is(err, syscall.ECONNREFUSED) {", "	if err := dialSoon(ctx, path); !errors.Is(err, syscall.ECONNREFUSED) && ctx.Err() != nil {"}}},
		"own socket":    {"podd removes only its own socket", []edit{{"pkg/socket/listen.go", "err == nil && os.SameFile(info, l.file) && !l.adopted {", "err == nil && (os.SameFile(info, l.file) || true) && !l.adopted {"}}},
		"lock":          {"only one podd can lock a state directory", []edit{{"pkg/paths/lock.go", "syscall.LOCK_EX|syscall.LOCK_NB", "syscall.LOCK_SH|syscall.LOCK_NB"}}},
		"sign-in mode":  {"podd takes the tokens of MCP servers from others", []edit{{"internal/extend/mcp/signin.go", "	_ = os.Chmod(s.path, 0o600)", "	_ = os.Chmod"}}},
		"sign-in state": {"an answer to a sign-in needs its secret state", []edit{{"internal/extend/mcp/callback.go", "	if state != \"\" && subtle.ConstantTimeCompare([]byte(state), []byte(r.URL.Query().Get(\"state\"))) == 1 {", "	if _ = subtle.ConstantTimeCompare; state != \"\" {"}}},
		"issuer":        {"a secret for sign-ins goes only to the issuer that the configuration names", []edit{{"internal/extend/mcp/account.go", `only == "" || one == only {`, `only == "" || one != "" {`}}},
		"token place":   {"a request for a token follows no redirect", []edit{{"internal/extend/mcp/account.go", "return http.ErrUseLastResponse }", "return nil }"}}},
		"asked text":    {"podd shows what a server asks as visible, bounded text", []edit{{"internal/extend/mcp/form.go", "Text: text(p.Message, maxDescription)}", "Text: p.Message}"}}},
		"asked size":    {"a form has at most 64 KiB", []edit{{"internal/extend/mcp/form.go", "; size > maxForm {", "; size < 0 {"}}},
		"asked address": {"podd shows the host and encodes what is not ASCII", []edit{{"internal/extend/mcp/form.go", "plainASCII(u.Hostname()), plainASCII(address)", "u.Host, address"}}},
		"token mode":    {"podd refuses a token that others can read", []edit{{"pkg/paths/token.go", "	if mode := info.Mode().Perm(); mode&0o077 != 0 {", "	if mode := info.Mode().Perm(); mode&0o077 > 0o777 {"}}},
	}
}

func secretGuards() map[string]guard {
	const p = "internal/guard/secrets/"
	return map[string]guard{
		"known values":           {"podd redacts the secrets it was given", []edit{{p + "set.go", "	if known := s.known.Load(); known != nil {", "	if known := s.known.Load(); known != nil && len(*known) > 1<<30 {"}}},
		"known forms":            {"podd redacts well-known forms of secrets", []edit{{p + "set.go", "	for at := 0; at+1 < len(text); at++ {", "	for at := 0; at+1 < 0; at++ {"}}},
		"fragments":              {"podd delays text that may become a secret", []edit{{p + "stream.go", "	return max(cut, len(s.before))\n", "	return max(len(text), cut, len(s.before))\n"}}},
		"spool":                  {"podd searches the files that commands wrote", []edit{{p + "scrub.go", "		for _, sp := range s.find(string(buffer[:n])) {", "		for _, sp := range s.find(string(buffer[:0])) {"}}},
		"log":                    {"one log handler redacts and escapes everything", []edit{{p + "log.go", "func (h handler) text(s string) string { return sanitize.Terminal(h.set.Redact(s)) }", "func (h handler) text(s string) string { _ = sanitize.Terminal; return s }"}}},
		"key files":              {"podd refuses a key file that others can read", []edit{{p + "load.go", "mode&forbidden != 0 {", "mode&forbidden > 0o777 {"}}},
		"owned keys":             {"podd refuses another user's key file", []edit{{p + "load.go", "stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {", "stat.Uid != 0 && int(stat.Uid) == -os.Geteuid()-1 {"}}},
		"owned configuration":    {"podd refuses another user's configuration file", []edit{{"internal/config/owner.go", "	if ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {", "	if ok && stat.Uid != 0 && int(stat.Uid) == -os.Geteuid()-1 {"}}},
		"unshared configuration": {"podd refuses one that others can change or replace", []edit{{"internal/config/owner.go", "mode.Perm()&0o022 != 0 {", "mode.Perm()&0o022 > 0o777 {"}}},
		"child":                  {"no child gets the secrets that podd was given", []edit{{p + "set.go", "		if !s.Holds(entry) {", "		if !s.Holds(entry) || entry != \"\" {"}}},
		"outputs":                {"podd redacts outputs where it limits them", []edit{{"internal/daemon/settings.go", "	c.ToolOutput.Redactor = d.secrets\n", "\n"}}},
		"not dumpable":           {"other programs cannot read podd's memory and environment", []edit{{"internal/guard/harden/dumpable_linux.go", "unix.PR_SET_DUMPABLE, 0, 0, 0, 0)", "unix.PR_SET_DUMPABLE, 1, 0, 0, 0)"}}},
		"no key inside":          {"a key in the configuration file is an error", []edit{{"internal/config/file.go", "`toml:\"api_key,hidden\"", "`toml:\"api_key\""}}},
	}
}

func textGuards() map[string]guard {
	const p = "internal/sanitize/runes.go"
	return map[string]guard{
		"controls":             {"podd escapes control characters", []edit{{p, "	case r < 0x20 || r >= 0x7f && r < 0xa0:\n		return true", "	case r < 0x20 || r >= 0x7f && r < 0xa0:\n		return false"}}},
		"invisible":            {"podd escapes characters that hide or reorder text", []edit{{p, "	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,\n		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)", "	return false"}}},
		"bytes":                {"podd escapes invalid UTF-8", []edit{{"internal/sanitize/scan.go", "			dst = s.escape(dst, `\\x`, rune(src[0]), 2)", "			dst = append(dst, src[0])"}}},
		"one line":             {"a line stays one line", []edit{{"internal/sanitize/scan.go", "		return !s.oneLine\n", "		return true\n"}, {"internal/sanitize/scan.go", "			if s.oneLine {\n				return i\n			}\n", ""}}},
		"json":                 {"podd escapes JSON for a terminal too", []edit{{"cmd/podctl/output.go", "_, err = fmt.Fprintln(p.stdout, sanitize.JSON(string(line)))", "_, err = fmt.Fprintln(p.stdout, string(line))"}}},
		"errors":               {"errors pass through the sanitizer", []edit{{"cmd/podctl/root.go", "		fmt.Fprintf(p.stderr, \"podctl: %s\\n\", sanitize.Line(view.LocalTimes(err.Error())))", "		_ = sanitize.Line\n		fmt.Fprintf(p.stderr, \"podctl: %s\\n\", view.LocalTimes(err.Error()))"}}},
		"visible instructions": {"podd removes invisible text from a workspace's instructions", []edit{{"internal/workspace/instructions/collect.go", "	f.text, f.hidden = sanitize.Visible(string(data))", "	_, f.hidden = sanitize.Visible(string(data))\n	f.text = string(data)"}}},
		"bounded instructions": {"podd reads at most 32 KiB of a workspace's instructions", []edit{{"internal/workspace/instructions/collect.go", "from.ReadFile(path, MaxBytes)", "from.ReadFile(path, 1<<20)"}}},
		"imports in scope":     {"what a workspace's instructions import is read within the pod's scope", []edit{{"internal/workspace/instructions/collect.go", "c.add(c.fs, path, depth+1)", "c.add(from, path, depth+1)"}}},
		"asked first":          {"a workspace's configuration applies only after a person trusts it", []edit{{"internal/guard/trust/book.go", "	case !ok:\n		return Never", "	case !ok:\n		return Trusted"}}},
		"as trusted":           {"a person trusts the content, not the file", []edit{{"internal/guard/trust/book.go", "	case known.Digest != look.Digest:", "	case known.Digest != look.Digest && false:"}}},
		"trusted rules":        {"trusted rules apply until a person trusts other ones", []edit{{"internal/guard/trust/follow.go", "	return Project{Rules: p.Rules}, ", "	return Project{}, "}}},
		"as shown":             {"a person trusts exactly what was shown", []edit{{"internal/guard/trust/book.go", "	case look.Digest != digest:", "	case false:"}}},
		"narrow keys":          {"a trusted workspace sets only instructions and rules", []edit{{"internal/config/project.go", "d.only = []string{\"instructions\", keyRule}", "d.only = nil"}}},
		"narrow rules":         {"rules of a trusted workspace can only ask or deny", []edit{{"internal/config/project.go", "		if r.Decision == policy.Allow {", "		if r.Decision == policy.Allow && r.Source == \"\" {"}}},
		"blanks":               {"questions show characters that look like spaces", []edit{{p, "	return r != ' ' && unicode.Is(unicode.Zs, r)", "	return false"}}},
		"brief errors":         {"an error quotes only part of a request", []edit{{"internal/server/intercept.go", "	if len(text) <= maxQuote {", "	if len(text) >= 0 {"}}},
		"exact keys":           {"podd accepts each key of a request once, in its exact spelling", []edit{{"internal/clients/bridge/line.go", "	values, err := object(data)\n", "	_, err := object(data)\n	values := map[string][]json.RawMessage{}\n"}}},
		"hidden count":         {"a question shows the number of hidden characters", []edit{{"internal/sanitize/exact.go", "	return string(out), sc.escaped\n", "	return string(out), 0\n"}}},
	}
}
