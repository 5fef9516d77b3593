package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"pgregory.net/rapid"

	"podd/pkg/llm/llmtest"
	"podd/pkg/llm/openai"
)

// drawn is an answer in fragments.
type drawn struct {
	texts, arguments []string
}

func drawAnswer(t *rapid.T) drawn {
	part := rapid.SliceOfN(rapid.String(), 0, 6)
	return drawn{part.Draw(t, "texts"), part.Draw(t, "arguments")}
}

// message encodes one message of a stream.
func message(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return "data: " + string(data) + "\n\n"
}

type object = map[string]any

// typedUsage, typedChunk and typedEvent are what OpenAI documents of its streams.
type (
	typedUsage struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	}
	typedChunk struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
				Calls   []struct {
					Function struct {
						Arguments string `json:"arguments"`
					} `json:"function"`
				} `json:"tool_calls"`
			} `json:"delta"`
		} `json:"choices"`
		Usage typedUsage `json:"usage"`
	}
	typedEvent struct {
		Type  string `json:"type"`
		Delta string `json:"delta"`
	}
)

// Decoding a stream of chunks gives the same as openai-go's stream of typed chunks.
func TestChunksAreTyped(t *testing.T) {
	c := clients(t)[openai.APIChat]
	rapid.Check(t, func(t *rapid.T) {
		d := drawAnswer(t)
		chunk := func(delta object, finish any) string {
			return message(object{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
				"choices": []object{{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}, "usage": nil})
		}
		var b strings.Builder
		for _, text := range d.texts {
			b.WriteString(chunk(object{"content": text}, nil))
		}
		b.WriteString(chunk(object{"tool_calls": []object{{"index": 0, "id": "x", "type": "function", "function": object{"name": "f", "arguments": ""}}}}, nil))
		for _, a := range d.arguments {
			b.WriteString(chunk(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": a}}}}, nil))
		}
		b.WriteString(chunk(object{}, "tool_calls"))
		b.WriteString(message(object{"id": "c1", "model": "m", "choices": []object{}, "usage": object{"prompt_tokens": 7, "completion_tokens": 3}}))
		b.WriteString("data: [DONE]\n\n")

		text, arguments := "", ""
		var usage typedUsage
		stream := ssestream.NewStream[typedChunk](decoderOf(b.String()), nil)
		for stream.Next() {
			chunk := stream.Current()
			for _, choice := range chunk.Choices {
				text += choice.Delta.Content
				for _, call := range choice.Delta.Calls {
					arguments += call.Function.Arguments
				}
			}
			if chunk.Usage.Input > 0 {
				usage = chunk.Usage
			}
		}
		if stream.Err() != nil {
			t.Fatal(stream.Err())
		}
		got, err := llmtest.Collect(c.Decode(t.Context(), "text/event-stream", strings.NewReader(b.String())))
		if err != nil {
			t.Fatal(err)
		}
		sameAnswer(t, got, text, arguments)
		if got.End.Usage.Input != usage.Input || got.End.Usage.Output != usage.Output {
			t.Fatalf("usage %+v, want %+v", got.End.Usage, usage)
		}
	})
}

// The same for the events of the Responses API.
func TestEventsAreTyped(t *testing.T) {
	c := clients(t)[openai.APIResponses]
	rapid.Check(t, func(t *rapid.T) {
		d := drawAnswer(t)
		var b strings.Builder
		seq := 0
		event := func(kind string, o object) {
			seq++
			o["type"], o["sequence_number"] = kind, seq
			fmt.Fprintf(&b, "event: %s\n%s", kind, message(o))
		}
		event("response.output_item.added", object{"output_index": 0, "item": object{"id": "m1", "type": "message"}})
		for _, text := range d.texts {
			event("response.output_text.delta", object{"output_index": 0, "item_id": "m1", "content_index": 0, "delta": text})
		}
		event("response.output_item.added", object{"output_index": 1, "item": object{"id": "f1", "type": "function_call", "call_id": "x", "name": "f"}})
		for _, a := range d.arguments {
			event("response.function_call_arguments.delta", object{"output_index": 1, "item_id": "f1", "delta": a})
		}
		event("response.completed", object{"response": object{"id": "r1", "status": "completed", "usage": object{"input_tokens": 7, "output_tokens": 3}}})

		text, arguments := "", ""
		stream := ssestream.NewStream[typedEvent](decoderOf(b.String()), nil)
		for stream.Next() {
			switch ev := stream.Current(); ev.Type {
			case "response.output_text.delta":
				text += ev.Delta
			case "response.function_call_arguments.delta":
				arguments += ev.Delta
			}
		}
		if stream.Err() != nil {
			t.Fatal(stream.Err())
		}
		got, err := llmtest.Collect(c.Decode(t.Context(), "text/event-stream", strings.NewReader(b.String())))
		if err != nil {
			t.Fatal(err)
		}
		sameAnswer(t, got, text, arguments)
	})
}

func decoderOf(text string) ssestream.Decoder {
	return ssestream.NewDecoder(&http.Response{Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(text)))})
}

func sameAnswer(t *rapid.T, got llmtest.Result, text, arguments string) {
	if got.Text() != text {
		t.Fatalf("text %q, want %q", got.Text(), text)
	}
	calls := got.Calls()
	if len(calls) != 1 || calls[0].Name != "f" || calls[0].CallID != "x" || calls[0].Arguments != arguments {
		t.Fatalf("calls %+v, want the arguments %q", calls, arguments)
	}
}
