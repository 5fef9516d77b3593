// Package llm defines what podd needs from a model: a request goes out as one body of
// bytes, and the answer comes back as a stream of events that ends whole or with a
// classified error.
//
// It knows no endpoint. The adapter to OpenAI-compatible endpoints is llm/openai;
// llm/scripted serves a scripted model over HTTP.
package llm
