package workspace

import (
	"slices"

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
	return list
}

// prompt puts the prompt that a submit names in the place of its name and arguments.
func (r *resolver) prompt(list []item.Segment) ([]item.Segment, error) {
	first, ok := list[0].(item.TextSegment)
	if !ok {
		return list, nil
	}
	name, typed, ok := prompts.Called(first.Text)
	if !ok {
		return list, nil
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
