package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
)

// BenchmarkStream reads an answer of 1,000 words; the time is for the whole.
func BenchmarkStream(b *testing.B) {
	word := map[string]string{
		openai.APIChat:      `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763600000,"model":"gpt-4.1","service_tier":"default","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x7Fq"}` + "\n\n",
		openai.APIResponses: "event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_0123456789abcdef","output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"x7Fq"}` + "\n\n",
	}
	end := map[string]string{
		openai.APIChat:      final,
		openai.APIResponses: `data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n",
	}
	for api, c := range clients(b) {
		b.Run(api, func(b *testing.B) {
			text := strings.Repeat(word[api], 1000) + end[api]
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for _, err := range c.Decode(b.Context(), "text/event-stream", strings.NewReader(text)) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkBody encodes a request of 200,000 tokens: whole, and as the one that follows a
// request with one step less.
func BenchmarkBody(b *testing.B) {
	r := llm.Request{Setup: item.Setup{Model: "m", Instructions: "Be brief."}, Items: []item.Item{item.UserMessage{Text: "go"}}}
	line := "func (s *Server) handle(w http.ResponseWriter, r *http.Request) { // \"quoted\"\n"
	for i := range 100 {
		id := fmt.Sprint("call_", i)
		r.Items = append(r.Items,
			item.AssistantMessage{Text: "Reading the next file."},
			item.ToolCall{CallID: id, Name: "read_file", Arguments: `{"path":"pkg/server/server.go"}`},
			item.ToolResult{CallID: id, Output: item.Output{Summary: "read_file: pkg/server/server.go, 100 lines", Content: strings.Repeat(line, 100)}})
	}
	less := r
	less.Items = r.Items[:len(r.Items)-3]
	for api, c := range clients(b) {
		b.Run(api+"/whole", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body, err := c.Body(r)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(body)))
			}
		})
		b.Run(api+"/next", func(b *testing.B) {
			b.ReportAllocs()
			encode := c.Encoder()
			for i := 0; b.Loop(); i++ {
				body, err := encode([]llm.Request{less, r}[i%2])
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(body.Len()))
			}
		})
	}
}
