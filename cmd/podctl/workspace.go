package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/podname"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// find is the pod that a verb is about: the one named, $PODD_POD, or the one whose workspace is the current
// directory; of several, the one that worked last. find creates a missing one if allow, which may be nil, allows it
// for the directory.
func (s *session) find(ctx context.Context, named string, allow func(dir string) error) (string, error) {
	name, note, err := s.choose(ctx, named, allow)
	if note != "" {
		fmt.Fprintln(s.stderr, sanitize.Line(note))
	}
	return name, err
}

// choose is find without printing; note is what a person should know about the choice.
func (s *session) choose(ctx context.Context, named string, allow func(dir string) error) (name, note string, err error) {
	if named == "" {
		named = s.env("PODD_POD")
	}
	if named != "" {
		return valid(named), "", nil
	}
	if s.at.remote() {
		return "", "", usagef("the current directory is of this machine: with -H, name a pod of the other one")
	}
	dir, err := currentDir()
	if err != nil {
		return "", "", err
	}
	list, err := podsOf(ctx, s.Client, dir)
	if err != nil {
		return "", "", err
	}
	if len(list) > 1 {
		return list[0], fmt.Sprintf("using pod %s (most recently active here); for another, use -p NAME: %s", list[0], strings.Join(list[1:], ", ")), nil
	}
	if len(list) == 0 && allow != nil {
		if err := allow(dir); err != nil {
			return "", "", err
		}
	}
	name, made, err := podFor(ctx, s.Client, dir, allow != nil)
	if made {
		note = fmt.Sprintf("created pod %s in %s", name, dir)
	}
	return name, note, err
}

// podID is the id of a pod, which stays when the pod gets another name.
func podID(ctx context.Context, c *client.Client, pod string) string {
	got, err := c.Pod(ctx, pod)
	if err != nil {
		return pod
	}
	return got.GetId()
}

// wide is what a directory is in which a pod may change all files of a person or of the machine;
// empty for another one, and for one that podd says something about.
func (p *program) wide(dir string) string {
	resolved, err := filepath.EvalSymlinks(dir)
	if p.at.remote() {
		resolved, err = filepath.Clean(dir), nil
	}
	if err != nil {
		return ""
	}
	home, _ := filepath.EvalSymlinks(p.env("HOME"))
	return map[string]string{"/": "the root directory", home: "your home directory"}[resolved]
}

// allowWide refuses a pod for the root or the home directory unless the person at the
// terminal, or --yes, wants one.
func (p *program) allowWide(ctx context.Context, dir string, yes bool) error {
	what := p.wide(dir)
	if what == "" || yes {
		return nil
	}
	return p.asked(ctx, fmt.Sprintf("Create a pod that may change all files in %s?", what),
		usagef("this creates a pod that may change all files in %s: change to a project's directory, or add --yes", what),
		item.Errorf(item.KindPrecondition, "NO_POD", "no pod was created: change to a project's directory, or name a pod with -p"))
}

// yesFlag adds the flag that answers allowWide.
func yesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVar(yes, "yes", false, "create a pod in the root or home directory without asking")
}

// reasonNoPod says that no pod has the workspace.
const reasonNoPod = "NO_POD"

// podFor is the pod of a workspace, by the directory's real path. With create, it creates
// a missing one.
func podFor(ctx context.Context, c *client.Client, dir string, create bool) (name string, made bool, err error) {
	name, err = podOf(ctx, c, dir)
	if err != nil || name != "" {
		return name, false, err
	}
	if !create {
		return "", false, item.Errorf(item.KindNotFound, reasonNoPod,
			"no pod has the workspace %s: create one with podctl submit or podctl create, or name a pod that podctl list shows", dir)
	}
	return createFor(ctx, c, dir)
}

// currentDir is the real path of the current directory.
func currentDir() (string, error) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the current directory: %w", err)
	}
	return dir, nil
}

// podOf is the only pod of a workspace; "" without one.
func podOf(ctx context.Context, c *client.Client, dir string) (string, error) {
	names, err := podsOf(ctx, c, dir)
	switch {
	case err != nil || len(names) == 0:
		return "", err
	case len(names) == 1:
		return names[0], nil
	}
	several := item.Errorf(item.KindInvalid, "SEVERAL_PODS",
		"several pods have the workspace %s: name one of %s, or set PODD_POD", dir, strings.Join(names, ", "))
	several.Meta = map[string]string{"pods": strings.Join(names, " ")}
	return "", several
}

// podsOf are the pods of a workspace that are not sub-pods: the most recently active
// first, and those without a turn last.
func podsOf(ctx context.Context, c *client.Client, dir string) (names []string, err error) {
	resp, err := c.Pods().ListPods(ctx, &poddv1.ListPodsRequest{Dir: valid(dir)})
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(resp.GetPods(), func(pod *poddv1.Pod) bool { return pod.GetSpec().GetParent() != "" })
	slices.SortStableFunc(list, func(a, b *poddv1.Pod) int {
		if worked := hasWork(a); worked != hasWork(b) {
			if worked {
				return -1
			}
			return 1
		}
		return b.GetLastActivity().AsTime().Compare(a.GetLastActivity().AsTime())
	})
	for _, pod := range list {
		names = append(names, pod.GetName())
	}
	return names, nil
}

// hasWork says whether a pod has had a turn or is about to. A fork starts with the turns
// of its source; its own turns write entries later than the fork.
func hasWork(pod *poddv1.Pod) bool {
	own := pod.GetLastActivity().AsTime().After(pod.GetCreatedAt().AsTime())
	return pod.GetQueued() > 0 || pod.GetTurn() > 0 && own
}

// maxNumbered is how many names are tried for a new pod.
const maxNumbered = 99

// createFor makes a pod for a workspace, named for it.
func createFor(ctx context.Context, c *client.Client, dir string) (name string, made bool, err error) {
	base := podname.For(filepath.Base(dir))
	for n := 1; ; n++ {
		name = podname.Numbered(base, n)
		resp, err := c.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: name, Spec: &poddv1.PodSpec{Dir: valid(dir)}})
		if err == nil {
			return resp.GetPod().GetName(), true, nil
		}
		if item.KindOf(err) != item.KindExists || n == maxNumbered {
			return "", false, err
		}
		// It may be this workspace's, made at the same time by another podctl.
		if other, err := podOf(ctx, c, dir); err != nil || other != "" {
			return other, false, err
		}
	}
}

// valid is text that a message can carry. A name that was not valid matches no pod.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
