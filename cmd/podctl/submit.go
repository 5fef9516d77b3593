package main

import (
	"cmp"
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

// submitOptions are the flags of submit and run.
type submitOptions struct {
	onceOptions

	pod, requestID         string
	model, effort          string
	follow, steer, literal bool
	noStdin, plan, yes     bool
	noQuestions            bool
	images                 []string
	schema, onAsk          string

	// The values of flags: plans is plan if it was given, answerSchema the content of the file schema.
	plans        *bool
	answerSchema string
	segments     []item.Segment
}

func (o *submitOptions) command(p *program) *cobra.Command {
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
		ValidArgsFunction: func(cmd *cobra.Command, before []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(before) == 0 && strings.HasPrefix(typed, "/") && !o.literal {
				return p.complete(1, o.promptNames)(cmd, before, typed)
			}
			return o.completeReference(cmd.Context(), p, typed)
		},
		PreRunE: func(cmd *cobra.Command, args []string) error { return o.take(p, cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.once {
				return o.runOnce(cmd.Context(), p)
			}
			return p.onPodd(o.run)(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.pod, "pod", "p", "", "pod name (PODD_POD)")
	f.BoolVarP(&o.follow, "follow", "f", false, "follow the turn until it ends")
	f.BoolVar(&o.steer, "steer", false, "deliver to the running turn at its next step")
	f.BoolVar(&o.plan, "plan", false, "let the turn read and plan, and change nothing (default: the pod's setting)")
	f.BoolVar(&o.noQuestions, "no-questions", false, "the turn cannot ask you questions; its calls still need approval")
	f.StringVar(&o.schema, "schema", "", "file with a JSON Schema that the last answer must match")
	f.BoolVar(&o.literal, "literal", false, "treat @path as plain text")
	f.StringArrayVar(&o.images, "image", nil, "attach an image FILE: PNG, JPEG, GIF or WebP (repeatable)")
	f.StringVar(&o.model, "model", "", "model of this turn, or ENDPOINT/MODEL (default: the pod's)")
	f.StringVar(&o.effort, "effort", "", "how much the model reasons in this turn, such as low or high (default: the pod's)")
	f.StringVar(&o.requestID, "request-id", "", "id of this prompt; a repeated id counts once (default: a new id)")
	asks := word{&o.onAsk, "HOW", "WORD is not known: use wait, deny or exit", []string{onAskWait, onAskDeny, onAskExit}}
	f.Var(asks, "on-ask", "with -f: wait for the answer to a call that asks, deny it, or exit with 5 (default: wait if standard error is a terminal, else exit)")
	inputFlag(cmd, &o.noStdin)
	yesFlag(cmd, &o.yes)
	p.renderFlag(cmd)
	completeWith(cmd, "on-ask", asks.words...)
	completeWith(cmd, "request-id")
	completeWith(cmd, "effort", efforts...)
	p.completeFlag(cmd, "model", models)
	p.completeFlag(cmd, "pod", pods)
	return cmd
}

// newRunCommand is submit with -f, and has a podd of its own with --once.
func newRunCommand(p *program) *cobra.Command {
	o := new(submitOptions)
	cmd := o.command(p)
	o.register(cmd)
	cmd.Use, cmd.Short = "run [TEXT...]", "Submit a prompt to a pod and follow the turn: submit -f"
	cmd.Example = strings.ReplaceAll(cmd.Example, "submit -f", "run")
	cmd.Long = strings.Replace(cmd.Long, "With -f, submit follows", "Follows", 1) + "\n" +
		"With --once, podctl starts a podd of its own with your configuration, in a temporary directory. It ends when the turn does."
	follow := cmd.Flags().Lookup("follow")
	follow.DefValue = "true"
	mustRegister(follow.Value.Set("true"))
	return cmd
}

// take reads the prompt, and the files that flags name.
func (o *submitOptions) take(p *program, cmd *cobra.Command, args []string) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	if o.onAsk != "" && !o.follow {
		return usagef("--on-ask is for a turn that podctl follows: add -f")
	}
	images, err := readImages(o.images)
	if err != nil {
		return err
	}
	if o.segments, err = p.input(cmd, args, "prompt", o.noStdin, images...); err != nil {
		return err
	}
	if cmd.Flags().Changed("plan") {
		o.plans = &o.plan
	}
	if cmd.Flags().Changed("schema") {
		o.answerSchema, err = readSchema(o.schema)
	}
	return err
}

// run finds the pod and submits the prompt.
func (o *submitOptions) run(ctx context.Context, s *session, _ []string) (err error) {
	if s.pod, err = s.find(ctx, o.pod, func(dir string) error { return s.allowWide(ctx, dir, o.yes) }); err != nil {
		return err
	}
	return o.send(ctx, s)
}

// send submits the prompt and, with -f, follows the turn.
func (o *submitOptions) send(ctx context.Context, s *session) error {
	req := &poddv1.SubmitRequest{
		Pod:       s.pod,
		Segments:  wire.SegmentsToProto(o.segments),
		RequestId: cmp.Or(valid(o.requestID), client.NewRequestID()),
		Model:     valid(o.model),
		Effort:    valid(o.effort),
		Mode:      poddv1.SubmitMode_SUBMIT_MODE_QUEUE,
		ParseRefs: !o.literal,

		AnswerSchema: o.answerSchema,
		NoQuestions:  o.noQuestions,
	}
	wire.SetPlan(req, o.plans)
	if o.steer {
		req.Mode = poddv1.SubmitMode_SUBMIT_MODE_STEER
	}
	resp, err := s.Submit(ctx, req)
	if err != nil && ctx.Err() != nil {
		return interrupted(fmt.Sprintf("interrupted before podd answered: the prompt may be queued; "+
			"to find out, submit it again with -p %s --request-id %s, which counts once", s.pod, req.GetRequestId()))
	}
	if err != nil {
		return err
	}
	s.warn(resp.GetWarnings())
	if o.follow {
		return s.follow(ctx, resp, o.schema != "", o.onAsk)
	}
	return s.print(resp, func(w io.Writer) error { return o.admitted(ctx, s, w, resp) })
}

// admitted reports a queued prompt: its number, what it waits for, and which references were not resolved.
func (o *submitOptions) admitted(ctx context.Context, s *session, w io.Writer, resp *poddv1.SubmitResponse) error {
	for _, a := range resp.GetAlerts() {
		fmt.Fprintf(s.stderr, "! %s\n", view.AlertText(wire.AlertFromProto(a)))
	}
	done, waits := "queued for", ""
	switch {
	case resp.GetDuplicate():
		done = "already submitted to"
	case resp.GetQueued():
		waits = "; " + o.whyQueued(ctx, s)
	}
	name := sanitize.Line(s.pod)
	_, err := fmt.Fprintf(w, "%s %s (#%d)%s; watch: podctl tail -f %s\n", done, name, resp.GetSeq(), waits, name)
	return err
}

// whyQueued says what a queued prompt waits for.
func (o *submitOptions) whyQueued(ctx context.Context, s *session) string {
	got, err := s.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: s.pod})
	if err == nil && got.GetPod().GetPause() != nil {
		return "the pod is paused, resume it: podctl resume " + sanitize.Line(s.pod)
	}
	if o.steer {
		return "the running turn reads it at its next step"
	}
	return "it runs after the running turn"
}

// readSchema reads the file of a JSON Schema. podd checks what it says.
func readSchema(path string) (string, error) {
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

// promptNames completes a text that begins with a slash. It offers nothing where submit would create the pod.
func (o *submitOptions) promptNames(ctx context.Context, s *session, offer func(value, about string)) error {
	pod, _, err := s.choose(ctx, o.pod, nil)
	if err != nil {
		return err
	}
	resp, err := s.Pods().ListPrompts(ctx, &poddv1.ListPromptsRequest{Pod: pod})
	for _, p := range resp.GetPrompts() {
		if p.GetName() != "compact" { // It is a verb.
			offer("/"+p.GetName(), p.GetAbout())
		}
	}
	return err
}

// completeReference completes an argument of submit that is an @path, with the files
// of the pod that the submit would go to. It is silent when podd does not answer.
func (o *submitOptions) completeReference(ctx context.Context, p *program, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	prefix, ok := strings.CutPrefix(typed, "@")
	if !ok || o.literal {
		return nil, directive
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	var refs []cobra.Completion
	_ = p.with(func(s *session) error {
		paths, err := completePath(ctx, s, o.pod, valid(prefix))
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
func completePath(ctx context.Context, s *session, named, prefix string) ([]string, error) {
	pod, _, err := s.choose(ctx, named, nil)
	if item.ReasonOf(err) == "NO_POD" {
		return pathsHere(ctx, prefix)
	}
	if err != nil {
		return nil, err
	}
	resp, err := s.Pods().CompletePath(ctx, &poddv1.CompletePathRequest{Pod: pod, Prefix: prefix})
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
