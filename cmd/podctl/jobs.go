package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	"podd/pkg/client"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

func newJobsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs [POD]",
		Short: "List background commands",
		Long: "Lists the jobs of a pod: the background commands that run, and the last ones that ended. Without POD, lists the " +
			"running jobs of all pods.",
		Annotations: withoutPod("all pods"),
		RunE:        p.onPodd(runJobs),
	}
	cmd.AddCommand(newJobsStopCommand(p), new(jobsLogsOptions).command(p))
	return cmd
}

func runJobs(ctx context.Context, s *session, args []string) error {
	resp, err := s.Jobs().ListJobs(ctx, &poddv1.ListJobsRequest{Pod: valid(args[0])})
	if err != nil {
		return err
	}
	s.missingNodes(resp.GetMissingNodes(), "jobs")
	none := "no jobs run"
	if args[0] != "" {
		none = "pod " + sanitize.Line(args[0]) + " has no jobs"
	}
	return list(s.program, resp.GetJobs(), none, "POD\tID\tSTATE\tACCESS\tAGE\tBYTES\tCOMMAND", func(j *poddv1.JobInfo) []any {
		age := "-"
		if j.GetStartedAt() != nil {
			age = view.Duration(s.now().Sub(j.GetStartedAt().AsTime()))
		}
		return []any{j.GetPodName(), j.GetId(), jobState(j), orDash(j.GetAccess()), age, view.Count(j.GetBytes()), beginning(j.GetCommand())}
	})
}

func newJobsStopCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "stop [POD] ID...",
		Short: "End background commands",
		Long:  "Ends jobs and everything that they started, and shows how they ended. The pod's model gets a note.",
		ValidArgsFunction: p.completeOfPod(math.MaxInt, func(ctx context.Context, s *session, offer func(value, about string)) error {
			return jobs(ctx, s, true, offer)
		}),
		RunE: p.onPod(runJobsStop),
	}
}

func runJobsStop(ctx context.Context, s *session, args []string) error {
	ids := make([]string, len(args)-1)
	for i, id := range args[1:] {
		ids[i] = valid(id)
	}
	resp, err := s.Jobs().StopJobs(ctx, &poddv1.StopJobsRequest{Pod: s.pod, Ids: ids})
	if err != nil {
		return err
	}
	for _, j := range resp.GetJobs() {
		if err := s.print(j, func(w io.Writer) error { return writeStopped(w, j) }); err != nil {
			return err
		}
	}
	return nil
}

// writeStopped shows how a job ended, and the end of its output.
func writeStopped(w io.Writer, j *poddv1.StoppedJob) error {
	when := "has ended"
	if j.GetBefore() {
		when = "had already ended"
	}
	_, err := fmt.Fprintf(w, "job %s of pod %s %s: %s\n", sanitize.Line(j.GetJob().GetId()), sanitize.Line(j.GetJob().GetPodName()), when, sanitize.Line(j.GetJob().GetStatus()))
	if text := strings.TrimRight(j.GetOutput(), "\n"); err == nil && text != "" {
		_, err = fmt.Fprintln(w, sanitize.Terminal(text))
	}
	return err
}

// jobsLogsOptions are the flags of jobs logs.
type jobsLogsOptions struct {
	after  int64
	follow bool
}

func (o *jobsLogsOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logs [POD] ID",
		Short: "Show the output of a background command",
		Long: "Shows the output of a job, and on standard error its state and the mark where the output ends. With --after it " +
			"begins at a mark. With -f it prints new output until the job ends, across restarts of podd.",
		ValidArgsFunction: p.completeOfPod(1, func(ctx context.Context, s *session, offer func(value, about string)) error {
			return jobs(ctx, s, false, offer)
		}),
		PreRunE: func(*cobra.Command, []string) error {
			if o.after < 0 {
				return usagef("--after %d: use 0 or more", o.after)
			}
			return nil
		},
		RunE: p.onPod(o.run),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "keep running and print new output until the job ends")
	f.Int64Var(&o.after, "after", 0, "begin at this mark")
	return cmd
}

func (o *jobsLogsOptions) run(ctx context.Context, s *session, args []string) error {
	options := client.JobOptions{Pod: s.pod, ID: valid(args[1]), After: o.after, Follow: o.follow}
	show, end := func(m *poddv1.ReadJobResponse) error { return s.printJSON(m) }, func() error { return nil }
	if s.output == outputText {
		out := &jobOutput{out: sanitize.NewWriter(s.stdout), said: s.stderr, asked: o.after, last: "\n", id: sanitize.Line(options.ID)}
		show, end = out.show, out.close
		options.Lost = s.lost
	}
	if o.follow {
		defer endWithReader(s.stdout)()
	}
	at := o.after
	for m, err := range s.ReadJob(ctx, options) {
		if err == nil {
			at = m.GetMark()
			err = show(m)
		}
		if err == nil {
			continue
		}
		_ = end()
		if ctx.Err() == nil {
			return err
		}
		return interrupted(fmt.Sprintf("interrupted: the job keeps running; continue with podctl jobs logs -f %s %s --after %d", s.pod, options.ID, at))
	}
	return end()
}

// jobOutput shows a job's output as text.
type jobOutput struct {
	out  *sanitize.Writer
	said io.Writer
	id   string
	// asked is the mark where the next part should begin, last the end of what was shown.
	asked int64
	last  string
	// shown says that a part was shown.
	shown bool
	end   *poddv1.ReadJobResponse
}

func (o *jobOutput) show(m *poddv1.ReadJobResponse) error {
	switch gone := m.GetFrom() - o.asked; {
	case gone > 0:
		fmt.Fprintf(o.said, "! %s bytes of output are no longer kept; it continues at mark %d\n", view.Count(gone), m.GetFrom())
	case gone < 0 && !o.shown:
		fmt.Fprintf(o.said, "! the output ends at mark %d, before mark %d\n", m.GetEnd(), o.asked)
	}
	o.asked, o.end, o.shown = m.GetMark(), m, true
	if m.GetText() == "" {
		return nil
	}
	o.last = m.GetText()
	_, err := io.WriteString(o.out, m.GetText())
	return err
}

// close ends the output, and says how the job stands.
func (o *jobOutput) close() error {
	if !strings.HasSuffix(o.last, "\n") {
		if _, err := io.WriteString(o.out, "\n"); err != nil {
			return err
		}
	}
	if err := o.out.Flush(); err != nil || !o.end.GetLast() {
		return err
	}
	state := "runs"
	if wire.JobStateFromProto(o.end.GetState()) == item.JobEnded {
		state = "has ended: " + o.end.GetStatus()
	}
	_, err := fmt.Fprintf(o.said, "job %s %s; mark %d\n", o.id, sanitize.Line(state), o.end.GetMark())
	return err
}

// jobState is running, or how the job ended.
func jobState(j *poddv1.JobInfo) string {
	switch wire.JobStateFromProto(j.GetState()) {
	case item.JobRunning:
		return "running"
	case item.JobEnded:
		return "ended: " + j.GetStatus()
	}
	return "unknown"
}

// jobs finds the jobs of a pod: all, or those that run.
func jobs(ctx context.Context, s *session, running bool, offer func(value, about string)) error {
	resp, err := s.Jobs().ListJobs(ctx, &poddv1.ListJobsRequest{Pod: s.pod})
	for _, j := range resp.GetJobs() {
		if !running || wire.JobStateFromProto(j.GetState()) == item.JobRunning {
			offer(j.GetId(), beginning(j.GetCommand()))
		}
	}
	return err
}
