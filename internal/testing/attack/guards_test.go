package attack_test

// guard is what stops attacks.
type guard struct {
	// is says in a few words what it does.
	is string
	// off is what is changed to switch it off.
	off []edit
}

// edit replaces a text that a file has once.
type edit struct{ file, old, without string }

// guards are the guards by the name that the table of attacks uses.
func guards() map[string]guard {
	all := map[string]guard{}
	for _, group := range []map[string]guard{fileGuards(), socketGuards(), secretGuards(), textGuards(), sandboxGuards(), commandGuards(), pathGuards()} {
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
		"scope": {"a path in none of the roots is refused", []edit{anywhere}},
		"os.Root": {"files are opened inside of their root, link by link", []edit{
			{p + "read.go", "info, err := e.dir.Stat(e.name)\n	if err != nil {\n		return nil, nil", "info, err := os.Stat(e.dir.Name() + \"/\" + e.name)\n	if err != nil {\n		return nil, nil"},
			{p + "read.go", "file, err := e.dir.OpenFile(e.name,", "file, err := os.OpenFile(e.dir.Name()+\"/\"+e.name,"},
		}},
		"root of writes": {"the links of a path that is written are followed within its root", []edit{
			{p + "links.go", "			return place{}, &PathError{Kind: OutOfScope, Path: p.given}\n		}\n		done = done[:len(done)-1]", "			return f.locate(target)\n		}\n		done = done[:len(done)-1]"},
			anywhere,
		}},
		"read-only roots": {"a root for reading is not written to, by links either", []edit{{p + "links.go", "	if !p.root.writable {\n		return place{}, sayf", "	if false {\n		return place{}, sayf"}}},
		"regular files":   {"nothing but regular files is opened", []edit{{p + "read.go", "	case mode.IsRegular():", "	case mode.IsRegular(), !mode.IsDir():"}}},
		"no kernel files": {"files of /proc and the like are not read", []edit{{p + "kernelfile_linux.go", "	case procMagic,", "	case 1,"}}},
		"bounded links":   {"a path goes through 40 links at most", []edit{{p + "links.go", "links > maxLinks", "links > 4096 && false"}}},
		"shown paths":     {"a path is quoted in a sentence where it could pass for something else", []edit{{p + "error.go", "	if path == \"\" || strings.TrimSpace(path) != path || strings.ContainsFunc(path, unprintable) {", "	if path == \"\" || strings.TrimSpace(path) == \"\\x00\" {"}}},
		"bounded reads":   {"a file is read up to a limit", []edit{{p + "read.go", "	if whole && out.Truncated {", "	if false {"}}},
		"atomic writes":   {"a file is replaced as a whole", []edit{{p + "write.go", "	temp := \".podd-\" + rand.Text() + \".tmp\"\n", "	temp := name\n	_ = rand.Text\n	_ = dir.Remove(temp)\n"}}},
		"hidden":          {"podd's own files are told by device and inode", []edit{{p + "hidden.go", "		if os.SameFile(file, info) {\n			return true", "		if os.SameFile(file, info) {\n			return false"}}},
		"hidden names":    {"names of podd's files are kept while there are none", []edit{{p + "hidden.go", "		if info, err := dir.Stat(\".\"); err == nil && os.SameFile(info, m.dir) {\n			return true", "		if info, err := dir.Stat(\".\"); err == nil && os.SameFile(info, m.dir) {\n			return false"}}},
		"hidden links":    {"a file with more names is held against podd's files", []edit{{p + "hidden.go", "	if hardLinks(info) < 2 {", "	if hardLinks(info) < 1<<30 {"}}},
		"hidden roots":    {"podd's directories are no workspace", []edit{{p + "hidden.go", "		if _, ok := within(path, dir); ok {\n			return true", "		if _, ok := within(path, dir); ok {\n			return false"}}},
		"steps": {"directories are opened one by one, and none that became a link", []edit{
			{p + "within.go", "	if !os.SameFile(link, info) {\n		return errSwapped", "	if os.SameFile(link, info) && false {\n		return errSwapped"},
			{p + "read.go", "err != nil || !os.SameFile(link, info) {", "err != nil || false && !os.SameFile(link, info) {"},
		}},
		"protected":    {"what other programs run is changed with an approval", []edit{{p + "protect.go", "	if !protected {\n		return nil\n	}\n	return sayf", "	if !protected || protected {\n		return nil\n	}\n	return sayf"}}},
		"folded names": {"names are compared without case and ignorable characters", []edit{{p + "protect.go", "	names := strings.Split(fold(rel), \"/\")", "	names := strings.Split(rel, \"/\")"}}},
		"repositories": {"a repository is one by what it has, not by its name", []edit{{p + "protect.go", "		if there >= 2 {", "		if there >= 9 {"}}},
		"obeyed":       {"what a repository's configuration names is protected like .git", []edit{{p + "protect.go", "inRepository(followed) || obeyedByGit(followed) {", "inRepository(followed) || obeyedByGit(followed) && false {"}}},
		"followed":     {"a protected path is one by where its links lead", []edit{{p + "protect.go", "	for _, p := range []place{named, followed} {", "	for _, p := range []place{named} {"}}},
		"shown secrets": {"a mark for a secret is not written over the secret", []edit{{"pkg/tool/builtin/files.go",
			"strings.Count(after, redactedMark) > strings.Count(before, redactedMark)", "strings.Count(after, redactedMark) > 1<<30+strings.Count(before, redactedMark)"}}},
	}
}

func socketGuards() map[string]guard {
	return map[string]guard{
		"peer":        {"the kernel says who calls; another user is refused", []edit{{"internal/server/peer.go", "	if ok && info.err == nil && info.uid == owner {", "	if ok && info.err == nil {"}}},
		"listed":      {"a call in neither list is refused", []edit{{"internal/server/auth.go", "	return item.Errorf(item.KindUnimplemented, \"UNLISTED_CALL\",", "	if method != \"\" {\n		return nil\n	}\n	return item.Errorf(item.KindUnimplemented, \"UNLISTED_CALL\","}}},
		"token":       {"calls that change what pods may do need the client token", []edit{{"internal/server/auth.go", "		return a.checkToken(md)", "		return nil"}}},
		"whole token": {"the token is compared as a whole, and an empty one is none", []edit{{"internal/server/auth.go", "if ok && a.token != \"\" && subtle.ConstantTimeCompare([]byte(shown), []byte(a.token)) == 1 {", "if _ = subtle.ConstantTimeCompare; ok && strings.HasPrefix(a.token, shown) {"}}},
		"room":        {"one connection too many takes the place of an idle one", []edit{{"internal/socket/limit.go", "		if c.calls.Load() == 0 {", "		if c.calls.Load() < 0 {"}}},
		"busy":        {"a connection with a call under way is not idle", []edit{{"internal/socket/limit.go", "func (c *Conn) Begin() { c.calls.Add(1) }", "func (c *Conn) Begin() {}"}, {"internal/socket/limit.go", "func (c *Conn) End() { c.calls.Add(-1) }", "func (c *Conn) End() {}"}}},
		"greeting":    {"a connection that says nothing ends after 5 seconds", []edit{{"internal/server/server.go", "	greetTimeout = 5 * time.Second", "	greetTimeout = time.Hour"}}},
		"sizes":       {"messages and metadata are bounded", []edit{{"internal/server/server.go", "		grpc.MaxRecvMsgSize(MaxRequest),", "		grpc.MaxRecvMsgSize(1 << 30),"}}},
		"private":     {"directories that others can enter are refused", []edit{{"internal/paths/private.go", "	if mode := info.Mode().Perm(); mode&0o077 != 0 {", "	if mode := info.Mode().Perm(); mode&0o077 > 0o777 {"}}},
		"stale":       {"a socket is replaced only after nobody answered", []edit{{"internal/socket/listen.go", "	if err := dialSoon(ctx, path); !errors.Is(err, syscall.ECONNREFUSED) {", "	if err := dialSoon(ctx, path); !errors.Is(err, syscall.ECONNREFUSED) && ctx.Err() != nil {"}}},
		"own socket":  {"a socket is removed only while it is podd's own", []edit{{"internal/socket/listen.go", "err == nil && os.SameFile(info, l.file) && !l.adopted {", "err == nil && (os.SameFile(info, l.file) || true) && !l.adopted {"}}},
		"lock":        {"one podd holds a state directory", []edit{{"internal/paths/lock.go", "syscall.LOCK_EX|syscall.LOCK_NB", "syscall.LOCK_SH|syscall.LOCK_NB"}}},
		"token mode":  {"a token that others could read is refused", []edit{{"internal/paths/token.go", "	if mode := info.Mode().Perm(); mode&0o077 != 0 {", "	if mode := info.Mode().Perm(); mode&0o077 > 0o777 {"}}},
	}
}

func secretGuards() map[string]guard {
	const p = "internal/guard/secrets/"
	return map[string]guard{
		"known values":           {"values that podd was given are redacted", []edit{{p + "set.go", "	if known := s.known.Load(); known != nil {", "	if known := s.known.Load(); known != nil && len(*known) > 1<<30 {"}}},
		"known forms":            {"well-known forms of secrets are redacted", []edit{{p + "set.go", "	for at := 0; at+1 < len(text); at++ {", "	for at := 0; at+1 < 0; at++ {"}}},
		"fragments":              {"what may become a secret is held back", []edit{{p + "stream.go", "	return max(cut, len(s.before))\n", "	return max(len(text), cut, len(s.before))\n"}}},
		"spool":                  {"files that commands wrote are searched for secrets", []edit{{p + "scrub.go", "		for _, sp := range s.find(string(buffer[:n])) {", "		for _, sp := range s.find(string(buffer[:0])) {"}}},
		"log":                    {"the log's one handler redacts and escapes", []edit{{p + "log.go", "func (h handler) text(s string) string { return sanitize.Terminal(h.set.Redact(s)) }", "func (h handler) text(s string) string { _ = sanitize.Terminal; return s }"}}},
		"key files":              {"a key file that others can read is refused", []edit{{p + "load.go", "mode&forbidden != 0 {", "mode&forbidden > 0o777 {"}}},
		"owned keys":             {"a key file of another user is refused", []edit{{p + "load.go", "stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {", "stat.Uid != 0 && int(stat.Uid) == -os.Geteuid()-1 {"}}},
		"owned configuration":    {"a configuration file of another user is refused", []edit{{"internal/config/owner.go", "	if ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {", "	if ok && stat.Uid != 0 && int(stat.Uid) == -os.Geteuid()-1 {"}}},
		"unshared configuration": {"so is one that others can change, or replace", []edit{{"internal/config/owner.go", "mode.Perm()&0o022 != 0 {", "mode.Perm()&0o022 > 0o777 {"}}},
		"child":                  {"values that podd was given go to no child", []edit{{p + "set.go", "		if !s.Holds(entry) {", "		if !s.Holds(entry) || entry != \"\" {"}}},
		"outputs":                {"outputs are redacted where they are limited", []edit{{"internal/daemon/settings.go", "	c.ToolOutput.Redactor = d.secrets\n", "\n"}}},
		"not dumpable":           {"podd's memory and environment are closed", []edit{{"internal/guard/harden/dumpable_linux.go", "unix.PR_SET_DUMPABLE, 0, 0, 0, 0)", "unix.PR_SET_DUMPABLE, 1, 0, 0, 0)"}}},
		"no key inside":          {"a key in the configuration file is an error", []edit{{"internal/config/setting.go", "		noFile: true,\n", ""}}},
	}
}

func textGuards() map[string]guard {
	const p = "internal/sanitize/runes.go"
	return map[string]guard{
		"controls":             {"control characters are escaped", []edit{{p, "	case r < 0x20 || r >= 0x7f && r < 0xa0:\n		return true", "	case r < 0x20 || r >= 0x7f && r < 0xa0:\n		return false"}}},
		"invisible":            {"characters that hide or reorder are escaped", []edit{{p, "	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,\n		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)", "	return false"}}},
		"bytes":                {"bytes that are no UTF-8 are escaped", []edit{{"internal/sanitize/scan.go", "			dst = s.escape(dst, `\\x`, rune(src[0]), 2)", "			dst = append(dst, src[0])"}}},
		"one line":             {"a line stays one line", []edit{{"internal/sanitize/scan.go", "		return !s.oneLine\n", "		return true\n"}, {"internal/sanitize/scan.go", "			if s.oneLine {\n				return i\n			}\n", ""}}},
		"json":                 {"JSON for a terminal is escaped too", []edit{{"cmd/podctl/output.go", "_, err = fmt.Fprintln(p.stdout, escapeJSON(string(line)))", "_, err = fmt.Fprintln(p.stdout, string(line))"}}},
		"errors":               {"errors pass the sanitiser", []edit{{"cmd/podctl/root.go", "		fmt.Fprintf(p.stderr, \"podctl: %s\\n\", sanitize.Line(view.LocalTimes(err.Error())))", "		_ = sanitize.Line\n		fmt.Fprintf(p.stderr, \"podctl: %s\\n\", view.LocalTimes(err.Error()))"}}},
		"visible instructions": {"what a workspace says is freed of what a person would not see", []edit{{"internal/workspace/instructions/read.go", "	text, hidden := sanitize.Visible(string(data))", "	_, hidden := sanitize.Visible(string(data))\n	text := string(data)"}}},
		"bounded instructions": {"of what a workspace says 32 KiB are read", []edit{{"internal/workspace/instructions/read.go", "fs.ReadFile(path, MaxBytes)", "fs.ReadFile(path, 1<<20)"}}},
		"asked first":          {"a workspace's configuration counts once a person trusts it", []edit{{"internal/guard/trust/book.go", "	case !ok:\n		return Never", "	case !ok:\n		return Trusted"}}},
		"as trusted":           {"the trust is of the content", []edit{{"internal/guard/trust/book.go", "	case known.Digest != look.Digest:", "	case known.Digest != look.Digest && false:"}}},
		"rules hold on":        {"rules that were trusted hold until other ones are", []edit{{"internal/guard/trust/follow.go", "	return config.Project{Rules: p.Rules}, ", "	return config.Project{}, "}}},
		"as shown":             {"what is trusted is what was shown", []edit{{"internal/guard/trust/book.go", "	case look.Digest != digest:", "	case false:"}}},
		"narrow keys":          {"a trusted workspace sets instructions and rules, nothing else", []edit{{"internal/config/project.go", "		if mayBeProjects(a.key) {", "		if mayBeProjects(a.key) || true {"}}},
		"narrow rules":         {"a rule of a trusted workspace asks or denies", []edit{{"internal/config/project.go", "	case policy.Ask, policy.Deny:", "	case policy.Ask, policy.Deny, policy.Allow:"}, {"internal/config/project.go", "	case policy.Allow:\n		return r.Source + \": a rule of a workspace cannot allow: write \\\"ask\\\" or \\\"deny\\\", or put the rule into your own configuration\"\n", ""}}},
		"blanks":               {"what a person decides on shows characters that pass for spaces", []edit{{p, "	return r != ' ' && unicode.Is(unicode.Zs, r)", "	return false"}}},
		"brief errors":         {"an error quotes a part of a request", []edit{{"internal/server/intercept.go", "	if len(text) <= maxQuote {", "	if len(text) >= 0 {"}}},
		"exact keys":           {"a request has each key once, as it is written", []edit{{"internal/clients/bridge/line.go", "	values, err := object(data)\n", "	_, err := object(data)\n	values := map[string][]json.RawMessage{}\n"}}},
		"hidden count":         {"who approves is told of hidden characters", []edit{{"internal/sanitize/exact.go", "	return string(out), sc.escaped\n", "	return string(out), 0\n"}}},
	}
}
