package openai

import "strings"

// quirks are the known deviations of hosted services that a request must respect.
// Self-hosted servers need none.
type quirks struct {
	// noStreamOptions: the service answers 422 to stream_options, and sends the
	// usage without being asked.
	noStreamOptions bool
}

func quirksOf(host string) quirks {
	host = strings.ToLower(host)
	return quirks{
		noStreamOptions: host == "api.mistral.ai" || host == "codestral.mistral.ai",
	}
}

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
