package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/internal/wire"
	"podd/pkg/client"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// submitFlags are the flags of submit.
type submitFlags struct {
	pod, requestID         string
	follow, steer, literal bool
	noStdin                bool
}

func newSubmitCommand(p *program) *cobra.Command {
	var flags submitFlags
	cmd := &cobra.Command{
		Use:   "submit [TEXT...]",
		Short: "give a pod input",
		Long: "Gives a pod input: TEXT, then standard input where it is a pipe or a file. An @path in TEXT adds that file;\n" +
			"standard input is taken as it is. An argument - puts it there, and lets you type it at a terminal.\n" +
			"Without -p: $PODD_POD, else the pod whose workspace is the current directory, made on first use.\n" +
			"With -f the turn is followed to its end: the answer on standard output, tools and alerts on standard error.",
		Example: "  podctl submit -f \"explain @README.md\"\n  git diff | podctl submit -f \"review this\"",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return p.completeReference(cmd.Context(), flags, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			segments, err := p.input(cmd, args, "prompt", flags.noStdin)
			if err != nil {
				return err
			}
			return p.with(func(c *client.Client) error { return p.submit(cmd.Context(), c, flags, segments) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.pod, "pod", "p", "", "the pod (PODD_POD)")
	f.BoolVarP(&flags.follow, "follow", "f", false, "follow until the turn ends")
	f.BoolVar(&flags.steer, "steer", false, "join a running turn at its next step")
	f.BoolVar(&flags.literal, "literal", false, "take @path as text")
	f.StringVar(&flags.requestID, "request-id", "", "the id that makes a repeated submit count once (default a new one)")
	inputFlag(cmd, &flags.noStdin)
	completeWith(cmd, "request-id")
	p.completePodFlag(cmd)
	return cmd
}

// submit gives the pod the input and, when asked, follows the turn.
func (p *program) submit(ctx context.Context, c *client.Client, flags submitFlags, segments []item.Segment) error {
	pod, err := p.pod(ctx, c, flags.pod, true)
	if err != nil {
		return err
	}
	req := &poddv1.SubmitRequest{
		Pod:       pod,
		Segments:  wire.SegmentsToProto(segments),
		RequestId: valid(flags.requestID),
		Mode:      poddv1.SubmitMode_SUBMIT_MODE_QUEUE,
		ParseRefs: !flags.literal,
	}
	if flags.steer {
		req.Mode = poddv1.SubmitMode_SUBMIT_MODE_STEER
	}
	if req.RequestId == "" {
		req.RequestId = client.NewRequestID()
	}
	resp, err := c.Submit(ctx, req)
	if err != nil && ctx.Err() != nil {
		return interrupted(fmt.Sprintf("interrupted before podd answered: the submit may have been taken; "+
			"the same one with -p %s --request-id %s tells, and counts once", pod, req.GetRequestId()))
	}
	if err != nil {
		return err
	}
	if flags.follow {
		return p.follow(ctx, c, pod, resp)
	}
	waits := ""
	if resp.GetQueued() && p.output == outputText {
		waits = whyQueued(ctx, c, pod)
	}
	return p.print(resp, func(w io.Writer) error { return p.admitted(w, pod, resp, waits) })
}

// whyQueued says what a submit that was queued waits for.
func whyQueued(ctx context.Context, c *client.Client, pod string) string {
	got, err := c.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
	if err == nil && got.GetPod().GetPause() != nil {
		return "the pod is paused, podctl resume lets it go on"
	}
	return "the pod is busy"
}

// admitted says what became of a submit, what it waits for when it was queued, and what
// of it could not be resolved.
func (p *program) admitted(w io.Writer, pod string, resp *poddv1.SubmitResponse, waits string) error {
	for _, a := range resp.GetAlerts() {
		fmt.Fprintf(p.stderr, "! %s\n", view.AlertText(wire.AlertFromProto(a)))
	}
	note := ""
	switch {
	case resp.GetDuplicate():
		note = " (it had been submitted before; nothing is done twice)"
	case resp.GetQueued():
		note = " (queued: " + waits + ")"
	}
	_, err := fmt.Fprintf(w, "submitted to %s as %s, seq %d%s\n", sanitize.Line(pod), sanitize.Line(resp.GetRequestId()), resp.GetSeq(), note)
	return err
}
