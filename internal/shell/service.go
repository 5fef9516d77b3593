package shell

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// jobPart bounds one part of a job's output, in bytes.
const jobPart = 64 << 10

// Register serves JobService.
func (w *Wing) Register(g grpc.ServiceRegistrar) {
	poddv1.RegisterJobServiceServer(g, &service{wing: w})
}

type service struct {
	poddv1.UnimplementedJobServiceServer
	wing *Wing
}

// keep loads a pod, which has its jobs then.
func (s *service) keep(ctx context.Context, idOrName string) (p *pod.Hosted, jobs *PodJobs, release func(), err error) {
	p, release, err = s.wing.Host.Keep(ctx, idOrName)
	if err != nil {
		return nil, nil, nil, err
	}
	return p, s.wing.Jobs.Of(p.Pod.ID), release, nil
}

// ListJobs lists the running jobs of a pod and the last ones that ended; without a pod, the running jobs of all pods that
// podd can load.
func (s *service) ListJobs(ctx context.Context, r *poddv1.ListJobsRequest) (*poddv1.ListJobsResponse, error) {
	answer := new(poddv1.ListJobsResponse)
	pods, err := s.wing.Host.SelectPods(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	for _, rec := range pods {
		if r.GetPod() == "" && rec.Status.Jobs == 0 {
			continue
		}
		p, jobs, release, err := s.keep(ctx, rec.ID)
		if err != nil && (r.GetPod() != "" || pod.Stopping(err) || ctx.Err() != nil) {
			return nil, err
		}
		if err != nil {
			continue
		}
		for _, j := range jobs.List() {
			if r.GetPod() != "" || j.State == item.JobRunning {
				answer.Jobs = append(answer.Jobs, s.info(p.Pod, j))
			}
		}
		release()
	}
	return answer, nil
}

// StopJobs ends jobs of a pod. It answers when they have ended and that is stored. If an id is unknown, it ends none.
func (s *service) StopJobs(ctx context.Context, r *poddv1.StopJobsRequest) (*poddv1.StopJobsResponse, error) {
	if len(r.GetIds()) == 0 {
		return nil, item.Errorf(item.KindInvalid, "NO_JOB", "name the jobs to stop: podctl jobs lists them")
	}
	p, jobs, release, err := s.keep(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	defer release()
	known := jobs.List()
	stopped := make([]JobInfo, len(r.GetIds()))
	for i, id := range r.GetIds() {
		at := slices.IndexFunc(known, func(j JobInfo) bool { return j.ID == id })
		if at < 0 {
			return nil, unknownJob(id, known)
		}
		stopped[i] = known[at]
	}
	ended := make([]<-chan struct{}, len(stopped))
	for i, j := range stopped {
		if j.State == item.JobRunning {
			ended[i] = jobs.Stop(j.ID, "a person stopped it")
		}
	}
	answer := new(poddv1.StopJobsResponse)
	for i, j := range stopped {
		if ended[i] != nil {
			select {
			case <-ended[i]:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		before := j.State != item.JobRunning
		out, ok := jobs.Read(j.ID, -1, jobLastBytes)
		if ok {
			j.Job, j.Bytes = out.Job, max(out.End, j.Bytes)
		}
		answer.Jobs = append(answer.Jobs, &poddv1.StoppedJob{Job: s.info(p.Pod, j), Before: before, Output: out.Text})
	}
	// The answer comes after the entries, unless they can't be stored yet.
	_ = s.wing.store(ctx, p, jobs)
	return answer, nil
}

// ReadJob sends a job's output from a mark on, in parts, at least one.
func (s *service) ReadJob(r *poddv1.ReadJobRequest, out poddv1.JobService_ReadJobServer) error {
	if r.GetAfter() < 0 {
		return item.Errorf(item.KindInvalid, "BAD_RANGE", "the mark is %d: use 0 or more", r.GetAfter())
	}
	p, jobs, release, err := s.keep(out.Context(), r.GetPod())
	if err != nil {
		return err
	}
	defer release()
	poll := time.NewTicker(jobPoll)
	defer poll.Stop()
	after, upTo := r.GetAfter(), int64(-1)
	for first := true; ; first = false {
		part, err := readPart(p.Pod, jobs, r.GetId(), after)
		if err != nil {
			return err
		}
		if r.GetFollow() || first {
			upTo = part.End
		}
		// What is left at the end of a running job's output may be half a character.
		atEnd := part.Mark >= upTo || part.Mark == after
		after = part.Mark
		last := atEnd && (!r.GetFollow() || part.Job.State == item.JobEnded)
		if first || last || part.Text != "" {
			err = s.send(out, part, last)
		}
		switch {
		case err != nil || last:
			return err
		case !atEnd:
			continue
		}
		select {
		case <-poll.C:
		case <-out.Context().Done():
			return context.Cause(out.Context())
		case <-p.Life().Done():
			return context.Cause(p.Life())
		}
	}
}

func (s *service) send(out poddv1.JobService_ReadJobServer, part JobOutput, last bool) error {
	return out.Send(&poddv1.ReadJobResponse{
		Text: part.Text, From: part.From, Mark: part.Mark, End: part.End,
		State: wire.JobStateToProto(part.Job.State), Status: s.clean(part.Job.Status), Last: last,
	})
}

// readPart reads the next part of a job's output.
func readPart(rec item.Pod, jobs *PodJobs, id string, after int64) (JobOutput, error) {
	part, ok := jobs.Read(id, after, jobPart)
	switch {
	case !ok:
		return part, unknownJob(id, jobs.List())
	case part.Gone && part.Job.State == item.JobEnded:
		return part, item.Errorf(item.KindPrecondition, "JOB_OUTPUT_GONE",
			"job %s of pod %s has ended (%s), and its output is no longer kept", id, rec.Name, part.Job.Status)
	}
	return part, nil
}

// unknownJob is the error for an id that no known job has.
func unknownJob(id string, known []JobInfo) error {
	var run []string
	for _, j := range known {
		if j.State == item.JobRunning {
			run = append(run, j.ID)
		}
	}
	says := "no job of the pod runs"
	switch len(run) {
	case 0:
	case 1:
		says = "job " + run[0] + " runs"
	default:
		says = "jobs " + strings.Join(run, ", ") + " run"
	}
	return item.Errorf(item.KindNotFound, "JOB_NOT_FOUND", "the pod has no job %q: %s", id, says)
}

func (s *service) info(of item.Pod, j JobInfo) *poddv1.JobInfo {
	info := &poddv1.JobInfo{
		Pod: of.ID, PodName: of.Name, Id: j.ID, CallId: s.clean(j.CallID), State: wire.JobStateToProto(j.State), Status: s.clean(j.Status),
		Command: s.clean(j.Command), Access: string(j.Access), Terminal: j.Terminal, Bytes: j.Bytes,
	}
	if j.State == item.JobRunning && !j.Started.IsZero() {
		info.Deadline = timestamppb.New(j.Deadline)
	}
	if !j.Started.IsZero() {
		info.StartedAt = timestamppb.New(j.Started)
	}
	return info
}

// clean is a text of a command or of an endpoint as a message can carry it.
func (s *service) clean(text string) string {
	if s.wing.Redact != nil {
		text = s.wing.Redact(text)
	}
	return strings.ToValidUTF8(text, "\ufffd")
}
