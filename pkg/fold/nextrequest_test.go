package fold_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
)

// BenchmarkNextRequest measures podd's work between a result and the next request in a
// context of 200,000 tokens: the fold of a call and its result, the decision on pruning,
// the count of tokens, the body. The goal is 3 ms.
func BenchmarkNextRequest(b *testing.B) {
	for _, api := range []string{openai.APIChat, openai.APIResponses} {
		b.Run(api, func(b *testing.B) {
			m, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1", API: api})
			if err != nil {
				b.Fatal(err)
			}
			defer m.Close()
			const steps, most = 200, 250
			var c *conversation
			b.ReportAllocs()
			for b.Loop() {
				if c == nil || c.step == most {
					b.StopTimer()
					c = newConversation(b, m)
					for range steps {
						c.call()
					}
					c.next()
					b.StartTimer()
				}
				c.call()
				b.SetBytes(int64(c.next()))
			}
		})
	}
}

// conversation is a log of one turn that grows.
type conversation struct {
	b     *testing.B
	state *fold.Context
	seq   item.Seq
	step  int

	encode llm.Encoder
}

func newConversation(b *testing.B, m llm.Model) *conversation {
	state, err := fold.NewContext(fold.ContextConfig{Prune: fold.Config{Economic: fold.EconomicConfig{MinGain: 1e12}}})
	if err != nil {
		b.Fatal(err)
	}
	c := &conversation{b: b, state: state, encode: llm.NewEncoder(m)}
	c.add(item.Setup{Model: "m", API: openai.APIChat, Instructions: "Be brief."})
	c.add(item.ItemAdded{Item: item.UserMessage{Text: "Go on."}})
	return c
}

func (c *conversation) add(k item.Kind) {
	c.seq++
	c.state.Add(item.Entry{Seq: c.seq, Time: time.Unix(int64(c.seq), 0), Turn: 1, Kind: k})
}

// call adds a call and its result of 4 KB, a thousand tokens.
func (c *conversation) call() {
	c.step++
	id := fmt.Sprint("call_", c.step)
	c.add(item.ItemAdded{Item: item.ToolCall{CallID: id, Name: "read_file", Arguments: `{"path":"pkg/server/server.go"}`}})
	c.add(item.ItemAdded{Item: item.ToolResult{CallID: id, Tool: "read_file", Output: item.Output{
		Summary: "read_file: pkg/server/server.go, 50 lines", Kind: item.OutputRead, Path: fmt.Sprint("file-", c.step),
		Content: strings.Repeat("func (s *Server) handle(w http.ResponseWriter, r *http.Request) { // \"quoted\"\n", 50)}}})
}

// next returns the size of the next request's body.
func (c *conversation) next() int {
	c.state.Decide(time.Unix(int64(c.seq), 0))
	body, err := c.encode(llm.Request{Setup: c.state.Request().Setup, Items: c.state.Request().Items})
	if err != nil {
		c.b.Fatal(err)
	}
	c.state.Tokens()
	return len(body)
}
