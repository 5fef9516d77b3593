package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"podd/pkg/item"
)

// The tools by which a model reaches tools that requests do not list.
const (
	FindTool = "find_tool"
	CallTool = "call_tool"
)

// NewSearched is a Registry whose Specs list some tools and, in place of others, find_tool and
// call_tool, by which a model finds and calls them. whose says in a few words which tools
// those are. Lookup finds all of them by their own names.
//
// Requests stay the same while whose does, whatever the other tools are.
func NewSearched(listed, others []Tool, whose string) (*Registry, error) {
	f := &finder{tools: others}
	find := New(FindTool, fmt.Sprintf("Find tools by words of what they do: %s. Gives their names, descriptions and arguments.", whose), f.find,
		Validate((*findArgs).check), Confined[findArgs]())
	r, err := NewRegistry(append(listed[:len(listed):len(listed)], find, caller{})...)
	if err != nil {
		return nil, err
	}
	strict := make([]Tool, len(others))
	for i, t := range others {
		strict[i] = &checked{Tool: t}
	}
	found, err := NewRegistry(strict...)
	if err != nil {
		return nil, err
	}
	for name, t := range found.tools {
		if _, twice := r.tools[name]; twice {
			return nil, badTool("two tools are called %s: rename or remove one", name)
		}
		r.tools[name] = t
	}
	r.finder = f
	return r, nil
}

// Real is a call as everything but a request has it: of a call of call_tool, the call of the
// tool that it names. One that cannot be read stays as it is, and its Check says why.
func (r *Registry) Real(c item.ToolCall) item.ToolCall {
	if c.Name != CallTool {
		return c
	}
	if t, ok := r.tools[CallTool]; ok {
		if _, ok := t.(caller); !ok {
			return c
		}
	}
	if name, arguments, err := within(c.Arguments); err == nil {
		c.Via, c.Name, c.Arguments = CallTool, name, arguments
	}
	return c
}

// maxHead is how far into unfinished arguments of call_tool Named looks, in bytes.
const maxHead = 4 << 10

// Named is the tool that an unfinished call is of: that of its name or, where call_tool was
// called, the one that its arguments name. It is empty until they do.
func (r *Registry) Named(name, arguments string) string {
	if _, ok := r.tools[name].(caller); !ok {
		return name
	}
	d := json.NewDecoder(strings.NewReader(arguments[:min(len(arguments), maxHead)]))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	for {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		if key == "name" {
			named, _ := d.Token()
			text, _ := named.(string)
			return text
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return ""
		}
	}
}

// Unknown says to a model that a tool does not exist, and what to do.
func (r *Registry) Unknown(name string) string {
	if r.finder == nil {
		return fmt.Sprintf("there is no tool %q; use one of those listed", name)
	}
	near := r.finder.near(name)
	if len(near) == 0 {
		return fmt.Sprintf("there is no tool %q; use one of those listed, or find one with %s", clip(name), FindTool)
	}
	return fmt.Sprintf("there is no tool %q; did you mean %s? %s shows their arguments", clip(name), strings.Join(near, ", "), FindTool)
}

// within reads the arguments of call_tool: the name of a tool, and its arguments as the model
// wrote them.
func within(text string) (name, arguments string, err error) {
	if _, err := parseStrict("the arguments are", text); err != nil {
		return "", "", err
	}
	var args struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&args); err != nil {
		return "", "", errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	// Some models write the object as a string.
	if inner := ""; json.Unmarshal(args.Arguments, &inner) == nil && inner != "" {
		args.Arguments = json.RawMessage(inner)
	}
	arguments = string(bytes.TrimSpace(args.Arguments))
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	switch {
	case args.Name == "":
		return "", "", errors.New("missing name")
	case args.Name == CallTool:
		return "", "", errors.New("name must be another tool's")
	case arguments[0] != '{' || !json.Valid([]byte(arguments)):
		return "", "", errors.New("arguments must be an object")
	}
	return args.Name, arguments, nil
}

// caller is call_tool. A call of it that can be read is one of the tool that it names, so this
// only says what is wrong with others.
type caller struct{}

const callSchema = `{"type":"object","properties":{"name":{"type":"string"},` +
	`"arguments":{"type":"object","description":"as find_tool shows them","additionalProperties":true}},"required":["name","arguments"],"additionalProperties":false}`

func (caller) Spec() item.ToolSpec {
	return item.ToolSpec{Name: CallTool, Description: "Call a tool that " + FindTool + " shows, by its exact name.", Schema: callSchema}
}

func (caller) Check(arguments string) (string, error) {
	_, _, err := within(arguments)
	if err == nil {
		return arguments, nil
	}
	return "", refuse(fmt.Errorf(`%w; write {"name": "the exact name", "arguments": {...}}, with the arguments that %s shows`, err, FindTool))
}

func (caller) Access(string) Access { return Access{Confined: true} }

func (caller) Run(context.Context, *Invocation) (Output, error) {
	return Output{}, errors.New("it runs only the tool that it names")
}

func (caller) Recover(context.Context, *Invocation) (Output, item.Recovery, error) {
	return Output{}, item.RecoveryUnknown, nil
}

// Repeats is as the tool says.
func (c *checked) Repeats() bool {
	r, ok := c.Tool.(Repeater)
	return ok && r.Repeats()
}

// checked is a tool whose arguments are held against its schema before it runs: a model that
// found it may have seen the schema long ago.
type checked struct {
	Tool
	once   sync.Once
	schema *jsonschema.Resolved
}

// maxShownSchema bounds what an error shows of a schema, in bytes.
const maxShownSchema = 4 << 10

func (c *checked) Check(arguments string) (string, error) {
	canonical, err := c.Tool.Check(arguments)
	if err != nil {
		return "", err
	}
	c.once.Do(c.resolve)
	var value any
	if c.schema == nil || json.Unmarshal([]byte(canonical), &value) != nil {
		return canonical, nil
	}
	err = c.schema.Validate(value)
	if err == nil {
		return canonical, nil
	}
	schema := c.Spec().Schema
	if len(schema) > maxShownSchema {
		schema = "those that " + FindTool + " shows"
	}
	return "", refuse(fmt.Errorf("%s; its arguments are %s", Clip(mismatch(err), 300), schema))
}

// resolve leaves a schema that podd cannot read to the tool.
func (c *checked) resolve() {
	if resolved, err := resolve(c.Spec().Schema); err == nil {
		c.schema = resolved
	}
}
