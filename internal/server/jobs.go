package server

import (
	"context"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// jobs serves JobService.
type jobs struct {
	poddv1.UnimplementedJobServiceServer
	host *pod.Host
	// redact removes secrets from a command.
	redact func(string) string
}

// ListJobs lists the jobs of a pod, or the running ones of all pods.
func (s *jobs) ListJobs(ctx context.Context, r *poddv1.ListJobsRequest) (*poddv1.ListJobsResponse, error) {
	list, err := s.host.Background.List(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ListJobsResponse{Jobs: make([]*poddv1.JobInfo, len(list))}
	for i, j := range list {
		answer.Jobs[i] = s.info(j)
	}
	return answer, nil
}

// StopJobs ends jobs.
func (s *jobs) StopJobs(ctx context.Context, r *poddv1.StopJobsRequest) (*poddv1.StopJobsResponse, error) {
	stopped, err := s.host.Background.Stop(ctx, r.GetPod(), r.GetIds())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.StopJobsResponse{Jobs: make([]*poddv1.StoppedJob, len(stopped))}
	for i, j := range stopped {
		answer.Jobs[i] = &poddv1.StoppedJob{Job: s.info(j.Job), Before: j.Before, Output: j.Output}
	}
	return answer, nil
}

// ReadJob sends the output of a job.
func (s *jobs) ReadJob(r *poddv1.ReadJobRequest, out poddv1.JobService_ReadJobServer) error {
	q := pod.JobQuery{Pod: r.GetPod(), ID: r.GetId(), After: r.GetAfter(), Follow: r.GetFollow()}
	for part, err := range s.host.Background.Read(out.Context(), q) {
		if err != nil {
			return err
		}
		err := out.Send(&poddv1.ReadJobResponse{
			Text: part.Text, From: part.From, Mark: part.Mark, End: part.End,
			State: wire.JobStateToProto(part.Job.State), Status: s.clean(part.Job.Status), Last: part.Last,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *jobs) info(j pod.Job) *poddv1.JobInfo {
	info := &poddv1.JobInfo{
		Pod: j.Pod, PodName: j.Name, Id: j.ID, CallId: s.clean(j.CallID), State: wire.JobStateToProto(j.State), Status: s.clean(j.Status),
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
func (s *jobs) clean(text string) string {
	if s.redact != nil {
		text = s.redact(text)
	}
	return strings.ToValidUTF8(text, "\ufffd")
}
