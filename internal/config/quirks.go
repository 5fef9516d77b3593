package config

import (
	"encoding/json"

	"podd/pkg/llm/exchange"
)

// quirkSettings are the keys of [endpoints.NAME.quirks]: those of quirks.toml, except api,
// which is a key of the endpoint.
func quirkSettings(q *exchange.Quirks) []*setting {
	const follows = "by host and model"
	unsigned := text("unsigned", `members of a JSON object, such as '"a":1'`, &q.Unsigned, func(text string) bool {
		return text == "" || json.Valid([]byte("{"+text+"}"))
	})
	thinking := choice("thinking", &q.Thinking, exchange.ThinkingAdaptive, exchange.ThinkingBudget, exchange.ThinkingNone)
	all := []*setting{
		flag("answers_tools", &q.AnswersTools),
		flag("cache_key", &q.CacheKey),
		flag("cache_marks", &q.CacheMarks),
		number("max_tokens", &q.MaxTokens, 0, 1<<30),
		flag("needs_reasoning", &q.NeedsReasoning),
		flag("no_encrypted_reasoning", &q.NoEncryptedReasoning),
		flag("no_stream_options", &q.NoStreamOptions),
		flag("no_temperature", &q.NoTemperature),
		flag("old_max_tokens", &q.OldMaxTokens),
		flag("short_call_ids", &q.ShortCallIDs),
		thinking.like(`"budget"`),
		unsigned,
	}
	for _, s := range all {
		s.quiet = true
		s.hinting(follows)
	}
	return all
}
