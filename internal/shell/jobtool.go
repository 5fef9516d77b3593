package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"podd/internal/commands/shim"
	"podd/pkg/item"
	"podd/pkg/tool"
)

const (
	maxJobWait = 600
	// maxInput is the most that is typed at once, in bytes.
	maxInput = 8 << 10
	// inputWait is for how long a command that was typed to may answer, in seconds.
	inputWait = 1
	// untilWait is how long read waits for a line by default, in seconds.
	untilWait = 30
	// jobPoll is the interval between two looks at the output during a wait.
	jobPoll = 50 * time.Millisecond
)

type jobArgs struct {
	Action string `json:"action" enum:"read,write,stop,list"`
	ID     string `json:"id,omitempty"`
	After  *int64 `json:"after,omitempty" jsonschema:"read from this mark; default: the end of the output"`
	Wait   int    `json:"wait_seconds,omitempty" jsonschema:"wait for output, or until; at most 600"`
	Input  string `json:"input,omitempty" jsonschema:"to type, with the line's end"`
	Until  string `json:"until,omitempty" jsonschema:"RE2 of a line to wait for"`
}

func (a *jobArgs) check() error {
	if a.Action == "list" {
		if a.ID != "" || a.After != nil || a.Wait != 0 || a.Until != "" || a.Input != "" {
			return errors.New("list takes no other argument: leave them out")
		}
		return nil
	}
	switch {
	case a.ID == "":
		return errors.New("id is missing: action list shows the jobs")
	case a.Action != "write" && a.Input != "":
		return errors.New("input is for write: leave it out")
	case a.Action == "write" && a.Input == "":
		return errors.New("input is empty: write what to type, with \\n at the end of a line")
	case len(a.Input) > maxInput:
		return fmt.Errorf("input has %d bytes, the most is %d: write it in parts", len(a.Input), maxInput)
	case a.Action == "write" && a.After != nil:
		return errors.New("after is for read: write returns the output after the input")
	case a.Action == "stop" && (a.After != nil || a.Wait != 0 || a.Until != ""):
		return errors.New("after, wait_seconds and until are for read and write: leave them out")
	case a.After != nil && *a.After < 0:
		return fmt.Errorf("after must be 0 or more, not %d", *a.After)
	case a.Wait < 0 || a.Wait > maxJobWait:
		return fmt.Errorf("wait_seconds must be 0 to %d, not %d", maxJobWait, a.Wait)
	}
	if _, err := regexp.Compile(a.Until); err != nil {
		return fmt.Errorf("until is no RE2 expression: %w", err)
	}
	if a.Until != "" && a.Wait == 0 {
		a.Wait = untilWait
	}
	return nil
}

// jobTool reads and ends the pod's jobs.
type jobTool struct {
	*Runner
	limit tool.Limit
}

func (s *Runner) jobTool() tool.Tool {
	t := &jobTool{Runner: s, limit: s.Limits.For("job")}
	return tool.New("job", "Read, write to, stop or list background commands. read gives output from a mark, and the next mark.", t.run,
		tool.Validate((*jobArgs).check), tool.Recovers(t.recover), tool.Touches(t.access))
}

// access is what policy decides on. What is typed into a job can do what the job can: where
// that is confined, no more than another command.
func (t *jobTool) access(args jobArgs) tool.Access {
	a := tool.Access{Confined: true}
	if args.Action != "write" || t.Jobs == nil {
		return a
	}
	if j := t.Jobs.byID(args.ID); j != nil && j.runs() {
		said := j.note()
		a.Confined, a.Note = said.Confined, fmt.Sprintf("it types into the job %q", tool.Shorten(said.Command, 100))
	}
	return a
}

// recover does again what can be done twice. Of input the job's keeper knows whether it was typed.
func (t *jobTool) recover(ctx context.Context, call *tool.Invocation, args jobArgs) (tool.Output, item.Recovery, error) {
	if args.Action == "write" {
		return t.typed(ctx, call, args)
	}
	out, err := t.run(ctx, call, args)
	return out, item.RecoveryAgain, err
}

// typed finds out whether input was typed before podd ended.
func (t *jobTool) typed(ctx context.Context, call *tool.Invocation, args jobArgs) (tool.Output, item.Recovery, error) {
	// An earlier podd typed without keys; its calls name no boot.
	if t.Jobs == nil || call.Key == "" || call.Rebooted {
		return tool.Output{}, item.RecoveryUnknown, nil
	}
	j := t.Jobs.byID(args.ID)
	if j == nil && t.Jobs.never(args.ID) {
		return t.noJob(args.ID), item.RecoveryNoEffect, nil
	}
	if j == nil {
		return tool.Output{}, item.RecoveryUnknown, nil
	}
	took, err := t.took(ctx, j, call.Key, len(args.Input))
	switch {
	case err != nil:
		return tool.Output{}, item.RecoveryUnknown, err
	case took == 0 && j.runs():
		return tool.Error("job: not written: podd ended before the input reached job %s; call again if it is still needed", j.ID), item.RecoveryNoEffect, nil
	case took == 0:
		return tool.Error("job: not written: podd ended before the input reached job %s, which has ended: %s", j.ID, t.Limits.Redact(j.entry().Status)), item.RecoveryNoEffect, nil
	case took < len(args.Input):
		return tool.Error("job: job %s took %d of %d bytes: it does not read its input now", j.ID, took, len(args.Input)), item.RecoveryFound, nil
	case !j.runs():
		return t.ended(j, j.read(-1, jobLastBytes), " took the input and"), item.RecoveryFound, nil
	}
	args.After, args.Wait, args.Until = nil, 0, ""
	return t.read(ctx, call, j, args), item.RecoveryFound, nil
}

// took is how many bytes a job took of the input with a key, which has all of them.
func (t *jobTool) took(ctx context.Context, j *job, key string, all int) (int, error) {
	if j.awaitBegun(ctx) && j.note().Terminal && t.Starter != nil {
		err := t.Starter.Typed(ctx, j.pod.keeper(j.note().Keeper), j.began().tree.ID(), key)
		short, isShort := errors.AsType[*shim.ShortInputError](err)
		switch {
		case err == nil:
			return all, nil
		case isShort:
			return short.Written, nil
		case errors.Is(err, shim.ErrUntyped):
			return 0, nil
		}
		// If it has just ended, its record says it.
	}
	var said note
	if err := t.Spool.Notes("shell", j.CallID, &said); err != nil {
		return 0, err
	}
	if said.Job == nil || said.Job.Terminal && said.Typed == nil {
		return 0, fmt.Errorf("nobody noted what was typed into job %s", j.ID)
	}
	return said.Typed[key], nil
}

func (t *jobTool) run(ctx context.Context, call *tool.Invocation, args jobArgs) (tool.Output, error) {
	if t.Jobs == nil {
		return tool.Error("job: there are no jobs here"), nil
	}
	if args.Action == "list" {
		return t.list(), nil
	}
	j := t.Jobs.byID(args.ID)
	switch {
	case j == nil:
		return t.noJob(args.ID), nil
	case args.Action == "stop" && call.Plan:
		return tool.Error("job: not stopped: this turn only plans, so put the stop into your plan"), nil
	case args.Action == "stop":
		return t.stop(ctx, j), nil
	case args.Action == "write":
		return t.write(ctx, call, j, args), nil
	}
	return t.read(ctx, call, j, args), nil
}

func (t *jobTool) noJob(id string) tool.Output {
	return tool.Error("job: no job has the id %q: %s", tool.Shorten(id, 20), t.running())
}

// running names the running jobs, for a model that named an unknown one.
func (t *jobTool) running() string {
	running := t.Jobs.Running()
	if len(running) == 0 {
		return "no job runs"
	}
	return "running are " + strings.Join(running, ", ")
}

func (t *jobTool) list() tool.Output {
	var b strings.Builder
	running, ended := int64(0), int64(0)
	for _, j := range t.Jobs.List() {
		state := j.Status
		if j.State == item.JobRunning {
			state = "running for " + time.Since(j.Started).Round(time.Second).String()
			running++
		} else {
			ended++
		}
		fmt.Fprintf(&b, "%s: %s; %d bytes of output; %s\n", j.ID, state, j.Bytes, tool.Shorten(j.Command, 100))
	}
	return tool.Output{Summary: fmt.Sprintf("job: %d running, %d ended", running, ended), Content: t.Limits.Redact(b.String()), Kind: item.OutputShell}
}

func (t *jobTool) stop(ctx context.Context, j *job) tool.Output {
	if j.runs() {
		j.stop(&jobStop{reason: "the model stopped it", seen: true})
	}
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	if j.runs() {
		return tool.Error("job: job %s is being stopped", j.ID)
	}
	return t.ended(j, j.read(-1, min(jobTextBytes(t.limit), jobLastBytes)), "")
}

// ended is the result for a job that has ended.
func (t *jobTool) ended(j *job, out JobOutput, what string) tool.Output {
	j.pod.mu.Lock()
	j.seen = true
	status := j.Status
	if r := j.command; r != nil {
		status = r.ended.summary
	}
	j.pod.mu.Unlock()
	return tool.Output{
		Summary: tool.Bound(t.Limits.Redact(fmt.Sprintf("job: %s%s has ended: %s; mark %d", j.ID, what, status, out.Mark))),
		Content: out.Text, Kind: item.OutputShell,
	}
}

// write types input, and gives what is printed after it.
func (t *jobTool) write(ctx context.Context, call *tool.Invocation, j *job, args jobArgs) tool.Output {
	begun := j.awaitBegun(ctx)
	said := j.note()
	switch {
	case !begun && j.runs():
		return tool.Error("job: not written: job %s has not begun", j.ID)
	case !j.runs():
		out := t.ended(j, j.read(-1, jobLastBytes), "")
		out.IsError = true
		return out
	case call.Plan:
		return tool.Error("job: not written: this turn only plans, and what is typed may change something")
	case !said.Terminal || t.Starter == nil:
		return tool.Error("job: job %s has no terminal, so it takes no input: start it with terminal", j.ID)
	}
	mark := j.read(-1, 0).Mark
	err := t.Starter.Write(ctx, j.pod.keeper(said.Keeper), j.began().tree.ID(), call.Key, []byte(args.Input))
	if short, ok := errors.AsType[*shim.ShortInputError](err); ok {
		return tool.Error("job: job %s took %d of %d bytes: it does not read its input now", j.ID, short.Written, len(args.Input))
	}
	if err != nil {
		return tool.Error("job: the input may not have reached job %s: %v", j.ID, err)
	}
	args.After, args.Wait = &mark, cmp.Or(args.Wait, inputWait)
	return t.read(ctx, call, j, args)
}

// read returns output from a mark. It waits for a line, or for any output.
func (t *jobTool) read(ctx context.Context, call *tool.Invocation, j *job, args jobArgs) tool.Output {
	after, most := int64(-1), jobTextBytes(t.limit)
	if args.After != nil {
		after = *args.After
	}
	if after < 0 && args.Wait > 0 {
		// Without a mark, wait for new output.
		after = j.read(-1, 0).Mark
	}
	until := regexp.MustCompile(args.Until)
	found := true
	if args.Wait > 0 {
		found = t.wait(ctx, call, j, args, after, until)
	}
	ended := !j.runs()
	out := j.read(after, most)
	what := ""
	if args.Until != "" && !found {
		what = fmt.Sprintf(" printed no line that matches %s", tool.Shorten(args.Until, 60))
		if !ended {
			what += fmt.Sprintf(" within %d s", args.Wait)
		}
		what += ","
	}
	if ended && out.Mark == out.End {
		return t.ended(j, out, what)
	}
	return tool.Output{
		Summary: tool.Bound(fmt.Sprintf("job: %s%s runs; %s, mark %d", j.ID, what, printed(out), out.Mark)),
		Content: out.Text, Kind: item.OutputShell,
	}
}

// wait waits until the job has printed a line that matches until, or anything if until is
// empty, and says whether it has. It returns when the job ends.
func (t *jobTool) wait(ctx context.Context, call *tool.Invocation, j *job, args jobArgs, from int64, until *regexp.Regexp) bool {
	if call.Meter != nil {
		call.Meter.Waits(true)
		defer call.Meter.Waits(false)
	}
	patience := time.NewTimer(time.Duration(args.Wait) * time.Second)
	defer patience.Stop()
	poll := time.NewTicker(jobPoll)
	defer poll.Stop()
	for {
		last := !j.followed()
		var found bool
		if found, from = matched(j, args, from, until); found || last {
			return found
		}
		select {
		case <-poll.C:
		case <-j.done:
		case <-patience.C:
			found, _ = matched(j, args, from, until)
			return found
		case <-ctx.Done():
			return false
		}
	}
}

// matched looks in the output from a mark for a line that matches until, or for anything
// if until is empty. If it finds nothing, next is where to look next time: an incomplete
// line is looked at again.
func matched(j *job, args jobArgs, from int64, until *regexp.Regexp) (found bool, next int64) {
	for {
		out := j.read(from, 1<<20)
		if args.Until == "" || out.Text == "" {
			return out.Text != "", from
		}
		for line := range strings.Lines(out.Text) {
			if until.MatchString(strings.TrimRight(line, "\r\n")) {
				return true, from
			}
		}
		from = out.Mark
		if out.Mark == out.End {
			return false, from - out.Rest
		}
	}
}
