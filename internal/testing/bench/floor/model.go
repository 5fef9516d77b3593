package main

import (
	"context"
	"encoding/json"
)

// model has one conversation and requests the next answer to it. It is for one goroutine.
type model interface {
	user(text string)
	assistant(a answer)
	result(callID, text string)
	// ask sends the conversation and passes on each fragment of text.
	ask(ctx context.Context, delta func(string)) (answer, error)
}

// answer is a model's answer.
type answer struct {
	text  string
	calls []call
}

// call is a call of the shell tool.
type call struct {
	id, name, arguments string
}

// command is the command of the call.
func (c call) command() string {
	var args struct{ Command string }
	_ = json.Unmarshal([]byte(c.arguments), &args)
	return args.Command
}

const (
	instructions = "You are a coding agent. Use the shell."
	toolSchema   = `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`
)

// add adds a fragment of a call.
func (a *answer) add(index int, id, name, arguments string) {
	for len(a.calls) <= index {
		a.calls = append(a.calls, call{})
	}
	c := &a.calls[index]
	c.id += id
	c.name += name
	c.arguments += arguments
}
