package imports

import (
	"cmp"
	"encoding/json"
	"strings"

	"podd/pkg/item"
)

// kinds are those of the results of tools whose name has the word; pruning weighs them.
var kinds = []struct {
	kind  item.OutputKind
	words []string
}{
	{item.OutputTask, []string{"task", "agent"}},
	{item.OutputEdit, []string{"edit", "write", "patch"}},
	{item.OutputShell, []string{"bash", "shell", "exec", "stdin", "command"}},
	{item.OutputSearch, []string{"grep", "glob", "search", "find", "ls", "list"}},
	{item.OutputRead, []string{"read", "view"}},
}

// about is the kind of a call's result, and the argument that says most of the call.
func about(call item.ToolCall) (kind item.OutputKind, argument string) {
	name := strings.ToLower(call.Name)
	kind = item.OutputOther
	for _, k := range kinds {
		for _, word := range k.words {
			if kind == item.OutputOther && strings.Contains(name, word) {
				kind = k.kind
			}
		}
	}
	var a struct {
		FilePath                                                    string `json:"file_path"`
		CamelPath                                                   string `json:"filePath"`
		Path, Command, Cmd, Pattern, Query, URL, Description, Input string
	}
	_ = json.Unmarshal([]byte(call.Arguments), &a)
	argument = cmp.Or(a.FilePath, a.CamelPath, a.Path, a.Command, a.Cmd, a.Pattern, a.Query, a.URL, a.Description, a.Input)
	argument, _, _ = strings.Cut(strings.TrimSpace(argument), "\n")
	return kind, argument[:min(len(argument), 200)]
}
