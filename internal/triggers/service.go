package triggers

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Register serves TriggerService.
func (w *Wing) Register(g grpc.ServiceRegistrar) {
	poddv1.RegisterTriggerServiceServer(g, &service{wing: w})
}

type service struct {
	poddv1.UnimplementedTriggerServiceServer
	wing *Wing
}

// SetTrigger adds or changes a trigger.
func (s *service) SetTrigger(ctx context.Context, r *poddv1.SetTriggerRequest) (*poddv1.SetTriggerResponse, error) {
	spec, err := specFrom(r.GetSpec())
	if err != nil {
		return nil, err
	}
	t, err := s.wing.Set(ctx, Setting{Pod: r.GetPod(), Name: r.GetName(), Spec: spec, Change: r.GetChange(), NewSecret: r.GetNewSecret(), By: "a person"})
	if err != nil {
		return nil, err
	}
	return &poddv1.SetTriggerResponse{Trigger: message(t)}, nil
}

// RemoveTrigger removes a trigger.
func (s *service) RemoveTrigger(ctx context.Context, r *poddv1.RemoveTriggerRequest) (*poddv1.RemoveTriggerResponse, error) {
	return &poddv1.RemoveTriggerResponse{}, s.wing.Remove(ctx, r.GetPod(), r.GetName())
}

// PauseTrigger pauses a trigger, or goes on with it.
func (s *service) PauseTrigger(ctx context.Context, r *poddv1.PauseTriggerRequest) (*poddv1.PauseTriggerResponse, error) {
	t, err := s.wing.Pause(ctx, r.GetPod(), r.GetName(), "a person", r.GetResume())
	if err != nil {
		return nil, err
	}
	return &poddv1.PauseTriggerResponse{Trigger: message(t)}, nil
}

// FireTrigger fires a trigger.
func (s *service) FireTrigger(ctx context.Context, r *poddv1.FireTriggerRequest) (*poddv1.FireTriggerResponse, error) {
	receipt, again, err := s.wing.Fire(ctx, Event{Pod: r.GetPod(), Name: r.GetName(), ID: r.GetId(), Data: r.GetData()})
	if err != nil {
		return nil, err
	}
	return &poddv1.FireTriggerResponse{Receipt: receiptMessage(receipt), Duplicate: again}, nil
}

// ListTriggers lists triggers.
func (s *service) ListTriggers(ctx context.Context, r *poddv1.ListTriggersRequest) (*poddv1.ListTriggersResponse, error) {
	all, err := s.wing.List(ctx, r.GetPod())
	answer := new(poddv1.ListTriggersResponse)
	for _, t := range all {
		answer.Triggers = append(answer.Triggers, message(t))
	}
	return answer, err
}

// ListReceipts lists receipts.
func (s *service) ListReceipts(ctx context.Context, r *poddv1.ListReceiptsRequest) (*poddv1.ListReceiptsResponse, error) {
	var since time.Time
	if r.GetSince() != nil {
		since = r.GetSince().AsTime()
	}
	all, err := s.wing.Receipts(ctx, r.GetPod(), r.GetName(), int(r.GetLimit()), since)
	answer := new(poddv1.ListReceiptsResponse)
	for _, r := range all {
		answer.Receipts = append(answer.Receipts, receiptMessage(r))
	}
	return answer, err
}

// GetTriggerSecret is the secret of a webhook.
func (s *service) GetTriggerSecret(ctx context.Context, r *poddv1.GetTriggerSecretRequest) (*poddv1.GetTriggerSecretResponse, error) {
	secret, err := s.wing.Secret(ctx, r.GetPod(), r.GetName())
	return &poddv1.GetTriggerSecretResponse{Secret: secret}, err
}

// specFrom is the spec of a message.
func specFrom(m *poddv1.TriggerSpec) (Spec, error) {
	s := Spec{
		Cron: m.GetCron(), Zone: m.GetZone(), Every: m.GetEvery().AsDuration(), After: m.GetAfter(), File: m.GetFile(), Event: m.GetEvent(),
		Webhook: m.GetWebhook(), Select: m.GetSelect(),
		Prompt: m.GetPrompt(), New: m.GetNewPod(), Checkout: m.GetCheckout(), Missed: m.GetMissed(), Skip: m.GetSkipOverlap(),
		Budget: m.GetBudgetUsd(), Plan: m.GetPlan(), NoQuestions: m.GetNoQuestions(),
	}
	if m.GetAt() != nil {
		if err := m.GetAt().CheckValid(); err != nil {
			return s, invalid("the time of at can't be: %s", err)
		}
		s.At = m.GetAt().AsTime()
	}
	for _, o := range m.GetOn() {
		outcome, ok := wire.OutcomeFromProto(o)
		if !ok {
			return s, invalid("%s is no outcome of a turn", o)
		}
		s.On = append(s.On, outcome)
	}
	return s, nil
}

// message is a trigger as clients get it.
func message(t Trigger) *poddv1.Trigger {
	spec := &poddv1.TriggerSpec{
		Cron: t.Cron, Zone: t.Zone, After: t.Spec.After, File: t.File, Event: t.Event, Webhook: t.Webhook, Select: t.Select, Prompt: t.Prompt,
		NewPod: t.New, Checkout: t.Checkout, Missed: t.Missed,
		SkipOverlap: t.Skip, BudgetUsd: t.Budget, Plan: t.Plan, NoQuestions: t.NoQuestions,
	}
	if t.Every > 0 {
		spec.Every = durationpb.New(t.Every)
	}
	spec.At = stamp(t.At)
	for _, o := range t.On {
		spec.On = append(spec.On, wire.OutcomeToProto(o))
	}
	return &poddv1.Trigger{
		Pod: t.Pod.ID, PodName: t.Pod.Name, Name: t.Name, Spec: spec, Added: stamp(t.Added), ByModel: t.Own, Next: stamp(t.Next), Fires: t.Fires,
		FiresToday: int64(t.Today), SpentTodayUsd: t.Spent, Waiting: int32(t.Waiting), Working: int32(t.Working), Paused: t.Paused, Last: t.Last, //nolint:gosec // Few.
		Condition: t.condition(t.After), Url: t.URL,
	}
}

// receiptMessage is a receipt as clients get it.
func receiptMessage(r Receipt) *poddv1.Receipt {
	return &poddv1.Receipt{
		Seq: int64(r.Seq), Kind: poddv1.ReceiptKind(r.Kind), Number: r.Number, Due: stamp(r.Due), FirstDue: stamp(r.First), Count: int64(r.Count),
		EventId: r.Event, Pod: r.To, PodName: r.ToName, SubmittedSeq: int64(r.Submitted), Turn: r.Turn, Outcome: r.Outcome, CostUsd: r.Cost,
		Cause: r.Cause,
	}
}

// stamp is a time, nil for a zero one.
func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
