package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// tryVerb lets several pods try the same thing.
type tryVerb struct {
	*program
	name, check string
	count       int
	tree        poddv1.Worktree
	spec        item.PodSpec
}

// mostTries bounds the pods of one try.
const mostTries = 8

func newTryCommand(of *program) *cobra.Command {
	t := &tryVerb{program: of}
	var flags specFlags
	var noStdin bool
	cmd := &cobra.Command{
		Use:   "try [TEXT...]",
		Short: "Let several pods try the same, and check what they did",
		Long: "Creates several pods, each with its own checkout of the same commit (podctl create --worktree), submits the prompt to each, " +
			"waits for their turns to end, and runs the check in each checkout as a command of the pod. A table shows who " +
			"passed. Nothing lands by itself: take one with podctl land or apply. --budget is that of all of them together.",
		Example: "  podctl try -n 3 --check 'make test' --budget 3 \"fix the login\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.count < 1 || t.count > mostTries {
				return usagef("-n %d: use a number from 1 to %d", t.count, mostTries)
			}
			if strings.TrimSpace(t.check) == "" {
				return usagef("--check is missing: name the command that says who succeeded, such as --check 'make test'")
			}
			if err := t.at.directory(flags.dir, &t.spec.Dir); err != nil {
				return err
			}
			if _, err := flags.apply(t.program, cmd, &t.spec); err != nil {
				return err
			}
			limits := &t.spec.Limits
			limits.TotalCost /= float64(t.count)
			if limits.TotalTokens > 0 && limits.TotalTokens < int64(t.count) {
				return usagef("--budget-tokens %d is too little for %d pods", limits.TotalTokens, t.count)
			}
			limits.TotalTokens /= int64(t.count)
			segments, err := t.input(cmd, args, "prompt", noStdin)
			if err != nil {
				return err
			}
			return t.with(func(c *client.Client) error { return t.run(cmd.Context(), c, segments) })
		},
	}
	flags.register(cmd, ".")
	f := cmd.Flags()
	f.IntVarP(&t.count, "count", "n", 3, "number of pods, at most 8")
	f.StringVar(&t.check, "check", "", "command that says whether a pod succeeded, by its exit status")
	f.StringVar(&t.name, "name", "try", "the pods are NAME-1, NAME-2 and so on")
	f.StringVar(&t.tree.Base, "base", "", "branch, tag or commit to begin with (default: what is checked out)")
	f.BoolVar(&t.tree.WithChanges, "with-changes", false, "begin with your uncommitted changes and untracked files too")
	inputFlag(cmd, &noStdin)
	for _, name := range []string{"count", "check", "name", "base"} {
		completeWith(cmd, name)
	}
	of.completeModels(cmd)
	return cmd
}

// run makes the pods, lets them work, and shows what they did.
func (t *tryVerb) run(ctx context.Context, c *client.Client, segments []item.Segment) error {
	pods, err := t.create(ctx, c)
	if err != nil {
		return err
	}
	seqs := make([]int64, len(pods))
	for i, pod := range pods {
		resp, err := c.Submit(ctx, &poddv1.SubmitRequest{Pod: pod, Segments: wire.SegmentsToProto(segments), Mode: poddv1.SubmitMode_SUBMIT_MODE_QUEUE, ParseRefs: true})
		if err != nil {
			return err
		}
		seqs[i] = resp.GetSeq()
	}
	if t.output == outputText {
		fmt.Fprintf(t.stderr, "%s at work: podctl tail -f %s follows one\n", strings.Join(pods, ", "), pods[0])
	}
	err = t.compare(ctx, c, pods, seqs)
	if ctx.Err() != nil {
		return interrupted(fmt.Sprintf("interrupted; the turns of %s go on: podctl cancel ends one", strings.Join(pods, ", ")))
	}
	return err
}

// compare waits for the turns of the submits, and shows what the pods did.
func (t *tryVerb) compare(ctx context.Context, c *client.Client, pods []string, seqs []int64) (err error) {
	var all []*attempt
	for i, pod := range pods {
		a := &attempt{Attempt: &poddv1.Attempt{Pod: pod}}
		if a.Outcome, err = t.outcome(ctx, c, pod, seqs[i]); err != nil {
			return err
		}
		all = append(all, a)
	}
	for _, a := range all {
		if err := t.judge(ctx, c, a); err != nil {
			return err
		}
		if t.output == outputJSON {
			if err := t.printJSON(a.Attempt); err != nil {
				return err
			}
		}
	}
	if t.output == outputText {
		if err := attempts(t.stdout, all); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(all, func(a *attempt) bool { return a.GetPassed() }) {
		return fmt.Errorf("no pod passed the check: podctl tail %s shows what one did, podctl delete POD --checkout removes it", sanitize.Line(pods[0]))
	}
	return nil
}

// create makes the pods, all of one commit, or none.
func (t *tryVerb) create(ctx context.Context, c *client.Client) (pods []string, err error) {
	tree := &poddv1.Worktree{Base: t.tree.GetBase(), WithChanges: t.tree.GetWithChanges()}
	for i := range t.count {
		name := fmt.Sprintf("%s-%d", t.name, i+1)
		resp, err := c.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: valid(name), Spec: wire.PodSpecToProto(t.spec), Worktree: tree})
		if err != nil {
			for _, made := range pods {
				_, gone := c.Pods().DeletePod(context.WithoutCancel(ctx), &poddv1.DeletePodRequest{Pod: made, Checkout: true, Now: true})
				err = errors.Join(err, gone)
			}
			return nil, err
		}
		tree.Base = resp.GetPod().GetSpec().GetCheckout().GetBase()
		pods = append(pods, name)
	}
	return pods, nil
}

// attempt is one pod of a try. printed is what its check printed.
type attempt struct {
	*poddv1.Attempt
	printed string
}

// outcome waits for the end of the turn of a submit.
func (t *tryVerb) outcome(ctx context.Context, c *client.Client, pod string, seq int64) (how string, err error) {
	for m, err := range c.Stream(ctx, client.StreamOptions{Pod: pod, After: seq, Follow: true}) {
		if err != nil {
			return "", err
		}
		switch k := wire.EntryFromProto(m.GetEntry()).Kind.(type) {
		case item.TurnEnded:
			return string(k.Outcome), nil
		case item.Withdrawn:
			return "withdrawn", nil
		case item.ApprovalRequested:
			fmt.Fprintf(t.stderr, "%s waits for your approval: podctl approvals %[1]s\n", sanitize.Line(pod))
		}
	}
	return "", context.Cause(ctx)
}

// judge runs the check in a pod's checkout, and counts what the pod changed and cost.
func (t *tryVerb) judge(ctx context.Context, c *client.Client, a *attempt) error {
	checked, err := c.Checkouts().RunCheck(ctx, &poddv1.RunCheckRequest{Pod: a.GetPod(), Command: valid(t.check)})
	if err != nil {
		return err
	}
	a.Passed, a.Check = checked.GetPassed(), checked.GetSummary()
	a.printed = checked.GetOutput()
	stats, err := c.Pods().GetStats(ctx, &poddv1.GetStatsRequest{Pod: a.GetPod()})
	if err != nil {
		return err
	}
	a.CostUsd, a.UnpricedRequests = stats.GetCostUsd(), stats.GetUnpricedRequests()
	stream, err := c.Files().DiffFiles(ctx, &poddv1.DiffFilesRequest{Pod: a.GetPod()})
	for err == nil {
		var part *poddv1.DiffFilesResponse
		if part, err = stream.Recv(); err == nil && part.GetFile().GetBy() == poddv1.CheckpointBy_CHECKPOINT_BY_AGENT {
			a.Files, a.Added, a.Removed = a.GetFiles()+1, a.GetAdded()+part.GetFile().GetAdded(), a.GetRemoved()+part.GetFile().GetRemoved()
		}
	}
	if errors.Is(err, io.EOF) || item.ReasonOf(wire.FromStatus(err)) == "NO_CHANGES" {
		return nil
	}
	return err
}

// mostShown bounds how many lines of a check that failed are shown: the last ones.
const mostShown = 5

// why says why a check failed: how it ended, and the end of what it printed.
func (a *attempt) why() string {
	why := sanitize.Line(a.GetPod()) + ": " + sanitize.Line(strings.TrimPrefix(a.GetCheck(), "shell: "))
	lines := strings.FieldsFunc(a.printed, func(r rune) bool { return r == '\n' })
	for _, l := range lines[max(len(lines)-mostShown, 0):] {
		why += "\n  " + sanitize.Line(l)
	}
	return why
}

// attempts shows what became of a try.
func attempts(w io.Writer, all []*attempt) error {
	table := newTable(w)
	fmt.Fprintln(table, "POD\tTURN\tCHECK\tFILES\tLINES\tCOST")
	passed := ""
	for _, a := range all {
		check := "failed"
		if a.GetPassed() {
			check = "passed"
			if passed == "" {
				passed = a.GetPod()
			}
		}
		cost := fmt.Sprintf("$%.4f", a.GetCostUsd())
		if a.GetUnpricedRequests() > 0 {
			cost += ", " + plural(int(a.GetUnpricedRequests()), "unpriced request")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t+%d -%d\t%s\n", sanitize.Line(a.GetPod()), a.GetOutcome(), check, a.GetFiles(), a.GetAdded(), a.GetRemoved(), cost)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, a := range all {
		if !a.GetPassed() {
			fmt.Fprintln(w, a.why())
		}
	}
	if passed == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "take one with podctl land %s; podctl delete POD --checkout removes another\n", sanitize.Line(passed))
	return err
}
