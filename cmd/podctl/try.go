package main

import (
	"cmp"
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

// tryOptions are the flags of try, and the prompt.
type tryOptions struct {
	specOptions
	checkoutOptions
	name, check string
	count       int
	noStdin     bool
	segments    []item.Segment
}

// mostTries bounds the pods of one try.
const mostTries = 8

func (o *tryOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "try [TEXT...]",
		Short: "Let several pods try the same, and check what they did",
		Long: "Creates several pods, each with its own checkout of the same commit (podctl create --worktree), submits the prompt to each, " +
			"waits for their turns to end, and runs the check in each checkout as a command of the pod. A table shows who " +
			"passed. Nothing lands by itself: take one with podctl land or apply. --budget is that of all of them together.",
		Example: "  podctl try -n 3 --check 'make test' --budget 3 \"fix the login\"",
		PreRunE: func(cmd *cobra.Command, args []string) error { return o.take(p, cmd, args) },
		RunE:    p.onPodd(o.run),
	}
	o.specOptions.register(p, cmd, ".")
	o.checkoutOptions.register(cmd, "branch, tag or commit to begin with (default: what is checked out)", "begin with your uncommitted changes and untracked files too")
	f := cmd.Flags()
	f.IntVarP(&o.count, "count", "n", 3, "number of pods, at most 8")
	f.StringVar(&o.check, "check", "", "command that says whether a pod succeeded, by its exit status")
	f.StringVar(&o.name, "name", "try", "the pods are NAME-1, NAME-2 and so on")
	inputFlag(cmd, &o.noStdin)
	for _, name := range []string{"count", "check", "name"} {
		completeWith(cmd, name)
	}
	return cmd
}

// take checks the flags, and reads the prompt.
func (o *tryOptions) take(p *program, cmd *cobra.Command, args []string) (err error) {
	if o.count < 1 || o.count > mostTries {
		return usagef("-n %d: use a number from 1 to %d", o.count, mostTries)
	}
	if strings.TrimSpace(o.check) == "" {
		return usagef("--check is missing: name the command that says who succeeded, such as --check 'make test'")
	}
	if err := o.specOptions.take(p, cmd); err != nil {
		return err
	}
	limits := &o.spec.Limits
	limits.TotalCost /= float64(o.count)
	if limits.TotalTokens > 0 && limits.TotalTokens < int64(o.count) {
		return usagef("--budget-tokens %d is too little for %d pods", limits.TotalTokens, o.count)
	}
	limits.TotalTokens /= int64(o.count)
	o.segments, err = p.input(cmd, args, "prompt", o.noStdin)
	return err
}

// run makes the pods, lets them work, and shows what they did.
func (o *tryOptions) run(ctx context.Context, s *session, _ []string) error {
	pods, err := o.create(ctx, s)
	if err != nil {
		return err
	}
	seqs := make([]int64, len(pods))
	for i, pod := range pods {
		resp, err := s.Submit(ctx, &poddv1.SubmitRequest{Pod: pod, Segments: wire.SegmentsToProto(o.segments), Mode: poddv1.SubmitMode_SUBMIT_MODE_QUEUE, ParseRefs: true})
		if err != nil {
			return err
		}
		seqs[i] = resp.GetSeq()
	}
	if s.output == outputText {
		fmt.Fprintf(s.stderr, "%s at work: podctl tail -f %s follows one\n", strings.Join(pods, ", "), pods[0])
	}
	err = o.compare(ctx, s, pods, seqs)
	if ctx.Err() != nil {
		return interrupted(fmt.Sprintf("interrupted; the turns of %s go on: podctl cancel ends one", strings.Join(pods, ", ")))
	}
	return err
}

// compare waits for the turns of the submits, and shows what the pods did.
func (o *tryOptions) compare(ctx context.Context, s *session, pods []string, seqs []int64) (err error) {
	var all []*attempt
	for i, pod := range pods {
		a := &attempt{Attempt: &poddv1.Attempt{Pod: pod}}
		if a.Outcome, err = outcome(ctx, s, pod, seqs[i]); err != nil {
			return err
		}
		all = append(all, a)
	}
	for _, a := range all {
		if err := o.judge(ctx, s, a); err != nil {
			return err
		}
		if s.output == outputJSON {
			if err := s.printJSON(a.Attempt); err != nil {
				return err
			}
		}
	}
	if s.output == outputText {
		if err := attempts(s.stdout, all); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(all, func(a *attempt) bool { return a.GetPassed() }) {
		return fmt.Errorf("no pod passed the check: podctl tail %s shows what one did, podctl delete POD --checkout removes it", sanitize.Line(pods[0]))
	}
	return nil
}

// create makes the pods, all of one commit, or none.
func (o *tryOptions) create(ctx context.Context, s *session) (pods []string, err error) {
	tree := &poddv1.Worktree{Base: o.from, WithChanges: o.withChanges}
	for i := range o.count {
		name := fmt.Sprintf("%s-%d", o.name, i+1)
		resp, err := s.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: valid(name), Spec: wire.PodSpecToProto(o.spec), Worktree: tree})
		if err != nil {
			for _, made := range pods {
				_, gone := s.Pods().DeletePod(context.WithoutCancel(ctx), &poddv1.DeletePodRequest{Pod: made, Checkout: true, Now: true})
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
func outcome(ctx context.Context, s *session, pod string, seq int64) (how string, err error) {
	for m, err := range s.Stream(ctx, client.StreamOptions{Pod: pod, After: seq, Follow: true}) {
		if err != nil {
			return "", err
		}
		switch k := wire.EntryFromProto(m.GetEntry()).Kind.(type) {
		case item.TurnEnded:
			return string(k.Outcome), nil
		case item.Withdrawn:
			return "withdrawn", nil
		case item.ApprovalRequested:
			fmt.Fprintf(s.stderr, "%s waits for your approval: podctl approvals %[1]s\n", sanitize.Line(pod))
		}
	}
	return "", context.Cause(ctx)
}

// judge runs the check in a pod's checkout, and counts what the pod changed and cost.
func (o *tryOptions) judge(ctx context.Context, s *session, a *attempt) error {
	checked, err := s.Checkouts().RunCheck(ctx, &poddv1.RunCheckRequest{Pod: a.GetPod(), Command: valid(o.check)})
	if err != nil {
		return err
	}
	a.Passed, a.Check = checked.GetPassed(), checked.GetSummary()
	a.printed = checked.GetOutput()
	stats, err := s.Pods().GetStats(ctx, &poddv1.GetStatsRequest{Pod: a.GetPod()})
	if err != nil {
		return err
	}
	a.CostUsd, a.UnpricedRequests = stats.GetCostUsd(), stats.GetUnpricedRequests()
	stream, err := s.Files().DiffFiles(ctx, &poddv1.DiffFilesRequest{Pod: a.GetPod()})
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
	t := table{"POD\tTURN\tCHECK\tFILES\tLINES\tCOST"}
	passed := ""
	for _, a := range all {
		check := "failed"
		if a.GetPassed() {
			check, passed = "passed", cmp.Or(passed, a.GetPod())
		}
		cost := fmt.Sprintf("$%.4f", a.GetCostUsd())
		if a.GetUnpricedRequests() > 0 {
			cost += ", " + plural(int(a.GetUnpricedRequests()), "unpriced request")
		}
		t.row(a.GetPod(), a.GetOutcome(), check, a.GetFiles(), fmt.Sprintf("+%d -%d", a.GetAdded(), a.GetRemoved()), cost)
	}
	if err := t.writeTo(w); err != nil {
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
