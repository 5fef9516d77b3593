// Package metrics counts what podd does, for a person or a program that monitors it. A
// Recorder is a hook and wraps the model, so that turns do not depend on it; Write writes
// the Prometheus text format. Metrics contain names of models and tools, numbers and
// outcomes, but no text of a conversation.
//
// There are no histograms, and no client library: Prometheus' own would bring six modules for
// 250 lines.
//
// Rank 2: it imports pkg/hook, pkg/llm and pkg/item.
package metrics
