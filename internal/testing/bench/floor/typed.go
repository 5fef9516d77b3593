//go:build typed

package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// typed uses openai-go's parameters and streams.
type typed struct {
	client   *openai.Client
	messages []openai.ChatCompletionMessageParamUnion
	tools    []openai.ChatCompletionToolUnionParam
}

func init() { typedModel = newTyped }

func newTyped(baseURL string) func() model {
	client := openai.NewClient(option.WithBaseURL(baseURL), option.WithAPIKey("none"))
	var schema shared.FunctionParameters
	if err := json.Unmarshal([]byte(toolSchema), &schema); err != nil {
		panic(err)
	}
	tools := []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(
		shared.FunctionDefinitionParam{Name: "shell", Description: param.NewOpt("Run a command."), Parameters: schema})}
	return func() model {
		return &typed{client: &client, tools: tools, messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(instructions)}}
	}
}

func (t *typed) user(text string) { t.messages = append(t.messages, openai.UserMessage(text)) }

func (t *typed) result(callID, text string) {
	t.messages = append(t.messages, openai.ToolMessage(text, callID))
}

func (t *typed) assistant(a answer) {
	m := openai.ChatCompletionAssistantMessageParam{}
	if a.text != "" {
		m.Content.OfString = param.NewOpt(a.text)
	}
	for _, c := range a.calls {
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: c.id, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.name, Arguments: c.arguments},
			},
		})
	}
	t.messages = append(t.messages, openai.ChatCompletionMessageParamUnion{OfAssistant: &m})
}

func (t *typed) ask(ctx context.Context, delta func(string)) (a answer, err error) {
	stream := t.client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: "bench", Messages: t.messages, Tools: t.tools,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	})
	defer stream.Close()
	var text strings.Builder
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			if choice.Delta.Content != "" {
				text.WriteString(choice.Delta.Content)
				delta(choice.Delta.Content)
			}
			for _, part := range choice.Delta.ToolCalls {
				a.add(int(part.Index), part.ID, part.Function.Name, part.Function.Arguments)
			}
		}
	}
	a.text = text.String()
	return a, stream.Err()
}
