package attach

import (
	"strings"

	"podd/internal/sanitize"
	"podd/internal/workspace/prompts"
	poddv1 "podd/proto/podd/v1"
)

// shellWords are the words of a text.
func shellWords(text string) (words []string, err error) {
	list, err := prompts.Words(strings.Split(text, ""), func(c string) string { return c }, func(c string) bool { return strings.TrimSpace(c) == "" })
	for _, word := range list {
		words = append(words, strings.Join(word, ""))
	}
	return words, err
}

// knownPrompts are the prompts that podd knows for the pod.
type knownPrompts struct {
	list []*poddv1.Prompt
	// asking says that podd is asked for them.
	asking bool
}

// askPrompts asks podd for the prompts. An Enter meanwhile waits for them.
func (a *app) askPrompts() {
	if a.known.asking {
		return
	}
	a.known.asking = true
	ask(a.call, a.Client.Pods().ListPrompts, &poddv1.ListPromptsRequest{Pod: a.pod.GetId()}, func(resp *poddv1.ListPromptsResponse, err error) {
		if a.known.asking = false; err == nil {
			a.known.list = resp.GetPrompts()
		}
		a.completed(true)
	})
}

// names says whether the draft is a command that the view itself does not know.
func (a *app) names() bool {
	name, _, ok := a.prompt.draft.command()
	return ok && !isBuiltin(name) && elsewhere[name] == "" && instead[name] == ""
}

// commandOf is a prompt as a command. podd puts it in the place of the draft.
func commandOf(p *poddv1.Prompt) slash {
	return slash{name: p.GetName(), args: sanitize.Line(p.GetArguments()), about: sanitize.Line(p.GetAbout()), whole: true, sends: func(a *app, draft editor) {
		a.prompt.draft = draft
		a.submit(false)
	}}
}
