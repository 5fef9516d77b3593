package wire

import (
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

var outcomes = enum[item.Outcome]{
	poddv1.Outcome_OUTCOME_FINISHED:    item.OutcomeFinished,
	poddv1.Outcome_OUTCOME_CANCELLED:   item.OutcomeCancelled,
	poddv1.Outcome_OUTCOME_FAILED:      item.OutcomeFailed,
	poddv1.Outcome_OUTCOME_INTERRUPTED: item.OutcomeInterrupted,
	poddv1.Outcome_OUTCOME_LIMIT:       item.OutcomeLimit,
}

// OutcomeToProto is the message of an outcome.
func OutcomeToProto(o item.Outcome) poddv1.Outcome { return poddv1.Outcome(outcomes.number(o)) }

// OutcomeFromProto is the outcome of a message; ok is false if this podd does not know it.
func OutcomeFromProto(p poddv1.Outcome) (o item.Outcome, ok bool) {
	o = outcomes.name(int32(p))
	return o, o != ""
}

func turnEndedToProto(k item.TurnEnded) *poddv1.TurnEnded {
	return &poddv1.TurnEnded{
		Outcome:   poddv1.Outcome(outcomes.number(k.Outcome)),
		Cause:     clean(k.Cause),
		Reason:    clean(k.Reason),
		Usage:     UsageToProto(k.Usage),
		Steps:     toInt32(k.Steps),
		ToolCalls: toInt32(k.ToolCalls),
		CostUsd:   k.Cost,
	}
}

func turnEndedFromProto(p *poddv1.TurnEnded) item.TurnEnded {
	return item.TurnEnded{
		Outcome:   outcomes.name(int32(p.GetOutcome())),
		Cause:     p.GetCause(),
		Reason:    p.GetReason(),
		Usage:     UsageFromProto(p.GetUsage()),
		Steps:     int(p.GetSteps()),
		ToolCalls: int(p.GetToolCalls()),
		Cost:      p.GetCostUsd(),
	}
}
