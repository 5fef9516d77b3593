package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// backgroundJob gives a pod a job that runs while podd is killed, and answers at once.
func (r *round) backgroundJob(p *pod) error {
	if err := os.WriteFile(filepath.Join(p.dir, gateFile), nil, 0o600); err != nil {
		return err
	}
	p.submits.submit(r.ctx, "job-0: back")
	if !await(r.ctx, func() bool { return r.busy() == "" && r.state(p).GetJobs() == 1 }) {
		return r.stuck()
	}
	return nil
}

// hasJob says whether the cell is about a job.
func (c *cell) hasJob() bool { return c.in == "job" || c.in == "typing" }

// jobSurvived checks that the next podd has the job, unless podd ended it. podd ends its jobs
// when it stops in an orderly way, also on a broken disk, where it can't store that.
func (c *cell) jobSurvived(end string) {
	if !c.hasJob() {
		return
	}
	want := map[string]int32{"SIGKILL": 1, "SIGUSR1": 1, "SIGABRT": 1, "ENOSPC": 1, "database-stops": 1, "database-cuts": 1, "both-end": 1}[end]
	if !await(c.ctx, func() bool { return c.state(c.pod) != nil && c.state(c.pod).GetJobs() == want }) {
		c.tally.Other.add("after %s %d jobs run, want %d", end, c.state(c.pod).GetJobs(), want)
	}
	list, err := c.client.Jobs().ListJobs(c.ctx, &poddv1.ListJobsRequest{Pod: c.pod.name})
	if err != nil || len(list.GetJobs()) != 1 || list.GetJobs()[0].GetId() != "1" {
		c.tally.Other.add("after %s the jobs are %v, %v", end, list.GetJobs(), err)
	}
	for _, err := range c.client.ReadJob(c.ctx, client.JobOptions{Pod: c.pod.name, ID: "1"}) {
		if err != nil {
			c.tally.ResultsLost.add("after %s the output of the job cannot be read: %v", end, err)
		}
	}
}

// background compares what background commands left in the workspaces with the calls: each
// began once, and each input was typed once at most.
func (i *inspection) background() error {
	for _, p := range i.all() {
		for file, verb := range map[string]string{backFile: "back", typedFile: "type"} {
			lines, err := countLines(filepath.Join(p.dir, file))
			if err != nil {
				return err
			}
			i.once(p, file, verb, lines)
		}
	}
	return nil
}

// once checks that calls of one kind wrote the lines of a file, once each.
func (i *inspection) once(p *pod, file, verb string, lines map[string]int) {
	for id, n := range lines {
		if i.model.made(id).verb != verb {
			i.tally.Other.add("%s: the file %s has %q, which no call wrote", p.dir, file, id)
		}
		if n > 1 {
			i.tally.Repeated.add("%s: the file %s has the call %s %d times", p.dir, file, id, n)
		}
	}
}

// nothingRuns checks that no process of a command is left once podd has ended.
func (s *scene) nothingRuns() error {
	var left []string
	var err error
	if !await(s.ctx, func() bool { left, err = s.processes(); return err != nil || len(left) == 0 }) {
		s.tally.Other.add("processes are left: %s", strings.Join(left, "; "))
	}
	return err
}

// processes are those that work in a workspace of the round or below a node's state directory, or whose arguments
// name one.
func (s *scene) processes() (all []string, err error) {
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	here := func(path string) bool {
		return strings.HasPrefix(path, s.dir+"/w-") || strings.HasPrefix(path, s.dir+"/n")
	}
	for _, dir := range found {
		// What cannot be read has just ended, or is another user's.
		at, _ := os.Readlink(filepath.Join(dir, "cwd"))
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		args := strings.Split(string(line), "\x00")
		if here(at) || slices.ContainsFunc(args, here) {
			all = append(all, fmt.Sprintf("%s: %q", filepath.Base(dir), args))
		}
	}
	return all, nil
}
