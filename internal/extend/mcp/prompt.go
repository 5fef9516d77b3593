package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/internal/workspace/picture"
	"podd/internal/workspace/prompts"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// Prompts are those of servers that podd knows, each as SERVER:NAME; it starts none.
func (m *Manager) Prompts(servers []Server, dir string) (list []Prompt) {
	for _, s := range servers {
		listing := m.instance(s, dir).offered(m.base, false)
		if listing == nil {
			continue
		}
		for _, p := range listing.Prompts {
			if !strings.Contains(p.Name, " ") {
				list = append(list, Prompt{Name: s.Name + ":" + p.Name, Description: word(p.Description), Arguments: p.Arguments})
			}
		}
	}
	return list
}

// Prompt gets a prompt of one of the servers for a person who gave its arguments in their order: the last one takes all that are
// left. known is false for a server that is not among them.
func (m *Manager) Prompt(ctx context.Context, servers []Server, dir, server, name string, words []string) (got prompts.Expanded, known bool, err error) {
	n := slices.IndexFunc(servers, func(s Server) bool { return s.Name == server })
	if n < 0 {
		return got, false, nil
	}
	i := m.instance(servers[n], dir)
	params := &sdk.GetPromptParams{Name: name}
	if listing := i.offered(ctx, true); listing != nil {
		if params.Arguments, err = listing.arguments(name, words); err != nil {
			return got, true, err
		}
	}
	err = i.ask(ctx, &tool.Invocation{}, func(ctx context.Context, l *link, _ *calling) error {
		result, err := l.session.GetPrompt(ctx, params)
		if err == nil {
			got = expanded(result)
		}
		return err
	})
	return got, true, err
}

// arguments gives a prompt's arguments the words that a person typed.
func (l *Listing) arguments(name string, words []string) (map[string]string, error) {
	n := slices.IndexFunc(l.Prompts, func(p Prompt) bool { return p.Name == name })
	if n < 0 {
		var names []string
		for _, p := range l.Prompts {
			names = append(names, p.Name)
		}
		if len(names) == 0 {
			return nil, errors.New("the server has no prompts")
		}
		return nil, errors.New("there is no such prompt: the server has " + some(names))
	}
	given := map[string]string{}
	all := l.Prompts[n].Arguments
	for at, argument := range all {
		name, optional := strings.CutSuffix(argument, "?")
		switch {
		case len(words) == 0 && !optional:
			return nil, fmt.Errorf("it needs %s", name)
		case len(words) == 0:
		case at == len(all)-1:
			given[name], words = strings.Join(words, " "), nil
		default:
			given[name], words = words[0], words[1:]
		}
	}
	if len(words) > 0 {
		return nil, errors.New("it takes no arguments")
	}
	return given, nil
}

// expanded joins the messages of a prompt. A message that is not the user's begins with its role.
func expanded(r *sdk.GetPromptResult) (got prompts.Expanded) {
	var parts []string
	for _, message := range r.Messages {
		if message == nil || message.Content == nil {
			continue
		}
		text, part := partOf(message.Content)
		if part != nil {
			got.With = append(got.With, *part)
		}
		if message.Role != "user" {
			text = word(string(message.Role)) + ": " + text
		}
		parts = append(parts, text)
	}
	got.Text = strings.Join(parts, "\n\n")
	return got
}

// partOf is a block as text, and what is added besides: an image, or a resource that is text.
func partOf(c sdk.Content) (text string, part *prompts.Part) {
	p := &prompts.Part{Name: "an image"}
	if e, ok := c.(*sdk.EmbeddedResource); ok && e.Resource != nil {
		p.Name, p.Text = word(e.Resource.URI), e.Resource.Text
		if len(e.Resource.Blob) == 0 {
			return "[" + p.Name + "]", p
		}
	}
	data, pictured := pictureOf(c)
	if !pictured {
		return contentText(c), nil
	}
	image, err := picture.Read(data, "")
	if err != nil {
		return fmt.Sprintf("[image of %d bytes, not shown: it %v]", len(data), err), nil
	}
	p.Text, p.Images = image.String(), []item.Image{image}
	return "[" + p.Name + "]", p
}
