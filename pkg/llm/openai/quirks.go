package openai

import "strings"

// quirks are the known deviations of hosted services that a request must respect.
// Self-hosted servers need none.
type quirks struct {
	// noStreamOptions: the service answers 422 to stream_options, and sends the
	// usage without being asked.
	noStreamOptions bool
	// needsReasoning: the service answers 400 to a call without reasoning_content. Where
	// another model made the call it gets the text that this one gave to read.
	needsReasoning bool
	// unsigned is sent in place of another model's signature of a call: the service answers
	// 400 to a call without any.
	unsigned string
}

// hostQuirks are the quirks of each host that has some.
var hostQuirks = map[string]quirks{
	"api.mistral.ai":                    {noStreamOptions: true},
	"codestral.mistral.ai":              {noStreamOptions: true},
	"api.deepseek.com":                  {needsReasoning: true},
	"api.moonshot.ai":                   {needsReasoning: true},
	"api.moonshot.cn":                   {needsReasoning: true},
	"generativelanguage.googleapis.com": {unsigned: `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`},
}

func quirksOf(host string) quirks { return hostQuirks[strings.ToLower(host)] }

// wantsEncryptedReasoning says whether to ask for encrypted reasoning. OpenAI's
// models that do not reason answer 400 to it; they are a closed set by now, so
// every other name is asked.
func wantsEncryptedReasoning(model string) bool {
	name := strings.ToLower(model)
	name = strings.TrimPrefix(name[strings.LastIndexByte(name, '/')+1:], "ft:")
	for _, prefix := range []string{"gpt-3", "gpt-4", "chatgpt-4o", "gpt-5-chat"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return true
}

// wantsAnswerToTools says whether a model's template refuses a user message right
// after a tool result, wherever the model is hosted: the Mistral family does.
func wantsAnswerToTools(model string) bool {
	return containsAny(strings.ToLower(model), "mistral", "ministral", "magistral", "devstral", "codestral", "mixtral", "pixtral")
}
