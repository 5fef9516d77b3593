package scripted

import "podd/pkg/item"

// chatWriter writes chat.completion.chunk objects as OpenAI does.
type chatWriter struct {
	s     *stream
	id    string
	calls int
}

type chatChunk struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage"`
}

type chatChoice struct {
	Index        int       `json:"index"`
	Delta        chatDelta `json:"delta"`
	FinishReason *string   `json:"finish_reason"`
}

type chatDelta struct {
	Role             string     `json:"role,omitempty"`
	Content          *string    `json:"content,omitempty"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	ToolCalls        []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	Index    int      `json:"index"`
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function"`
}

type chatUsage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	Total         int64 `json:"total_tokens"`
	PromptDetails struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens,omitempty"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (w *chatWriter) chunk(choices []chatChoice, usage *chatUsage) {
	w.s.event("", chatChunk{
		ID: "chatcmpl-" + w.id, Object: "chat.completion.chunk", Model: w.s.r.Model, Choices: choices, Usage: usage,
	})
}

func (w *chatWriter) delta(d chatDelta) { w.chunk([]chatChoice{{Delta: d}}, nil) }

func (w *chatWriter) begin() {
	empty := ""
	w.delta(chatDelta{Role: "assistant", Content: &empty})
}

func (w *chatWriter) text(words string, reasoning, _, _ bool) {
	if reasoning {
		w.delta(chatDelta{ReasoningContent: words})
		return
	}
	w.delta(chatDelta{Content: &words})
}

// call sends the head of a call and then its arguments in two pieces.
func (w *chatWriter) call(c Call) {
	i := w.calls
	w.calls++
	w.delta(chatDelta{ToolCalls: []chatCall{{Index: i, ID: c.ID, Type: "function", Function: function{Name: c.Name}}}})
	for _, piece := range halves(c.Arguments) {
		w.delta(chatDelta{ToolCalls: []chatCall{{Index: i, Function: function{Arguments: piece}}}})
	}
}

// halves cuts text on a rune edge in the middle.
func halves(s string) []string {
	n := 0
	for i := range s {
		if i > len(s)/2 {
			break
		}
		n = i
	}
	return []string{s[:n], s[n:]}
}

func (w *chatWriter) end(stop string, usage *item.Usage) {
	reason := "stop"
	switch {
	case stop == "length":
		reason = "length"
	case stop == "filter":
		reason = "content_filter"
	case w.calls > 0:
		reason = "tool_calls"
	}
	w.chunk([]chatChoice{{FinishReason: &reason}}, nil)
	if usage != nil {
		u := &chatUsage{Prompt: usage.Input, Completion: usage.Output, Total: usage.Input + usage.Output}
		u.PromptDetails.Cached, u.PromptDetails.Written = usage.CachedInput, usage.CacheWrite
		u.CompletionDetails.Reasoning = usage.Reasoning
		w.chunk([]chatChoice{}, u)
	}
	w.s.buf.WriteString("data: [DONE]\n\n")
}
