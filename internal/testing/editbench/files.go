package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// known is the content of the files that a recording has shown: the lines of each, with
// fillers for those that were not shown.
type known map[string][]string

// calls converts the events to calls on the files as shown so far. It omits a call on
// text that was never shown.
func (r *events) calls() []call {
	files := make(known)
	var calls []call
	for _, e := range r.list {
		result := r.results[e.id]
		e.result, e.failed = result.result, result.failed || refuses(result.result)
		command := str(e.args, "command")
		switch {
		case e.name == "apply_patch":
			if c, ok := files.patch(e); ok {
				calls = append(calls, c)
			}
		case firstOf(e.args, olds...) != nil:
			if c, ok := files.edit(e); ok {
				calls = append(calls, c)
			}
		case command == "view", strings.HasPrefix(strings.ToLower(e.name), "read"):
			files.read(e)
		case firstOf(e.args, contents...) != nil && !e.failed:
			files[e.path()] = strings.SplitAfter(first(e.args, contents...), "\n")
		case command == "insert", command == "undo_edit":
			delete(files, e.path())
		}
	}
	retries(calls)
	return calls
}

var (
	olds     = []string{"old_str", "old_string", "oldText", "oldString"}
	news     = []string{"new_str", "new_string", "newText", "newString"}
	contents = []string{"file_text", "content"}
	paths    = []string{"path", "file_path", "filePath"}
)

func (e event) path() string { return strings.TrimPrefix(path.Clean("/"+first(e.args, paths...)), "/") }

// refuses says whether the result of an editing tool is a refusal.
func refuses(result string) bool {
	result = result[:min(len(result), 200)]
	for _, sign := range []string{"No replacement was performed", "String to replace not found", "did not appear verbatim", "Could not find", "Found multiple", "verification failed", "was not found in"} {
		if strings.Contains(result, sign) {
			return true
		}
	}
	return false
}

func (k known) text(name string) string { return strings.Join(k[name], "") }

// edit is a replacement. Its text is known if it was accepted.
func (k known) edit(e event) (call, bool) {
	name, before := e.path(), k.text(e.path())
	oldText, newText := first(e.args, olds...), first(e.args, news...)
	c := call{
		tool: "edit_file", refused: e.failed, before: map[string]string{name: before},
		args: map[string]any{"path": name, "old": oldText, "new": newText},
	}
	if all, ok := e.args["replace_all"].(bool); ok {
		c.args["all"] = all
	}
	if _, shown := k[name]; !shown || oldText == "" || e.result == "" {
		return call{}, false
	}
	if times := strings.Count(before, oldText); e.failed && times != 1 {
		return c, true
	} else if e.failed || times == 0 {
		// Something else has changed the file since it was shown.
		delete(k, name)
		return call{}, false
	}
	times := 1
	if c.args["all"] == true {
		times = -1
	}
	after := strings.Replace(before, oldText, newText, times)
	c.after = map[string]string{name: after}
	k[name] = strings.SplitAfter(after, "\n")
	return c, true
}

var patched = regexp.MustCompile(`(?m)^\*\*\* (?:Update|Delete) File: (.+)$`)

// patch is a patch over files that were shown.
func (k known) patch(e event) (call, bool) {
	input := first(e.args, "input", "patch")
	c := call{tool: "apply_patch", refused: e.failed, before: make(map[string]string)}
	for _, m := range patched.FindAllStringSubmatch(input, -1) {
		name := strings.TrimPrefix(path.Clean("/"+strings.TrimSpace(m[1])), "/")
		if _, shown := k[name]; !shown {
			return call{}, false
		}
		c.before[name] = k.text(name)
		input = strings.ReplaceAll(input, m[0], strings.Replace(m[0], m[1], name, 1))
		delete(k, name)
	}
	c.args = map[string]any{"input": input}
	return c, len(c.before) > 0 && (e.failed || shows(c.before, input))
}

// shows says whether the files contain the lines that a patch keeps or removes.
func shows(files map[string]string, input string) bool {
	all := strings.Join(slices.Collect(maps.Values(files)), "\n")
	for line := range strings.Lines(input) {
		if text := strings.TrimSpace(line[1:]); (line[0] == ' ' || line[0] == '-') && !strings.Contains(all, text) {
			return false
		}
	}
	return true
}

var numberedLine = regexp.MustCompile(`^ *(\d+)(?:\t|→| )(.*)$`)

// read adopts what a reading tool showed: numbered lines, or plain text that starts at a
// line.
func (k known) read(e event) {
	name := e.path()
	if e.failed {
		return
	}
	lines := strings.SplitAfter(e.result, "\n")
	numbered := make(map[int]string)
	for _, line := range lines {
		if m := numberedLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			n, _ := strconv.Atoi(m[1])
			numbered[n] = m[2] + "\n"
		}
	}
	if len(numbered)*2 < len(lines) {
		if str(e.args, "command") == "view" {
			return // an error, or a directory
		}
		clear(numbered)
		from, _ := firstOf(e.args, "offset", "startLine").(float64)
		for i, line := range lines {
			if strings.HasPrefix(line, "[") || strings.HasPrefix(line, "... (") {
				continue // the tool's remark about the rest
			}
			numbered[max(int(from), 1)+i] = line
		}
	}
	for _, n := range slices.Sorted(maps.Keys(numbered)) {
		for len(k[name]) < n {
			k[name] = append(k[name], fmt.Sprintf("⋯ line %d of %s was not shown ⋯\n", len(k[name])+1, name))
		}
		k[name][n-1] = numbered[n]
	}
}
