// Package metrics counts what podd does, for a person or a program that watches it. A
// Recorder is a hook and wraps the model, so that nothing of a turn knows of it; Write
// gives the Prometheus text format. Nothing of what is said in a turn is in it: names of
// models and tools, numbers, outcomes.
//
// Rank 2: it imports pkg/hook, pkg/llm and pkg/item.
package metrics
