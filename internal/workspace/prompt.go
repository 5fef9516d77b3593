package workspace

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"podd/internal/sanitize"
	"podd/internal/workspace/prompts"
	"podd/internal/workspace/skills"
	"podd/pkg/item"
	"podd/pkg/pod"
)

// prompts are the person's own, then the workspace's, then the skills.
func (w *Workspace) prompts(dir *directory, found skills.Found) []prompts.Prompt {
	list := prompts.Own(w.all.PromptsDirs, dir.fs.Dir())
	for _, s := range found.Skills {
		list = prompts.Join(list, prompts.Skill(s.Name))
	}
	return list
}

// Prompts are what typed text may begin with; see [pod.Ground].
func (g *ground) Prompts() (list []pod.Prompt) {
	for _, p := range g.workspace.prompts(g.dir, g.skills) {
		list = append(list, pod.Prompt{Name: p.Name, About: p.Description(), Arguments: p.Arguments()})
	}
	if more := g.project.Prompts; more != nil {
		list = append(list, more()...)
	}
	return list
}

// prompt puts the prompt that a submit names in the place of its name and arguments.
func (r *resolver) prompt(ctx context.Context, list []item.Segment) ([]item.Segment, error) {
	first, ok := list[0].(item.TextSegment)
	if !ok {
		return list, nil
	}
	name, typed, ok := prompts.Called(first.Text)
	if !ok {
		return r.serverPrompt(ctx, first.Text, list)
	}
	all := r.workspace.prompts(r.dir, skills.Find(r.workspace.toldBy(r.dir.fs), r.dir.skillsDirs...))
	i := slices.IndexFunc(all, func(p prompts.Prompt) bool { return p.Name == name })
	if i < 0 {
		return list, nil
	}
	filled, err := all[i].With(slices.Concat([]item.Segment{item.TextSegment{Text: typed}}, list[1:]))
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "PROMPT", "%v", err)
	}
	return filled, nil
}

// serverCalled is a text that begins with a prompt of an MCP server.
var serverCalled = regexp.MustCompile(`^/([A-Za-z0-9_-]+):(\S+)(?:\s+|$)((?s:.*))$`)

// serverPrompt does the same for a prompt of an MCP server. Its text is pasted: no @path in it counts.
func (r *resolver) serverPrompt(ctx context.Context, text string, list []item.Segment) ([]item.Segment, error) {
	called := serverCalled.FindStringSubmatch(text)
	if called == nil || r.workspace.all.Project == nil {
		return list, nil
	}
	get := r.workspace.all.Project(r.workspace.rules.Load().base).Prompt
	if get == nil {
		return list, nil
	}
	words, rest := prompts.Arguments(slices.Concat([]item.Segment{item.TextSegment{Text: called[3]}}, list[1:]))
	got, known, err := get(ctx, called[1], called[2], words)
	if !known {
		return list, nil
	}
	if err == nil {
		err = r.expanded(&got)
	}
	if err != nil {
		return nil, item.Errorf(item.KindInvalid, "PROMPT", "/%s:%s: %v", called[1], sanitize.Word(called[2]), err)
	}
	if len(rest) > 0 {
		got.Text += "\n"
	}
	return append([]item.Segment{item.PasteSegment{Text: got.Text}}, rest...), nil
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
