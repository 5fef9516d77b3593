package ownprompts

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// Compact is the name of podd's own command: it summarizes the conversation.
const Compact = "compact"

// All are what a prompt to a pod may begin with, as /NAME: what podd does itself, the person's own prompts with those of the pod's
// workspace, and the pod's skills, by the parts of its context.
func All(env func(string) string, workspace string, parts []*poddv1.ContextPart) []Prompt {
	own := []Prompt{{Name: Compact, About: "Summarize the conversation so far"}}
	return Join(Join(own, Own(env, workspace)...), Skills(parts)...)
}

// called is a text that begins with a command: its name, and what was typed behind it.
var called = regexp.MustCompile(`^\s*/([a-z0-9][a-z0-9_-]*)(?:\s+|$)((?s:.*))$`)

// Find finds the prompt that a text names, and what was typed behind its name. Other text, such as a path, names none.
func Find(list []Prompt, text string) (p Prompt, typed string, ok bool) {
	found := called.FindStringSubmatch(text)
	if found == nil {
		return Prompt{}, "", false
	}
	i := slices.IndexFunc(list, func(p Prompt) bool { return p.Name == found[1] })
	if i < 0 {
		return Prompt{}, "", false
	}
	return list[i], strings.TrimSpace(found[2]), true
}

// Description says in a line what a prompt does.
func (p Prompt) Description() string {
	return sanitize.Line(cmp.Or(p.About, "Sends your prompt "+p.Name+".md"))
}

// Arguments says in a line what to type behind a prompt's name; empty if nothing.
func (p Prompt) Arguments() string { return sanitize.Line(cmp.Or(strings.Join(p.Args, " "), p.Hint)) }
