package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

var jobStates = enum[item.JobState]{
	poddv1.JobState_JOB_STATE_RUNNING: item.JobRunning,
	poddv1.JobState_JOB_STATE_ENDED:   item.JobEnded,
}

// JobStateToProto converts a job's state.
func JobStateToProto(s item.JobState) poddv1.JobState { return poddv1.JobState(jobStates.number(s)) }

// JobStateFromProto converts a job's state; one that this program does not know is empty.
func JobStateFromProto(s poddv1.JobState) item.JobState { return jobStates.name(int32(s)) }

func jobToProto(j item.Job) *poddv1.Job {
	return &poddv1.Job{
		Id: clean(j.ID), CallId: clean(j.CallID), State: JobStateToProto(j.State), Status: clean(j.Status),
	}
}

func jobFromProto(p *poddv1.Job) item.Job {
	return item.Job{ID: p.GetId(), CallID: p.GetCallId(), State: JobStateFromProto(p.GetState()), Status: p.GetStatus()}
}

func noteFromProto(n *poddv1.Note) item.Note {
	return item.Note{
		Text: n.GetText(), Wake: n.GetWake(), Job: n.GetJob(), NotBefore: timeFromProto(n.GetNotBefore()), Check: outcomes.name(int32(n.GetCheck())),
		Origin: n.GetOrigin(), Ref: n.GetRef(),
	}
}
