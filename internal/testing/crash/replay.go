package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"podd/pkg/scopefs"
	poddv1 "podd/proto/podd/v1"
)

// Files of calls that change what others change, too.
const (
	// laterFile has a line for each background command that ended; paidFile and lookedFile have one
	// for each call of the MCP server's tools.
	laterFile, paidFile, lookedFile = "later", "paid", "looked"
	// lastLine is the last line of the files that calls add lines to, sharedFiles how many there are
	// of each kind.
	lastLine    = "the end"
	sharedFiles = 3
)

// startFiles are those that calls change.
func startFiles() map[string]string {
	all := make(map[string]string)
	for n := range sharedFiles {
		all[fmt.Sprintf("fixed-%d", n)] = lastLine + "\n"
		all[fmt.Sprintf("patched-%d", n)] = lastLine + "\n"
	}
	return all
}

// tillScript is an MCP server. Its tools note their calls in its working directory.
const tillScript = `while read -r line; do
	id=${line#*'"id":'}; id=${id%%[,\}]*}
	case $line in
	*'"initialize"'*) r='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"till","version":"1"}}' ;;
	*'"tools/list"'*)
		schema='"inputSchema":{"type":"object","properties":{"call":{"type":"string"}}}'
		r='{"tools":[{"name":"look","description":"Looks.",'$schema',"annotations":{"readOnlyHint":true}},{"name":"pay","description":"Pays.",'$schema'}]}' ;;
	*'"tools/call"'*)
		call=${line#*'"call":"'}; call=${call%%\"*}
		case $line in *'"name":"pay"'*) echo $call >>$NOTES/` + paidFile + ` ;; *) echo $call >>$NOTES/` + lookedFile + ` ;; esac
		sleep 0.01
		r='{"content":[{"type":"text","text":"out-'$call'"}]}' ;;
	*'"id":'*) r='{}' ;;
	*) continue ;;
	esac
	echo '{"jsonrpc":"2.0","id":'$id',"result":'$r'}'
done`

// shared is one of the files of a kind.
func (c madeCall) shared(kind string) string { return fmt.Sprintf("%s-%d", kind, c.number%sharedFiles) }

// patch adds a file and a line to another one, and if the call has two files of earlier calls, it
// deletes one and moves and changes the other.
func (c madeCall) patch(id string) string {
	text := fmt.Sprintf("*** Begin Patch\n*** Update File: %s\n@@\n+%s\n %s\n*** Add File: added-%s\n+%s\n", c.shared("patched"), id, lastLine, id, id)
	if len(c.uses) > 0 {
		text += fmt.Sprintf("*** Delete File: made-%s\n*** Update File: made-%s\n*** Move to: moved-%s\n@@\n-%s\n+%s\n", c.uses[0], c.uses[1], id, c.uses[1], id)
	}
	return text + "*** End Patch"
}

// change is what a call makes of one file; a file that is not there is empty.
type change func(before string) (after string)

// changes are those of a call, by path.
func (c madeCall) changes(id string) map[string]change {
	becomes := func(text string) change { return func(string) string { return text } }
	line := func(text string) string { return strings.Replace(text, lastLine, id+"\n"+lastLine, 1) }
	switch c.verb {
	case "write":
		return map[string]change{"made-" + id: becomes(id)}
	case "over":
		return map[string]change{c.shared("over"): becomes(id)}
	case "fix":
		return map[string]change{c.shared("fixed"): line}
	case "change", "later":
		return map[string]change{"d-" + id + "/y": becomes(id + "\n")}
	case "patch":
		all := map[string]change{c.shared("patched"): line, "added-" + id: becomes(id + "\n")}
		if len(c.uses) > 0 {
			all["made-"+c.uses[0]], all["made-"+c.uses[1]], all["moved-"+id] = becomes(""), becomes(""), becomes(id)
		}
		return all
	}
	return nil
}

// partly is the result of a patch that podd's end interrupted between two of its files.
var partly = regexp.MustCompile(`interrupted when podd ended; done: (.*); not done: `)

// replayed compares the files of a workspace with what the log of its pod makes of them.
func (i *inspection) replayed(dir string, pods []kin) error {
	// may is what each file may have.
	may := make(map[string][]string)
	for path, text := range startFiles() {
		may[path] = []string{text}
	}
	for _, k := range pods {
		for _, e := range k.log {
			if r := e.GetItem().GetToolResult(); r != nil {
				i.replay(may, k, r)
			}
		}
	}
	has, err := contents(dir)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(union(has, firsts(may)))) {
		want := may[path]
		if len(want) == 0 {
			want = []string{""}
		}
		if !slices.Contains(want, has[path]) && !(i.notes != "" && strings.HasPrefix(path, "d-")) {
			i.tally.Lost.add("%s: %s has %q, and the log makes %q of it", dir, path, has[path], want)
		}
	}
	if i.notes != "" {
		return nil // The disk may have lost what commands wrote. noted looks at the server once.
	}
	return errors.Join(i.noted(dir, paidFile, "pay", pods), i.noted(dir, lookedFile, "look", pods), i.noted(dir, laterFile, "later", pods))
}

// replay adds what a call did to what the files may have.
func (i *inspection) replay(may map[string][]string, k kin, r *poddv1.ToolResult) {
	id := r.GetCallId()
	call := i.model.made(id)
	did := !r.GetIsError()
	if call.verb == "change" {
		did = r.GetContent() == "out-"+id+"\n"
	}
	text := r.GetSummary() + r.GetContent()
	done := partly.FindStringSubmatch(text)
	for path, change := range call.changes(id) {
		before := may[path]
		if len(before) == 0 {
			before = []string{""}
		}
		after := make([]string, 0, len(before))
		for _, was := range before {
			after = append(after, change(was))
		}
		switch unknown := r.GetRecovery() == poddv1.Recovery_RECOVERY_UNKNOWN; {
		case unknown && call.tool != "shell":
			i.tally.Other.add("%s: podd does not know what call %s did to %s: %s", k.pod, id, path, text)
			fallthrough
		case unknown:
			may[path] = append(slices.Clip(before), after...)
		case done != nil && slices.Contains(strings.Split(done[1], ", "), path), done == nil && did:
			may[path] = after
		}
	}
}

// noted compares the lines of a file with the calls that note themselves there.
func (i *inspection) noted(dir, file, verb string, pods []kin) error {
	lines, err := countLines(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	for _, k := range pods {
		for id, s := range k.calls {
			if i.model.made(id).verb != verb || s.result == nil {
				continue
			}
			n := lines[id]
			delete(lines, id)
			how := s.result.GetRecovery()
			switch {
			case n > 1 && how != poddv1.Recovery_RECOVERY_AGAIN:
				i.tally.Repeated.add("%s: the call %s ran %d times: %s", k.pod, id, n, s.result.GetSummary())
			case n > 0 && s.started == 0:
				i.tally.Other.add("%s: the call %s ran and is not in the log as started", k.pod, id)
			case n == 0 && !s.result.GetIsError(), n > 0 && s.result.GetIsError() && how != poddv1.Recovery_RECOVERY_UNKNOWN:
				i.tally.Lost.add("%s: the call %s ran %d times, and its result is: %s", k.pod, id, n, s.result.GetSummary())
			}
		}
	}
	for id := range lines {
		i.tally.Other.add("%s: the call %s ran and is in no log", dir, id)
	}
	return nil
}

// contents are the files of a workspace, without those where calls note themselves.
func contents(dir string) (map[string]string, error) {
	all, err := texts(dir)
	if err != nil {
		return nil, err
	}
	for _, path := range []string{readFile, ranFile, endedFile, laterFile, paidFile, lookedFile} {
		delete(all, path)
	}
	for path, text := range all {
		_, all[path], _ = strings.Cut(text, " ")
	}
	return all, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && scopefs.Unfinished(e.Name()) {
			all[path] = "what a killed write left"
		}
		return err
	})
}

// firsts has the first of each list.
func firsts(lists map[string][]string) map[string]string {
	all := make(map[string]string)
	for name, list := range lists {
		all[name] = list[0]
	}
	return all
}
