package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Prefix is the prefix of the names of all tools of MCP servers.
const Prefix = "mcp__"

// maxName is the longest tool name that endpoints accept.
const maxName = 64

var notInName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// nameOf is the name of a server's tool as a model sees it, different from all in taken. A
// server's tools get the same names each time if they are named in the same order.
func nameOf(server, toolName string, taken map[string]bool) string {
	plain := Prefix + server + "__" + notInName.ReplaceAllString(toolName, "_")
	name, seed := plain, toolName
	for len(name) > maxName || taken[name] {
		sum := sha256.Sum256([]byte(seed))
		mark := "_" + hex.EncodeToString(sum[:4])
		name = plain[:min(len(plain), maxName-len(mark))] + mark
		// A server can have used this name for another tool.
		seed += "\x00"
	}
	taken[name] = true
	return name
}

// wanted says whether the configuration offers a tool.
func wanted(patterns []string, name string) bool {
	if len(patterns) == 0 {
		return true
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		matched, err := path.Match(p, name)
		return err == nil && matched || p == name
	})
}

// The names of the tools that podd adds for a server.
const (
	readResource = "read_resource"
	getPrompt    = "get_prompt"
)

// offer turns what a server offers into tools.
func (i *instance) offer(l *Listing) []tool.Tool {
	if l == nil {
		return nil
	}
	def := i.definition()
	taken := map[string]bool{}
	var tools []tool.Tool
	add := func(f tool.Foreign) {
		t, err := tool.NewForeign(f)
		if err != nil {
			i.m.Logger.Warn("tool of an MCP server left out", "server", def.Name, "error", err)
			return
		}
		tools = append(tools, t)
	}
	for _, t := range l.Tools {
		if !wanted(def.Tools, t.Name) {
			continue
		}
		o := &offered{i: i, tool: t}
		add(tool.Foreign{
			ToolSpec: item.ToolSpec{
				Name: nameOf(def.Name, t.Name, taken), Schema: t.parameters(),
				Description: cmp.Or(t.Description, fmt.Sprintf("A tool of the MCP server %s.", def.Name)),
			},
			Touches: o.touches, Call: o.run, Repeats: t.Hint == hintReads || def.Replay == ReplaySafe,
		})
	}
	note := func() tool.Access { return tool.Access{} }
	if len(l.Resources) > 0 && wanted(def.Tools, readResource) {
		add(tool.Foreign{
			ToolSpec: item.ToolSpec{
				Name: nameOf(def.Name, readResource, taken), Schema: resourceSchema,
				Description: fmt.Sprintf("Read a resource of the MCP server %s. Without uri it lists them.", def.Name),
			},
			Touches: note, Call: i.readResource, Repeats: true,
		})
	}
	if len(l.Prompts) > 0 && wanted(def.Tools, getPrompt) {
		add(tool.Foreign{
			ToolSpec: item.ToolSpec{
				Name: nameOf(def.Name, getPrompt, taken), Schema: promptSchema,
				Description: fmt.Sprintf("Get a prompt of the MCP server %s. Without name it lists them, with their arguments.", def.Name),
			},
			Touches: note, Call: i.getPrompt, Repeats: true,
		})
	}
	return tools
}

const (
	resourceSchema = `{"properties":{"uri":{"description":"the resource's URI","type":"string"}},"type":"object"}`
	promptSchema   = `{"properties":{"arguments":{"additionalProperties":{"type":"string"},"description":"the prompt's arguments, all strings","type":"object"},"name":{"description":"the prompt's name","type":"string"}},"type":"object"}`
)

// offered is a tool in the form that a turn knows.
type offered struct {
	i    *instance
	tool Tool
	// asked says that a person was asked about this form.
	asked atomic.Bool
}

// touches requires approval if the tool has changed.
func (o *offered) touches() tool.Access {
	a := tool.Access{Note: o.tool.Hint}
	r := o.i.m.record
	if r.accepted(o.i.key, o.tool) {
		return a
	}
	o.asked.Store(true)
	server, says := o.i.definition().Name, word(text(o.tool.Description, 200))
	if r.known(o.i.key, o.tool.Name) {
		a.Protected = []string{fmt.Sprintf("the MCP server %s has changed this tool since it was last approved; its description is now: %s", server, says)}
	} else {
		a.Protected = []string{fmt.Sprintf("the MCP server %s did not have this tool when podd first saw it; its description is: %s", server, says)}
	}
	return a
}

// run calls the tool. A person who approved the call has approved the tool's form.
func (o *offered) run(ctx context.Context, c *tool.Invocation) (tool.Output, error) {
	if !o.i.m.record.accepted(o.i.key, o.tool) {
		if !c.Approved || !o.asked.Load() {
			return tool.Output{}, o.i.sentence(errOther, false)
		}
		if err := o.i.m.record.accept(o.i.key, o.tool); err != nil {
			o.i.m.Logger.Error("cannot store the approved form of a tool", "tool", o.tool.Name, "error", err)
		}
	}
	return o.i.call(ctx, o.tool, c)
}

// readResource reads a resource, or lists them.
func (i *instance) readResource(ctx context.Context, c *tool.Invocation) (out tool.Output, err error) {
	var args struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		return out, fmt.Errorf("invalid arguments: uri must be a string")
	}
	if args.URI == "" {
		return tool.FromString(i.resources()), nil
	}
	text, err := i.resource(ctx, c, args.URI)
	if err != nil {
		return out, err
	}
	return tool.FromString(text), nil
}

// resource is a resource as text.
func (i *instance) resource(ctx context.Context, c *tool.Invocation, uri string) (text string, err error) {
	err = i.ask(ctx, c, func(ctx context.Context, l *link, _ *calling) error {
		result, err := l.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		var parts []string
		for _, c := range result.Contents {
			if c != nil {
				parts = append(parts, resourceText(c))
			}
		}
		text = cmp.Or(strings.Join(parts, "\n"), "the resource is empty")
		return nil
	})
	return text, err
}

// Resource reads a resource of one of the servers for a person. known is false for a server that is not among them.
func (m *Manager) Resource(ctx context.Context, servers []Server, dir, name, uri string) (text string, known bool, err error) {
	n := slices.IndexFunc(servers, func(s Server) bool { return s.Name == name })
	if n < 0 {
		return "", false, nil
	}
	text, err = m.instance(servers[n], dir).resource(ctx, &tool.Invocation{}, uri)
	return text, true, err
}

// resources is the list of resources as text.
func (i *instance) resources() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var b strings.Builder
	for _, r := range i.listing.Resources {
		fmt.Fprintf(&b, "%s: %s", r.URI, r.Name)
		if r.Template {
			b.WriteString(" (a template: replace the names in braces)")
		}
		if r.Description != "" {
			b.WriteString(": " + word(r.Description))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// getPrompt gets a prompt, or lists them.
func (i *instance) getPrompt(ctx context.Context, c *tool.Invocation) (out tool.Output, err error) {
	var args struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if err := json.Unmarshal([]byte(c.Arguments), &args); err != nil {
		return out, fmt.Errorf("invalid arguments: name must be a string, and arguments an object of strings")
	}
	if args.Name == "" {
		return tool.FromString(i.prompts()), nil
	}
	err = i.ask(ctx, c, func(ctx context.Context, l *link, _ *calling) error {
		result, err := l.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: args.Name, Arguments: args.Arguments})
		if err != nil {
			return err
		}
		var parts []string
		for _, message := range result.Messages {
			if message != nil && message.Content != nil {
				parts = append(parts, fmt.Sprintf("%s: %s", word(string(message.Role)), contentText(message.Content)))
			}
		}
		out = tool.FromString(cmp.Or(strings.Join(parts, "\n"), "the prompt is empty"))
		return nil
	})
	return out, err
}

// prompts is the list of prompts as text.
func (i *instance) prompts() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var b strings.Builder
	for _, p := range i.listing.Prompts {
		fmt.Fprintf(&b, "%s(%s)", p.Name, strings.Join(p.Arguments, ", "))
		if p.Description != "" {
			b.WriteString(": " + word(p.Description))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
