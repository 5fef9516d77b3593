// Package llmtest is the conformance suite of llm.Model implementations. It uses a real
// endpoint over HTTP, whose answers it sets through Open.
//
//	func TestConformance(t *testing.T) {
//		llmtest.Run(t, func(t *testing.T, answers ...llmtest.Answer) llmtest.Endpoint { ... })
//	}
package llmtest
