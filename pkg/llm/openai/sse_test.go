package openai_test

import (
	"testing"

	"podd/pkg/llm/llmtest"
)

// FuzzStream feeds both decoders any input: no panic, and never an event after the end or
// out of order.
func FuzzStream(f *testing.F) {
	for _, data := range streamFiles(f) {
		f.Add(data)
	}
	read := decode(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for api := range clients(t) {
			for _, kind := range []string{"text/event-stream", "application/json"} {
				llmtest.CheckStream(t, read, api, kind, data)
			}
		}
	})
}
