package bridge

import (
	"context"
	"encoding/json"

	"podd/internal/clients/ownprompts"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// promptParams name a pod, and a text that may begin with /NAME.
type promptParams struct {
	Pod  string `json:"pod"`
	Text string `json:"text"`
}

// listedPrompt is a prompt that a text may begin with, as /NAME.
type listedPrompt struct {
	Name      string `json:"name"`
	About     string `json:"about"`
	Arguments string `json:"arguments"`
}

// prompts are what a prompt to a pod may begin with.
func (b *bridge) prompts(ctx context.Context, pod string) ([]ownprompts.Prompt, error) {
	got, err := b.client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: pod})
	if err != nil {
		return nil, err
	}
	parts, err := b.client.Pods().GetContext(ctx, &poddv1.GetContextRequest{Pod: pod})
	if err != nil {
		return nil, err
	}
	workspace := got.GetPod().GetSpec().GetDir()
	if b.config.Remote {
		workspace = ""
	}
	return ownprompts.All(b.config.Env, workspace, parts.GetFixed()), nil
}

// listPrompts lists the prompts.
func (b *bridge) listPrompts(ctx context.Context, r request) (json.RawMessage, error) {
	var p promptParams
	if err := plainParams(r, &p); err != nil {
		return nil, err
	}
	all, err := b.prompts(ctx, p.Pod)
	if err != nil {
		return nil, err
	}
	list := []listedPrompt{}
	for _, p := range all {
		list = append(list, listedPrompt{p.Name, p.Description(), p.Arguments()})
	}
	return lineOf(struct {
		Prompts []listedPrompt `json:"prompts"`
	}{list}), nil
}

// expandPrompt is what to submit for a text that may begin with /NAME, or the name of what podd does itself instead.
func (b *bridge) expandPrompt(ctx context.Context, r request) (json.RawMessage, error) {
	var p promptParams
	if err := plainParams(r, &p); err != nil {
		return nil, err
	}
	all, err := b.prompts(ctx, p.Pod)
	if err != nil {
		return nil, err
	}
	result := struct {
		Text    string `json:"text"`
		Compact bool   `json:"compact"`
	}{Text: p.Text}
	found, typed, ok := ownprompts.Find(all, p.Text)
	switch {
	case !ok:
	case found.Name == ownprompts.Compact:
		result.Compact = true
	default:
		if result.Text, err = found.With(typed); err != nil {
			return nil, item.Errorf(item.KindInvalid, "COMMAND", "%v", err)
		}
	}
	return lineOf(result), nil
}
