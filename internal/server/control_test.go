package server_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"podd/internal/server"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

func textSubmit(id, text string, mode poddv1.SubmitMode) *poddv1.SubmitRequest {
	return &poddv1.SubmitRequest{
		Pod: "p", RequestId: id, Mode: mode,
		Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: text}}}},
	}
}

// follow reads the log from its start to the first entry that found accepts, and returns
// it.
func follow(t *testing.T, conn *grpc.ClientConn, found func(*poddv1.Entry) bool) *poddv1.Entry {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := poddv1.NewPodServiceClient(conn).Stream(ctx, &poddv1.StreamRequest{Pod: "p", Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if e := m.GetEntry(); e != nil && found(e) {
			return e
		}
	}
}

// A client can list and withdraw the queued submits of a paused pod; a note joins the
// next turn.
func TestPauseInboxNotify(t *testing.T) {
	conn := serve(t)
	pods := poddv1.NewPodServiceClient(conn)
	paused, err := pods.Pause(t.Context(), &poddv1.PauseRequest{Pod: "p", Reason: "lunch"})
	if err != nil || paused.GetPod().GetState() != poddv1.PodState_POD_STATE_PAUSED || paused.GetPod().GetPause().GetReason() != "lunch" {
		t.Fatalf("paused: %v, %v", paused, err)
	}
	for id, mode := range map[string]poddv1.SubmitMode{"r1": poddv1.SubmitMode_SUBMIT_MODE_QUEUE, "r2": poddv1.SubmitMode_SUBMIT_MODE_STEER} {
		if _, err := pods.Submit(t.Context(), textSubmit(id, "text of "+id, mode)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := pods.ListInbox(t.Context(), &poddv1.ListInboxRequest{Pod: "p"})
	if err != nil || len(list.GetItems()) != 2 {
		t.Fatalf("inbox %v, %v", list, err)
	}
	for _, it := range list.GetItems() {
		if it.GetText() != "text of "+it.GetRequestId() || it.GetSeq() == 0 || it.GetTime() == nil ||
			(it.GetMode() == poddv1.SubmitMode_SUBMIT_MODE_STEER) != (it.GetRequestId() == "r2") {
			t.Errorf("item %v", it)
		}
	}
	if _, err := pods.CancelInboxItem(t.Context(), &poddv1.CancelInboxItemRequest{Pod: "p", RequestId: "r2"}); err != nil {
		t.Error(err)
	}
	_, err = pods.CancelInboxItem(t.Context(), &poddv1.CancelInboxItemRequest{Pod: "p", RequestId: "r2"})
	if status.Code(err) != codes.NotFound || reason(t, err) != "NOT_WAITING" {
		t.Errorf("taken back twice: %v", err)
	}
	back := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetWithdrawn() != nil })
	if ids := back.GetWithdrawn().GetRequestIds(); len(ids) != 1 || ids[0] != "r2" {
		t.Errorf("taken back: %v", back)
	}
	note, err := pods.Notify(t.Context(), &poddv1.NotifyRequest{Pod: "p", Text: "mind the gap"})
	if err != nil {
		t.Fatal(err)
	}
	resumed, err := pods.Resume(t.Context(), &poddv1.ResumeRequest{Pod: "p"})
	if err != nil || resumed.GetPod().GetPause() != nil {
		t.Fatalf("resumed: %v, %v", resumed, err)
	}
	joined := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetItem().GetSystemMessage() != nil })
	if joined.GetItem().GetSystemMessage().GetText() != "mind the gap" || joined.GetSeq() <= note.GetSeq() || joined.GetTurn() != 1 {
		t.Errorf("the note joined as %v", joined)
	}
	follow(t, conn, func(e *poddv1.Entry) bool { return e.GetTurnEnded() != nil })
}

// Another spec replaces the whole old one.
func TestUpdatePod(t *testing.T) {
	pods := poddv1.NewPodServiceClient(serve(t))
	p, err := pods.GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "p"})
	if err != nil {
		t.Fatal(err)
	}
	spec := p.GetPod().GetSpec()
	spec.Model, spec.Ask = "other", "never"
	spec.Limits = &poddv1.Limits{MaxSteps: 3, MaxTurnTime: durationpb.New(1e9), TotalCost: 1.5}
	got, err := pods.UpdatePod(withToken(t.Context()), &poddv1.UpdatePodRequest{Pod: "p", Spec: spec})
	if err != nil || got.GetPod().GetSpec().GetModel() != "other" || got.GetPod().GetSpec().GetAsk() != "never" ||
		got.GetPod().GetSpec().GetLimits().GetTotalCost() != 1.5 || got.GetPod().GetSpec().GetLimits().GetMaxSteps() != 3 {
		t.Errorf("updated: %v, %v", got, err)
	}
	for _, bad := range []*poddv1.PodSpec{nil, {Dir: spec.GetDir(), Ask: "sometimes"}, {Dir: "relative"}} {
		if _, err := pods.UpdatePod(withToken(t.Context()), &poddv1.UpdatePodRequest{Pod: "p", Spec: bad}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// An update changes only the fields in update_mask; a field that specs do not have is
// refused.
func TestUpdatePodByMask(t *testing.T) {
	pods := poddv1.NewPodServiceClient(serve(t))
	p, err := pods.GetPod(t.Context(), &poddv1.GetPodRequest{Pod: "p"})
	if err != nil {
		t.Fatal(err)
	}
	dir := p.GetPod().GetSpec().GetDir()
	update := func(spec *poddv1.PodSpec, fields ...string) (*poddv1.PodSpec, error) {
		r, err := pods.UpdatePod(withToken(t.Context()), &poddv1.UpdatePodRequest{
			Pod: "p", Spec: spec, UpdateMask: &fieldmaskpb.FieldMask{Paths: fields},
		})
		return r.GetPod().GetSpec(), err
	}
	steps := []struct {
		given  *poddv1.PodSpec
		fields []string
		want   *poddv1.PodSpec
	}{
		{
			&poddv1.PodSpec{Dir: "/nowhere", Model: "m", Limits: &poddv1.Limits{MaxSteps: 3, TotalCost: 2}},
			[]string{"model", "limits.total_cost"},
			&poddv1.PodSpec{Dir: dir, Model: "m", Limits: &poddv1.Limits{TotalCost: 2}},
		},
		{
			&poddv1.PodSpec{Limits: &poddv1.Limits{MaxTurnTime: durationpb.New(1e9)}, Ask: "never"},
			[]string{"limits.max_turn_time", "model"},
			&poddv1.PodSpec{Dir: dir, Limits: &poddv1.Limits{TotalCost: 2, MaxTurnTime: durationpb.New(1e9)}},
		},
		{nil, []string{"limits"}, &poddv1.PodSpec{Dir: dir}},
	}
	for _, step := range steps {
		if got, err := update(step.given, step.fields...); err != nil || !proto.Equal(got, step.want) {
			t.Errorf("%v of %v: %v, %v; want %v", step.fields, step.given, got, err, step.want)
		}
	}
	for _, unknown := range []string{"colour", "model.name", "rules.tool", "limits.colour", ""} {
		if _, err := update(&poddv1.PodSpec{Model: "x"}, unknown); reason(t, err) != "UNKNOWN_FIELD" {
			t.Errorf("%q: %v", unknown, err)
		}
	}
	if _, err := update(nil, "dir"); reason(t, err) != "BAD_DIR" {
		t.Errorf("without a workspace: %v", err)
	}
	only := &poddv1.PodSpec{Dir: dir, Rules: []*poddv1.Rule{{Tool: "shell", Command: "ls", Decision: "only"}}}
	_, err = pods.CreatePod(withToken(t.Context()), &poddv1.CreatePodRequest{Name: "only", Spec: only})
	if _, updated := update(only, "rules"); reason(t, err) != "RULE" || reason(t, updated) != "RULE" {
		t.Errorf("a decision that no client gives: %v, %v", err, updated)
	}
}

// A call that asks is listed with what will run. The first answer wins; a later client
// learns who answered.
func TestApprovals(t *testing.T) {
	conn := serveModel(t, &poddv1.PodSpec{Ask: "always"}, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo hi"}`})
		}
		return scripted.Say(scripted.Text("done"))
	})
	approvals := poddv1.NewApprovalServiceClient(conn)
	if _, err := poddv1.NewPodServiceClient(conn).Submit(t.Context(), textSubmit("r", "go", 0)); err != nil {
		t.Fatal(err)
	}
	asked := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetApprovalRequested() != nil })
	for _, pod := range []string{"p", ""} {
		list, err := approvals.ListApprovals(t.Context(), &poddv1.ListApprovalsRequest{Pod: pod})
		if err != nil || len(list.GetApprovals()) != 1 {
			t.Fatalf("of %q: %v, %v", pod, list, err)
		}
		a := list.GetApprovals()[0]
		if a.GetPodName() != "p" || a.GetPod() == "" || a.GetTurn() != 1 || a.GetTool() != "shell" || !strings.Contains(a.GetArguments(), `"echo hi"`) ||
			string(a.GetDigest()) != string(asked.GetApprovalRequested().GetDigest()) || len(a.GetDigest()) != 32 || a.GetQuestion() == "" ||
			a.GetTime() == nil || a.GetExpires() == nil || a.GetCallId() != asked.GetApprovalRequested().GetCallId() {
			t.Errorf("of %q: %v", pod, a)
		}
	}
	call := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetItem().GetToolCall() != nil })
	answer := &poddv1.ResolveApprovalRequest{Pod: "p", CallSeq: call.GetSeq(), Approve: true, Client: "test\x1b", Digest: make([]byte, 32)}
	if _, err := approvals.ResolveApproval(withToken(t.Context()), answer); reason(t, err) != "APPROVAL_CHANGED" || status.Code(err) != codes.FailedPrecondition {
		t.Errorf("with another digest: %v", err)
	}
	answer.Digest, answer.Always = asked.GetApprovalRequested().GetDigest(), true
	got, err := approvals.ResolveApproval(withToken(t.Context()), answer)
	if err != nil || got.GetRule().GetCommand() != "echo hi" || got.GetRule().GetDecision() != "allow" {
		t.Errorf("answered: %v, %v", got, err)
	}
	// An update by fields does not remove the rule that an answer added after the spec was
	// read.
	changed, err := poddv1.NewPodServiceClient(conn).UpdatePod(withToken(t.Context()), &poddv1.UpdatePodRequest{
		Pod: "p", Spec: &poddv1.PodSpec{Model: "other"}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"model"}},
	})
	if err != nil || changed.GetPod().GetSpec().GetModel() != "other" || len(changed.GetPod().GetSpec().GetRules()) != 1 {
		t.Errorf("updated: %v, %v", changed, err)
	}
	by := server.AnsweredBy("test\x1b")
	_, err = approvals.ResolveApproval(withToken(t.Context()), answer)
	if reason(t, err) != "APPROVAL_RESOLVED" || status.Code(err) != codes.FailedPrecondition || !strings.Contains(status.Convert(err).Message(), "approved by "+by) {
		t.Errorf("answered twice: %v", err)
	}
	answer.CallSeq = 1
	if _, err := approvals.ResolveApproval(withToken(t.Context()), answer); status.Code(err) != codes.NotFound {
		t.Errorf("no such call: %v", err)
	}
	resolved := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetApprovalResolved() != nil })
	if resolved.GetApprovalResolved().GetBy() != by || !strings.HasPrefix(by, `test\x1b`) {
		t.Errorf("answered by %q", resolved.GetApprovalResolved().GetBy())
	}
	follow(t, conn, func(e *poddv1.Entry) bool { return e.GetTurnEnded() != nil })
}

// A client without a name, or with a very long one, still has a name in the answer.
func TestAnsweredBy(t *testing.T) {
	for _, client := range []string{"", strings.Repeat("ä", 500)} {
		by := server.AnsweredBy(client)
		if by == "" || len(by) > 200 || strings.ContainsRune(by, '\ufffd') {
			t.Errorf("%q is %q", client, by)
		}
	}
}

// An answer that comes after the question expired is refused with its own reason, and the
// call is denied.
func TestApprovalThatExpired(t *testing.T) {
	var passed atomic.Int64
	conn := serveWith(t, &poddv1.PodSpec{Ask: "always"}, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo hi"}`})
		}
		return scripted.Say(scripted.Text("done"))
	}, func(c *pod.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	})
	if _, err := poddv1.NewPodServiceClient(conn).Submit(t.Context(), textSubmit("r", "go", 0)); err != nil {
		t.Fatal(err)
	}
	asked := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetApprovalRequested() != nil }).GetApprovalRequested()
	call := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetItem().GetToolCall() != nil })
	passed.Store(int64(30 * 24 * time.Hour))
	_, err := poddv1.NewApprovalServiceClient(conn).ResolveApproval(withToken(t.Context()), &poddv1.ResolveApprovalRequest{
		Pod: "p", CallSeq: call.GetSeq(), Approve: true, Client: "test", Digest: asked.GetDigest(),
	})
	if reason(t, err) != "APPROVAL_EXPIRED" || status.Code(err) != codes.FailedPrecondition ||
		!strings.Contains(status.Convert(err).Message(), "expired at "+asked.GetExpires().AsTime().Format(time.DateTime)) {
		t.Errorf("answered late: %v", err)
	}
	resolved := follow(t, conn, func(e *poddv1.Entry) bool { return e.GetApprovalResolved() != nil }).GetApprovalResolved()
	if resolved.GetApproved() || resolved.GetBy() != "podd" {
		t.Errorf("resolved %v", resolved)
	}
	follow(t, conn, func(e *poddv1.Entry) bool { return e.GetTurnEnded() != nil })
}
