package acp

import (
	"fmt"

	"github.com/coder/acp-go-sdk"

	"podd/pkg/item"
)

// stopReason is the protocol's name for how a turn ended. An ending without a name is an
// error.
func stopReason(turn int64, end item.TurnEnded) (acp.StopReason, error) {
	switch end.Outcome {
	case item.OutcomeFinished:
		return acp.StopReasonEndTurn, nil
	case item.OutcomeCancelled:
		return acp.StopReasonCancelled, nil
	case item.OutcomeLimit:
		switch end.Reason {
		case "MAX_TOKENS", "TOTAL_TOKENS":
			return acp.StopReasonMaxTokens, nil
		case "MAX_STEPS", "MAX_TOOL_CALLS", "MAX_GO_ONS", "LOOP":
			return acp.StopReasonMaxTurnRequests, nil
		}
	case item.OutcomeFailed:
		if end.Reason == "CONTENT_FILTER" {
			return acp.StopReasonRefusal, nil
		}
	}
	return "", item.Errorf(item.KindInternal, end.Reason, "%s", ending(turn, end))
}

// ending says how a turn ended in one sentence.
func ending(turn int64, end item.TurnEnded) string {
	how := string(end.Outcome)
	switch end.Outcome {
	case item.OutcomeLimit:
		how = "was stopped by a limit"
	case item.OutcomeCancelled, item.OutcomeInterrupted:
		how = "was " + how
	}
	if end.Cause == "" {
		return fmt.Sprintf("turn %d %s", turn, how)
	}
	return fmt.Sprintf("turn %d %s: %s", turn, how, end.Cause)
}

// turnUsage is what a turn was billed.
func turnUsage(u item.Usage) *acp.Usage {
	return &acp.Usage{
		InputTokens: int(u.Input), OutputTokens: int(u.Output), TotalTokens: int(item.Sum(u.Input, u.Output)),
		CachedReadTokens: acp.Ptr(int(u.CachedInput)), CachedWriteTokens: acp.Ptr(int(u.CacheWrite)), ThoughtTokens: acp.Ptr(int(u.Reasoning)),
	}
}
