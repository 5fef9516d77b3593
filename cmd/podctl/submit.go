package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// submitFlags are the flags of submit.
type submitFlags struct {
	pod, requestID         string
	model, effort          string
	follow, steer, literal bool
	noStdin, plan, yes     bool
	images                 []string
	// plans is plan, if the flag was given.
	plans *bool
	// schema is the name of a file, answerSchema what it has.
	schema, answerSchema string
}

func newSubmitCommand(p *program) *cobra.Command {
	var flags submitFlags
	cmd := &cobra.Command{
		Use:   "submit [TEXT...]",
		Short: "Submit a prompt to a pod",
		Long: "Submits a prompt to a pod: TEXT, followed by standard input if that is a pipe or a file. An @path in TEXT adds " +
			"that file; --image attaches an image from anywhere; standard input is sent unchanged. The argument - marks " +
			"where standard input goes, and lets you type it at a terminal.\n" +
			"Without -p: $PODD_POD, else the pod whose workspace is the current directory; it is created on first use.\n" +
			"With -f, submit follows the turn until it ends: the answer goes to standard output, tool calls and alerts to " +
			"standard error.",
		Example: "  podctl submit -f \"explain @README.md\"\n  git diff | podctl submit -f \"review this\"",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return p.completeReference(cmd.Context(), flags, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			images, err := readImages(flags.images)
			if err != nil {
				return err
			}
			segments, err := p.input(cmd, args, "prompt", flags.noStdin, images...)
			if err != nil {
				return err
			}
			if flags.answerSchema, err = readSchema(flags.schema, cmd.Flags().Changed("schema")); err != nil {
				return err
			}
			if cmd.Flags().Changed("plan") {
				flags.plans = &flags.plan
			}
			return p.with(func(c *client.Client) error { return p.submit(cmd.Context(), c, flags, segments) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.pod, "pod", "p", "", "pod name (PODD_POD)")
	f.BoolVarP(&flags.follow, "follow", "f", false, "follow the turn until it ends")
	f.BoolVar(&flags.steer, "steer", false, "deliver to the running turn at its next step")
	f.BoolVar(&flags.plan, "plan", false, "let the turn read and plan, and change nothing (default: the pod's setting)")
	f.StringVar(&flags.schema, "schema", "", "file with a JSON Schema that the last answer must match")
	f.BoolVar(&flags.literal, "literal", false, "treat @path as plain text")
	f.StringArrayVar(&flags.images, "image", nil, "attach an image FILE: PNG, JPEG, GIF or WebP (repeatable)")
	f.StringVar(&flags.model, "model", "", "model of this turn, or ENDPOINT/MODEL (default: the pod's)")
	f.StringVar(&flags.effort, "effort", "", "how much the model reasons in this turn, such as low or high (default: the pod's)")
	f.StringVar(&flags.requestID, "request-id", "", "id of this prompt; a repeated id counts once (default: a new id)")
	inputFlag(cmd, &flags.noStdin)
	yesFlag(cmd, &flags.yes)
	p.renderFlag(cmd)
	completeWith(cmd, "request-id")
	p.completeModels(cmd)
	completeEffort(cmd)
	p.completePodFlag(cmd)
	return cmd
}

// newRunCommand is submit with -f.
func newRunCommand(p *program) *cobra.Command {
	cmd := newSubmitCommand(p)
	cmd.Use, cmd.Short = "run [TEXT...]", "Submit a prompt to a pod and follow the turn: submit -f"
	cmd.Example = strings.ReplaceAll(cmd.Example, "submit -f", "run")
	cmd.Long = strings.Replace(cmd.Long, "With -f, submit follows", "Follows", 1)
	follow := cmd.Flags().Lookup("follow")
	follow.DefValue = "true"
	mustRegister(follow.Value.Set("true"))
	return cmd
}

// submit submits the prompt and, with -f, follows the turn.
func (p *program) submit(ctx context.Context, c *client.Client, flags submitFlags, segments []item.Segment) error {
	pod, err := p.pod(ctx, c, flags.pod, func(dir string) error { return p.allowWide(ctx, dir, flags.yes) })
	if err != nil {
		return err
	}
	req := &poddv1.SubmitRequest{
		Pod:       pod,
		Segments:  wire.SegmentsToProto(segments),
		RequestId: valid(flags.requestID),
		Model:     valid(flags.model),
		Effort:    valid(flags.effort),
		Mode:      poddv1.SubmitMode_SUBMIT_MODE_QUEUE,
		ParseRefs: !flags.literal,

		AnswerSchema: flags.answerSchema,
	}
	wire.SetPlan(req, flags.plans)
	if flags.steer {
		req.Mode = poddv1.SubmitMode_SUBMIT_MODE_STEER
	}
	if req.RequestId == "" {
		req.RequestId = client.NewRequestID()
	}
	resp, err := c.Submit(ctx, req)
	if err != nil && ctx.Err() != nil {
		return interrupted(fmt.Sprintf("interrupted before podd answered: the prompt may be queued; "+
			"to find out, submit it again with -p %s --request-id %s, which counts once", pod, req.GetRequestId()))
	}
	if err != nil {
		return err
	}
	p.warn(resp.GetWarnings())
	if flags.follow {
		return p.follow(ctx, c, pod, resp, flags.schema != "")
	}
	waits := ""
	if resp.GetQueued() && p.output == outputText {
		waits = whyQueued(ctx, c, pod, flags.steer)
	}
	return p.print(resp, func(w io.Writer) error { return p.admitted(w, pod, resp, waits) })
}

// whyQueued says what a queued prompt waits for.
func whyQueued(ctx context.Context, c *client.Client, pod string, steer bool) string {
	got, err := c.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
	if err == nil && got.GetPod().GetPause() != nil {
		return "the pod is paused, resume it: podctl resume " + sanitize.Line(pod)
	}
	if steer {
		return "the running turn reads it at its next step"
	}
	return "it runs after the running turn"
}

// admitted reports a queued prompt: its number, what it waits for, and which references
// were not resolved.
func (p *program) admitted(w io.Writer, pod string, resp *poddv1.SubmitResponse, waits string) error {
	for _, a := range resp.GetAlerts() {
		fmt.Fprintf(p.stderr, "! %s\n", view.AlertText(wire.AlertFromProto(a)))
	}
	name, done := sanitize.Line(pod), "queued for"
	if resp.GetDuplicate() {
		done, waits = "already submitted to", ""
	}
	if waits != "" {
		waits = "; " + waits
	}
	_, err := fmt.Fprintf(w, "%s %s (#%d)%s; watch: podctl tail -f %s\n", done, name, resp.GetSeq(), waits, name)
	return err
}

// readSchema reads the file of a JSON Schema. podd checks what it says.
func readSchema(path string, given bool) (string, error) {
	if !given {
		return "", nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", usagef("cannot read the schema: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, tool.MaxAnswerSchema+1))
	switch {
	case err != nil:
		return "", usagef("cannot read the schema: %w", err)
	case len(text) > tool.MaxAnswerSchema:
		return "", usagef("the schema in %s has more than %d bytes: shorten it", path, tool.MaxAnswerSchema)
	case !utf8.Valid(text) || strings.TrimSpace(string(text)) == "":
		return "", usagef("%s is not a JSON Schema: write one as UTF-8 text", path)
	}
	return string(text), nil
}

// completeReference completes an argument of submit that is an @path, with the files
// of the pod that the submit would go to. It is silent when podd does not answer.
func (p *program) completeReference(ctx context.Context, flags submitFlags, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	prefix, ok := strings.CutPrefix(typed, "@")
	if !ok || flags.literal {
		return nil, directive
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	var refs []cobra.Completion
	_ = p.with(func(c *client.Client) error {
		paths, err := p.completePath(ctx, c, flags.pod, valid(prefix))
		for _, path := range nextPaths(paths, prefix) {
			refs = append(refs, "@"+path)
			// After a directory the path continues.
			if strings.HasSuffix(strings.TrimSuffix(path, `"`), "/") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
		}
		return err
	})
	return refs, directive
}

// nextPaths are the paths that begin with what was typed, otherwise those that have it in them, without
// those in directories among them; all if there are neither: a shell goes on from directory to directory.
func nextPaths(paths []string, typed string) []string {
	unquoted := func(path string) string { return strings.Trim(path, `"`) }
	for _, fits := range []func(path, typed string) bool{strings.HasPrefix, strings.Contains} {
		var next []string
		for _, path := range paths {
			inside := func(dir string) bool {
				return strings.HasSuffix(unquoted(dir), "/") && strings.HasPrefix(unquoted(path), unquoted(dir))
			}
			if fits(unquoted(path), unquoted(typed)) && !slices.ContainsFunc(next, inside) {
				next = append(next, path)
			}
		}
		if next != nil {
			return next
		}
	}
	return paths
}

// completePath completes a path in the scope of the pod that a submit would go to. If the submit
// would create that pod, its scope is the current directory.
func (p *program) completePath(ctx context.Context, c *client.Client, named, prefix string) ([]string, error) {
	pod, _, err := p.choosePod(ctx, c, named, nil)
	if item.ReasonOf(err) == "NO_POD" {
		return pathsHere(ctx, prefix)
	}
	if err != nil {
		return nil, err
	}
	resp, err := c.Pods().CompletePath(ctx, &poddv1.CompletePathRequest{Pod: pod, Prefix: prefix})
	return resp.GetPaths(), err
}

// pathsHere completes a path in the current directory.
func pathsHere(ctx context.Context, prefix string) ([]string, error) {
	dir, err := currentDir()
	if err != nil {
		return nil, err
	}
	files, err := scopefs.Open(scopefs.Config{Dir: dir})
	if err != nil {
		return nil, err
	}
	defer files.Close()
	return files.Complete(ctx, files.List(ctx), prefix, 0)
}
