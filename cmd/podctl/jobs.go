package main

import (
	"context"
	"fmt"
	"io"
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
		RunE: p.onPodd(func(ctx context.Context, c *client.Client, args []string) error {
			resp, err := c.Jobs().ListJobs(ctx, &poddv1.ListJobsRequest{Pod: valid(args[0])})
			if err != nil {
				return err
			}
			p.missingNodes(resp.GetMissingNodes(), "jobs")
			return printEach(p, resp.GetJobs(), func() error { return p.jobTable(p.stdout, args[0], resp.GetJobs()) })
		}),
	}
	cmd.AddCommand(newJobsStopCommand(p), newJobsLogsCommand(p))
	return cmd
}

func newJobsStopCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:               "stop [POD] ID...",
		Short:             "End background commands",
		Long:              "Ends jobs and everything that they started, and shows how they ended. The pod's model gets a note.",
		ValidArgsFunction: p.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids := make([]string, len(args)-1)
			for i, id := range args[1:] {
				ids[i] = valid(id)
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				resp, err := c.Jobs().StopJobs(cmd.Context(), &poddv1.StopJobsRequest{Pod: pod, Ids: ids})
				if err != nil {
					return err
				}
				for _, j := range resp.GetJobs() {
					if err := p.print(j, func(w io.Writer) error { return writeStopped(w, j) }); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
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

func newJobsLogsCommand(p *program) *cobra.Command {
	var after int64
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs [POD] ID",
		Short: "Show the output of a background command",
		Long: "Shows the output of a job, and on standard error its state and the mark where the output ends. With --after it " +
			"begins at a mark. With -f it prints new output until the job ends, across restarts of podd.",
		ValidArgsFunction: p.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if after < 0 {
				return usagef("--after %d: use 0 or more", after)
			}
			return p.withPod(cmd.Context(), args[0], func(c *client.Client, pod string) error {
				return p.jobLogs(cmd.Context(), c, client.JobOptions{Pod: pod, ID: valid(args[1]), After: after, Follow: follow})
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "keep running and print new output until the job ends")
	f.Int64Var(&after, "after", 0, "begin at this mark")
	return cmd
}

// jobLogs shows a job's output.
func (p *program) jobLogs(ctx context.Context, c *client.Client, o client.JobOptions) error {
	show, end := func(m *poddv1.ReadJobResponse) error { return p.printJSON(m) }, func() error { return nil }
	if p.output == outputText {
		out := &jobOutput{out: sanitize.NewWriter(p.stdout), said: p.stderr, asked: o.After, last: "\n", id: sanitize.Line(o.ID)}
		show, end = out.show, out.close
		o.Lost = p.lost
	}
	if o.Follow {
		defer endWithReader(p.stdout)()
	}
	at := o.After
	for m, err := range c.ReadJob(ctx, o) {
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
		return interrupted(fmt.Sprintf("interrupted: the job keeps running; continue with podctl jobs logs -f %s %s --after %d", o.Pod, o.ID, at))
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

// jobTable shows jobs, a row each. pod is the one that was asked for; empty means all.
func (p *program) jobTable(w io.Writer, pod string, jobs []*poddv1.JobInfo) error {
	if len(jobs) == 0 {
		says := "no jobs run"
		if pod != "" {
			says = fmt.Sprintf("pod %s has no jobs", sanitize.Line(pod))
		}
		_, err := fmt.Fprintln(p.stderr, says)
		return err
	}
	t := newTable(w)
	fmt.Fprintln(t, "POD\tID\tSTATE\tACCESS\tAGE\tBYTES\tCOMMAND")
	for _, j := range jobs {
		age := "-"
		if j.GetStartedAt() != nil {
			age = view.Duration(p.now().Sub(j.GetStartedAt().AsTime()))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Line(j.GetPodName()), sanitize.Line(j.GetId()), sanitize.Line(jobState(j)),
			sanitize.Line(orDefault(j.GetAccess(), "-")), age, view.Count(j.GetBytes()), beginning(j.GetCommand()))
	}
	return t.Flush()
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

// completeJobs offers the pods, and then the jobs of one: all for logs, and the running
// ones that are not named yet for stop.
func (p *program) completeJobs(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	stops := cmd.Name() == "stop"
	if len(args) > 1 && !stops {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeOfPod(cmd, args, start, func(ctx context.Context, c *client.Client, pod string, offer func(value, about string)) error {
		resp, err := c.Jobs().ListJobs(ctx, &poddv1.ListJobsRequest{Pod: pod})
		for _, j := range resp.GetJobs() {
			if !stops || wire.JobStateFromProto(j.GetState()) == item.JobRunning {
				offer(j.GetId(), beginning(j.GetCommand()))
			}
		}
		return err
	})
}
