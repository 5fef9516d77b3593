package wire

import (
	"fmt"

	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"

	"google.golang.org/protobuf/proto"
)

var states = enum[item.State]{
	poddv1.PodState_POD_STATE_IDLE:        item.StateIdle,
	poddv1.PodState_POD_STATE_RUNNING:     item.StateRunning,
	poddv1.PodState_POD_STATE_WAITING:     item.StateWaiting,
	poddv1.PodState_POD_STATE_PAUSED:      item.StatePaused,
	poddv1.PodState_POD_STATE_RESUMING:    item.StateResuming,
	poddv1.PodState_POD_STATE_INTERRUPTED: item.StateInterrupted,
	poddv1.PodState_POD_STATE_QUARANTINED: item.StateQuarantined,
}

// EncodePod is the stored form of a pod's record: a podd.v1.Pod message. The same
// record gives the same bytes.
func EncodePod(pod item.Pod) ([]byte, error) {
	body, err := marshal(PodToProto(pod))
	if err != nil {
		return nil, fmt.Errorf("encode pod %q: %w", pod.Name, err)
	}
	return body, nil
}

// EncodePodRecord is the part of a pod that turns do not change: id, name, spec and time of
// creation.
func EncodePodRecord(p item.Pod) ([]byte, error) {
	return EncodePod(item.Pod{ID: p.ID, Name: p.Name, Spec: p.Spec, CreatedAt: p.CreatedAt})
}

// EncodeStatus is a pod that has only a status.
func EncodeStatus(status item.PodStatus) ([]byte, error) {
	return EncodePod(item.Pod{Status: status})
}

// DecodePod reads what EncodePod wrote. The record does not share memory with
// body.
func DecodePod(body []byte) (item.Pod, error) {
	var p poddv1.Pod
	if err := proto.Unmarshal(body, &p); err != nil {
		return item.Pod{}, fmt.Errorf("decode pod: %w", err)
	}
	return PodFromProto(&p), nil
}

// JoinPod is the pod of what EncodePodRecord and EncodeStatus wrote.
func JoinPod(record, status []byte) (item.Pod, error) {
	r, err := DecodePod(record)
	if err != nil {
		return item.Pod{}, err
	}
	s, err := DecodePod(status)
	return item.Pod{ID: r.ID, Name: r.Name, Spec: r.Spec, CreatedAt: r.CreatedAt, Status: s.Status}, err
}

// PodToProto converts a pod's record.
func PodToProto(pod item.Pod) *poddv1.Pod {
	return &poddv1.Pod{
		Id:           clean(pod.ID),
		Name:         clean(pod.Name),
		Spec:         PodSpecToProto(pod.Spec),
		State:        poddv1.PodState(states.number(pod.Status.State)),
		StateReason:  clean(pod.Status.Reason),
		Turn:         pod.Status.Turn,
		FirstSeq:     int64(pod.First),
		LastSeq:      int64(pod.Last),
		Queued:       toInt32(pod.Queued),
		Usage:        UsageToProto(pod.Status.Usage),
		CreatedAt:    timeToProto(pod.CreatedAt),
		LastActivity: timeToProto(pod.Status.LastActivity),
		Pause:        pauseToProto(pod.Status.Pause),
		WaitUntil:    timeToProto(pod.Status.WaitUntil),
		Lifted:       pausesToProto(pod.Status.Lifted),
		Jobs:         toInt32(pod.Status.Jobs),
		Node:         clean(pod.Node),
		Movable:      pod.Movable,
		Approvals:    toInt32(pod.Status.Approvals),
		LastOutcome:  poddv1.Outcome(outcomes.number(pod.Status.LastOutcome)),
		CheckFailed:  pod.Status.CheckFailed,
		Questions:    toInt32(pod.Status.Questions),
		Pending:      toInt32(pod.Status.Pending),
		Letters:      toInt32(pod.Status.Letters),
	}
}

// PodFromProto converts a pod's record. A state that this podd does not know is
// empty.
func PodFromProto(p *poddv1.Pod) item.Pod {
	return item.Pod{
		ID:        p.GetId(),
		Name:      p.GetName(),
		Spec:      PodSpecFromProto(p.GetSpec()),
		CreatedAt: timeFromProto(p.GetCreatedAt()),
		Status: item.PodStatus{
			State:        states.name(int32(p.GetState())),
			Reason:       p.GetStateReason(),
			Turn:         p.GetTurn(),
			Usage:        UsageFromProto(p.GetUsage()),
			LastActivity: timeFromProto(p.GetLastActivity()),
			Pause:        pauseFromProto(p.GetPause()),
			WaitUntil:    timeFromProto(p.GetWaitUntil()),
			Lifted:       pausesFromProto(p.GetLifted()),
			Jobs:         int(p.GetJobs()),
			Approvals:    int(p.GetApprovals()),
			LastOutcome:  outcomes.name(int32(p.GetLastOutcome())),
			CheckFailed:  p.GetCheckFailed(),
			Questions:    int(p.GetQuestions()),
			Pending:      int(p.GetPending()),
			Letters:      int(p.GetLetters()),
		},
		First:   item.Seq(p.GetFirstSeq()),
		Last:    item.Seq(p.GetLastSeq()),
		Queued:  int(p.GetQueued()),
		Node:    p.GetNode(),
		Movable: p.GetMovable(),
	}
}

func pauseToProto(p *item.Pause) *poddv1.Pause {
	if p == nil {
		return nil
	}
	return &poddv1.Pause{Reason: clean(p.Reason), At: clean(p.At), Turn: p.Turn, Until: timeToProto(p.Until), By: clean(p.By)}
}

func pauseFromProto(p *poddv1.Pause) *item.Pause {
	if p == nil {
		return nil
	}
	return &item.Pause{Reason: p.GetReason(), At: p.GetAt(), Turn: p.GetTurn(), Until: timeFromProto(p.GetUntil()), By: p.GetBy()}
}

func pausesToProto(pauses []item.Pause) []*poddv1.Pause {
	var out []*poddv1.Pause
	for _, p := range pauses {
		out = append(out, pauseToProto(&p))
	}
	return out
}

func pausesFromProto(pauses []*poddv1.Pause) []item.Pause {
	var out []item.Pause
	for _, p := range pauses {
		out = append(out, *pauseFromProto(p))
	}
	return out
}
