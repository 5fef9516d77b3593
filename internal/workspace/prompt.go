package workspace

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"podd/internal/sanitize"
	"podd/internal/workspace/prompts"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// Prompts are what typed text may begin with; see [pod.Ground].
func (g *ground) Prompts() (list []pod.Prompt) {
	var servers []pod.Prompt
	if of := g.project.Prompts; of != nil {
		servers = of()
	}
	for _, p := range g.skills.Prompts(g.workspace.all.PromptsDirs) {
		first, _, below := strings.Cut(p.Name, ":")
		ofServer := func(s pod.Prompt) bool { return strings.HasPrefix(s.Name, first+":") }
		if !p.Workspace || !below || !slices.ContainsFunc(servers, ofServer) {
			list = append(list, pod.Prompt{Name: p.Name, About: p.Description(), Arguments: p.Arguments()})
		}
	}
	return append(list, servers...)
}

// prompt puts the prompt that a submit names in the place of its name and arguments.
func (r *resolver) prompt(ctx context.Context, list []item.Segment) ([]item.Segment, error) {
	first, ok := list[0].(item.TextSegment)
	if !ok {
		return list, nil
	}
	name, typed, ok := prompts.Called(first.Text)
	if !ok {
		return list, nil
	}
	found := skills.Find(r.workspace.toldBy(r.dir.fs), r.dir.skillsDirs...)
	p, ok := prompts.Find(found.Prompts(r.workspace.all.PromptsDirs), name)
	if !ok || p.Workspace { // The workspace takes no name of a server.
		got, known, err := r.serverPrompt(ctx, name, typed, list)
		if _, missing := os.Lstat("/" + name); missing != nil && !known && !ok {
			r.warn("prompt", "there is no prompt or skill /%s, so this is sent as text", sanitize.Line(name))
		}
		if known || !ok {
			return got, err
		}
	}
	filled, err := p.With(slices.Concat([]item.Segment{item.TextSegment{Text: typed}}, list[1:]))
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "PROMPT", "%v", err)
	}
	return filled, nil
}

// serverPrompt does the same for a prompt of an MCP server; known is false without that server. Its text is pasted: no @path in it counts.
func (r *resolver) serverPrompt(ctx context.Context, called, typed string, list []item.Segment) (segments []item.Segment, known bool, err error) {
	server, name, ok := strings.Cut(called, ":")
	if !ok || name == "" || r.workspace.all.Project == nil {
		return list, false, nil
	}
	get := r.workspace.all.Project(r.workspace.rules.Load().base).Prompt
	if get == nil {
		return list, false, nil
	}
	words, rest := prompts.Arguments(slices.Concat([]item.Segment{item.TextSegment{Text: typed}}, list[1:]))
	got, known, err := get(ctx, server, name, words)
	if !known {
		return list, false, nil
	}
	if err == nil {
		err = r.expanded(&got)
	}
	if err != nil {
		return nil, true, item.Errorf(item.KindInvalid, "PROMPT", "/%s:%s: %v", server, sanitize.Word(name), err)
	}
	if len(rest) > 0 {
		got.Text += "\n"
	}
	return append([]item.Segment{item.PasteSegment{Text: got.Text}}, rest...), true, nil
}

// expanded limits and cleans the text that a server gave, and adds its resources and images.
func (r *resolver) expanded(got *prompts.Expanded) (err error) {
	visible := func(text string) string {
		text, _ = sanitize.Visible(strings.ToValidUTF8(text, "?"))
		return text
	}
	if got.Text, err = r.foreign(visible(got.Text)); err != nil {
		return err
	}
	if strings.TrimSpace(got.Text) == "" {
		return fmt.Errorf("the server gave an empty prompt")
	}
	for n, part := range got.With {
		if r.images += len(part.Images); r.images > item.MaxImages || n == maxRefs {
			return fmt.Errorf("it has more than %d images or %d resources", item.MaxImages, maxRefs)
		}
		if err := r.add(part.Name, visible(part.Text), part.Images...); err != nil {
			return err
		}
	}
	return nil
}
