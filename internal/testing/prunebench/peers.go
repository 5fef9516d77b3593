package main

import (
	"slices"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
)

// policy is a row of the comparison: a mode of podd, or the rule of another agent.
type policy struct {
	name string
	mode fold.Mode
	// choose are the results that a peer leaves out of the next request; nil for a mode of podd.
	choose func(*seen) []item.Seq
}

// seen is what a peer's rule decides on. A result that it left out stays out.
type seen struct {
	// results are all so far, oldest first, with the tokens that are sent of them.
	results []result
	// tokens is the size of the next request. events counts the user's messages, calls and results: an answer's text is
	// part of the call beside it.
	tokens, events int
	// turn counts the user's messages; begins says that the next request is the first of its turn.
	turn   int
	begins bool
	// idle is the time since the last answer; 0 without one.
	idle time.Duration
}

// result is a tool result: its tokens, its turn and its number among the events.
type result struct {
	seq                 item.Seq
	tokens, turn, event int
	// sent says that a request carried it.
	sent bool
}

// policies are the modes of podd, and the rules of peers with their default settings. The names in the comments are
// those of the settings in the peer's source or documentation.
var policies = []policy{
	{name: "off", mode: fold.ModeOff},
	{name: "turns", mode: fold.ModeTurns},
	{name: "economic", mode: fold.ModeEconomic},
	// opencode, packages/opencode/src/session/compaction.ts: PRUNE_PROTECT 40,000, PRUNE_MINIMUM 20,000; at the end of a
	// turn, of results before the last two.
	{name: "opencode", choose: func(s *seen) []item.Seq {
		if !s.begins {
			return nil
		}
		return beyond(slices.DeleteFunc(slices.Clone(s.results), func(r result) bool { return r.turn > s.turn-3 }), 40_000, 20_000)
	}},
	// gemini-cli, toolOutputMaskingService.ts: toolProtectionThreshold 50,000, minPrunableTokensThreshold 30,000,
	// protectLatestTurn.
	{name: "gemini-cli", choose: func(s *seen) []item.Seq {
		return beyond(slices.DeleteFunc(slices.Clone(s.results), func(r result) bool { return !r.sent }), 50_000, 30_000)
	}},
	// Claude Code, time-based microcompact: gapThresholdMinutes 60, keepRecent 5.
	{name: "claude-code", choose: func(s *seen) []item.Seq {
		if s.idle <= time.Hour {
			return nil
		}
		return allBut(s.results, 5)
	}},
	// Anthropic's API, clear_tool_uses_20250919: trigger 100,000 input tokens, keep 3 tool uses.
	{name: "anthropic-clear", choose: func(s *seen) []item.Seq {
		if s.tokens <= 100_000 {
			return nil
		}
		return allBut(s.results, 3)
	}},
	// SWE-agent, history_processors.py: last_n_observations, n 5, polling 1.
	{name: "swe-agent", choose: func(s *seen) []item.Seq { return allBut(s.results, 5) }},
	// OpenHands, ObservationMaskingCondenserConfig: attention_window 100 events.
	{name: "openhands", choose: func(s *seen) (old []item.Seq) {
		for _, r := range s.results {
			if r.event <= s.events-100 {
				old = append(old, r.seq)
			}
		}
		return old
	}},
}

// allBut are all results but the newest n.
func allBut(results []result, n int) (old []item.Seq) {
	for _, r := range results[:max(0, len(results)-n)] {
		old = append(old, r.seq)
	}
	return old
}

// beyond are the results before the newest ones with so many tokens, if they have a minimum together.
func beyond(results []result, protected, minimum int) (old []item.Seq) {
	newer, sum := 0, 0
	for _, r := range slices.Backward(results) {
		if newer += r.tokens; newer > protected {
			old, sum = append(old, r.seq), sum+r.tokens
		}
	}
	if sum <= minimum {
		return nil
	}
	slices.Reverse(old)
	return old
}
