package main

import (
	"context"
	"encoding/json"
)

// model holds one conversation and asks for the next answer to it. Its user is one
// goroutine.
type model interface {
	user(text string)
	assistant(a answer)
	result(callID, text string)
	// ask sends the conversation and hands on each fragment of text.
	ask(ctx context.Context, delta func(string)) (answer, error)
}

// answer is what a model said.
type answer struct {
	text  string
	calls []call
}

// call is a call of the shell tool.
type call struct {
	id, name, arguments string
}

// command is what the call wants to run.
func (c call) command() string {
	var args struct{ Command string }
	_ = json.Unmarshal([]byte(c.arguments), &args)
	return args.Command
}

const (
	instructions = "You are a coding agent. Use the shell."
	toolSchema   = `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`
)
