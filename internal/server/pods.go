package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"podd/internal/checkouts"
	"podd/internal/files"
	"podd/internal/guard/policy"
	"podd/internal/guard/trust"
	"podd/internal/letters"
	"podd/internal/report"
	"podd/internal/trash"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// pods serves PodService.
type pods struct {
	poddv1.UnimplementedPodServiceServer
	host      *pod.Host
	trash     *trash.Trash
	checkouts *checkouts.Checkouts
	files     *files.Files
	letters   *letters.Letters
	trust     *trust.Book
	// status has what the configuration says of the network.
	status func() Status
	// doubt says why a model's name is probably wrong; empty if it is not.
	doubt func(ctx context.Context, model string) string
	// user is who is served.
	user string
	// branch is the branch of a directory.
	branch func(dir string) string
}

// warnings are what is probably wrong with a model that a request names.
func (s *pods) warnings(ctx context.Context, model string) []string {
	if model == "" || s.doubt == nil {
		return nil
	}
	if says := s.doubt(ctx, model); says != "" {
		return []string{says}
	}
	return nil
}

// CreatePod creates a pod.
func (s *pods) CreatePod(ctx context.Context, r *poddv1.CreatePodRequest) (*poddv1.CreatePodResponse, error) {
	spec := wire.PodSpecFromProto(r.GetSpec())
	err := policy.CheckGiven(spec.Rules, nil)
	if err != nil {
		return nil, err
	}
	var p item.Pod
	if tree := r.GetWorktree(); tree == nil {
		p, err = s.host.Create(ctx, r.GetName(), spec)
	} else {
		p, err = s.checkouts.Create(ctx, r.GetName(), spec, tree.GetBase(), tree.GetWithChanges())
	}
	if err != nil {
		return nil, err
	}
	return &poddv1.CreatePodResponse{Pod: wire.PodToProto(p), Warnings: s.warnings(ctx, p.Spec.Model)}, nil
}

// GetPod returns one pod.
func (s *pods) GetPod(ctx context.Context, r *poddv1.GetPodRequest) (*poddv1.GetPodResponse, error) {
	p, err := s.host.Get(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.GetPodResponse{Pod: wire.PodToProto(p), Ask: cmp.Or(p.Spec.Ask, s.status().Ask)}
	answer.Branch, answer.ProjectConfig = s.glance(ctx, p.Spec, r.GetBranch())
	if above, err := s.host.Family.Ancestors(ctx, p.Spec); err == nil {
		answer.Network = s.status().reaches(p.Spec, above)
	}
	if r.GetModelSettings() {
		for _, m := range report.ModelSettings(ctx, s.host, p.Spec) {
			answer.ModelSettings = append(answer.ModelSettings, &poddv1.ModelSetting{Name: m.Name, Value: m.Value, Source: m.Source, LeftOut: m.LeftOut})
		}
	}
	if r.GetToolsOnly() {
		dirs, err := s.files.ToolsOnly(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			answer.ToolsOnly = append(answer.ToolsOnly, wire.Valid(dir))
		}
	}
	return answer, nil
}

// glanceTime is how long GetPod waits for a workspace: it has more to say.
const glanceTime = 2 * time.Second

// glance is the branch of a pod's workspace, if asked for, and whether its configuration is trusted. What is unknown,
// also because the workspace does not answer, is empty.
func (s *pods) glance(ctx context.Context, spec item.PodSpec, branch bool) (named, config string) {
	ctx, cancel := context.WithTimeout(ctx, glanceTime)
	defer cancel()
	seen, _ := pod.Visit(ctx, s.host, spec.Dir, func() (seen [2]string, err error) {
		if branch && s.branch != nil && spec.Checkout.Branch == "" {
			seen[0] = s.branch(spec.Dir)
		}
		if spec.Parent == "" {
			look, err := s.trust.Look(spec.Dir)
			seen[1] = string(look.State)
			return seen, err
		}
		return seen, nil
	})
	named, config = seen[0], seen[1]
	if branch {
		named = cmp.Or(spec.Checkout.Branch, named)
	}
	if spec.Parent != "" {
		// A sub-pod uses the configuration of the pod at the top of its family.
		config = string(trust.None)
	}
	return named, config
}

// ListPods lists the pods.
func (s *pods) ListPods(ctx context.Context, r *poddv1.ListPodsRequest) (*poddv1.ListPodsResponse, error) {
	list, err := s.host.List(ctx, r.GetDir())
	if err != nil {
		return nil, err
	}
	answer := new(poddv1.ListPodsResponse)
	for _, p := range reaching(ctx).within(ctx, list) {
		answer.Pods = append(answer.Pods, wire.PodToProto(p))
	}
	return answer, nil
}

// UpdatePod changes a pod's spec.
func (s *pods) UpdatePod(ctx context.Context, r *poddv1.UpdatePodRequest) (*poddv1.UpdatePodResponse, error) {
	if r.GetKnownModel() {
		for _, doubt := range s.warnings(ctx, r.GetSpec().GetModel()) {
			return nil, item.Errorf(item.KindNotFound, "NO_SUCH_MODEL", "%s", doubt)
		}
	}
	p, err := s.host.Update(ctx, r.GetPod(), func(spec item.PodSpec) (item.PodSpec, error) {
		next, err := wire.MergePodSpec(spec, r.GetSpec(), r.GetUpdateMask().GetPaths())
		return next, cmp.Or(err, policy.CheckGiven(next.Rules, spec.Rules))
	})
	if err != nil {
		return nil, err
	}
	answer := &poddv1.UpdatePodResponse{Pod: wire.PodToProto(p)}
	if slices.Contains(r.GetUpdateMask().GetPaths(), "model") {
		answer.Warnings = s.warnings(ctx, p.Spec.Model)
	}
	return answer, nil
}

// RenamePod gives a pod another name.
func (s *pods) RenamePod(ctx context.Context, r *poddv1.RenamePodRequest) (*poddv1.RenamePodResponse, error) {
	p, err := s.host.Rename(ctx, r.GetPod(), r.GetName())
	if err != nil {
		return nil, err
	}
	return &poddv1.RenamePodResponse{Pod: wire.PodToProto(p)}, nil
}

// Submit submits a prompt to a pod.
func (s *pods) Submit(ctx context.Context, r *poddv1.SubmitRequest) (*poddv1.SubmitResponse, error) {
	answer, err := s.host.Submit(ctx, pod.Submit{
		Pod:       r.GetPod(),
		Segments:  wire.SegmentsFromProto(r.GetSegments()),
		RequestID: r.GetRequestId(),
		Mode:      wire.SubmitModeFromProto(r.GetMode()),
		ParseRefs: r.GetParseRefs(),
		Plan:      wire.PlanOf(r),
		Model:     r.GetModel(),
		Effort:    r.GetEffort(),

		AnswerSchema: r.GetAnswerSchema(),
		NoQuestions:  r.GetNoQuestions(),
	})
	if err != nil {
		return nil, err
	}
	return &poddv1.SubmitResponse{
		Seq:       int64(answer.Seq),
		RequestId: answer.RequestID,
		Duplicate: answer.Duplicate,
		Queued:    answer.Queued,
		Alerts:    wire.AlertsToProto(answer.Alerts),
		Warnings:  s.warnings(ctx, r.GetModel()),
	}, nil
}

// Stream sends a pod's log and then new entries.
func (s *pods) Stream(r *poddv1.StreamRequest, out poddv1.PodService_StreamServer) error {
	q := pod.StreamQuery{Pod: r.GetPod(), After: item.Seq(r.GetAfterSeq()), Follow: r.GetFollow(), Deltas: r.GetDeltas()}
	for ev, err := range s.host.Logs.Stream(out.Context(), q) {
		if err != nil {
			return err
		}
		if err := send(out, ev); err != nil {
			return err
		}
	}
	return nil
}

// ListPrompts lists what typed text may begin with.
func (s *pods) ListPrompts(ctx context.Context, r *poddv1.ListPromptsRequest) (*poddv1.ListPromptsResponse, error) {
	found, err := s.host.Prompts(ctx, r.GetPod())
	if err != nil {
		return nil, err
	}
	answer := &poddv1.ListPromptsResponse{Prompts: []*poddv1.Prompt{{Name: "compact", About: "Summarize the conversation so far"}}}
	for _, p := range found {
		answer.Prompts = append(answer.Prompts, &poddv1.Prompt{Name: p.Name, About: p.About, Arguments: p.Arguments})
	}
	return answer, nil
}

// CompletePath completes an @path.
func (s *pods) CompletePath(ctx context.Context, r *poddv1.CompletePathRequest) (*poddv1.CompletePathResponse, error) {
	found, err := s.host.CompletePath(ctx, r.GetPod(), r.GetPrefix(), int(r.GetLimit()))
	if err != nil {
		return nil, err
	}
	return &poddv1.CompletePathResponse{Paths: found}, nil
}

// GetImage returns the bytes of an image.
func (s *pods) GetImage(ctx context.Context, r *poddv1.GetImageRequest) (*poddv1.GetImageResponse, error) {
	data, err := s.host.Store.Image(ctx, r.GetDigest())
	if err != nil {
		return nil, err
	}
	return &poddv1.GetImageResponse{Data: data}, nil
}

func send(out poddv1.PodService_StreamServer, ev pod.StreamEvent) error {
	switch {
	case ev.Record != nil:
		// The entry is sent as its stored bytes, appended to the empty message, which is how
		// protobuf encodes a field.
		m := new(poddv1.StreamResponse)
		m.ProtoReflect().SetUnknown(wire.StreamEntry(0, ev.Record.Entry))
		return out.Send(m)
	case ev.CaughtUp != nil:
		caughtUp := &poddv1.CaughtUp{Seq: int64(*ev.CaughtUp)}
		return out.Send(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_CaughtUp{CaughtUp: caughtUp}})
	case ev.InFlight != nil:
		inFlight := wire.InFlightToProto(ev.InFlight)
		return out.Send(&poddv1.StreamResponse{Kind: &poddv1.StreamResponse_InFlight{InFlight: inFlight}})
	}
	for _, d := range ev.Deltas {
		delta := &poddv1.StreamResponse_Delta{Delta: wire.DeltaToProto(d)}
		if err := out.Send(&poddv1.StreamResponse{Kind: delta}); err != nil {
			return err
		}
	}
	return nil
}
