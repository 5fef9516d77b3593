package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"podd/pkg/item"
)

// Foreign is a tool of another program, which describes its arguments and checks them.
type Foreign struct {
	// ToolSpec has a name that NewForeign accepts, a description, and the schema of an
	// object.
	item.ToolSpec
	// Touches says what a call accesses. It is called for each decision.
	Touches func() Access
	// Call does the work. The arguments are a JSON object, its keys sorted.
	Call func(ctx context.Context, call *Invocation) (Output, error)
}

// NewForeign makes a tool from another program's. A name, description or schema that no
// Registry accepts is an error of kind KindInvalid, reason BAD_TOOL.
func NewForeign(f Foreign) (Tool, error) {
	t := foreign{f}
	if f.Touches == nil || f.Call == nil {
		return nil, badTool("the tool %s lacks a function", f.Name)
	}
	if _, err := NewRegistry(t); err != nil {
		return nil, err
	}
	return t, nil
}

type foreign struct{ f Foreign }

func (t foreign) Spec() item.ToolSpec { return t.f.ToolSpec }

// Check accepts any object, written as strictly as the arguments of New's tools.
func (t foreign) Check(arguments string) (string, error) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	value, err := parseStrict("the arguments are", arguments)
	if err != nil {
		return "", refuse(err)
	}
	if _, ok := value.(map[string]any); !ok {
		return "", refuse(errors.New("the arguments must be an object, not " + describe(value)))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return "", refuse(err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func (t foreign) Access(string) Access { return t.f.Touches() }

func (t foreign) Run(ctx context.Context, call *Invocation) (Output, error) {
	canonical, err := t.Check(call.Arguments)
	if err != nil {
		return Output{}, err
	}
	checked := *call
	checked.Arguments = canonical
	return t.f.Call(ctx, &checked)
}

// Recover finds nothing: the other program's work on a call was lost with the connection.
func (t foreign) Recover(context.Context, *Invocation) (Output, bool, error) {
	return Output{}, false, nil
}
