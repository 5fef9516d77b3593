package tool

import (
	"context"
	"errors"
	"strings"

	"podd/pkg/item"
)

// Foreign is a tool of another program, which describes its arguments and checks them.
type Foreign struct {
	// ToolSpec has a name that NewForeign accepts, a description, and the schema of an
	// object, which NewForeign rewrites in the words that all model APIs accept.
	item.ToolSpec
	// Touches says what a call accesses. It is called for each decision.
	Touches func() Access
	// Call does the work. The arguments are a JSON object, its keys sorted and named as in the
	// schema.
	Call func(ctx context.Context, call *Invocation) (Output, error)
	// Repeats says that a call may run again; see Repeater.
	Repeats bool
}

// NewForeign makes a tool from another program's. A name, description or schema that no
// Registry accepts is an error of kind KindInvalid, reason BAD_TOOL.
func NewForeign(f Foreign) (Tool, error) {
	t := foreign{f: f}
	if f.Touches == nil || f.Call == nil {
		return nil, badTool("the tool %s lacks a function", f.Name)
	}
	if _, err := NewRegistry(t); err != nil {
		return nil, err
	}
	var err error
	if t.f.Schema, t.old, err = inDialect(f.Schema); err != nil {
		return nil, badTool("the tool %s cannot be offered: %v", f.Name, err)
	}
	return t, nil
}

type foreign struct {
	f Foreign
	// old has the names of properties that the model reads under other ones.
	old map[string]string
}

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
	canonical, err := encodeSorted(value)
	if err != nil {
		return "", refuse(err)
	}
	return canonical, nil
}

func (t foreign) Access(string) Access { return t.f.Touches() }

func (t foreign) Run(ctx context.Context, call *Invocation) (Output, error) {
	canonical, err := t.Check(call.Arguments)
	if err != nil {
		return Output{}, err
	}
	checked := *call
	if checked.Arguments, err = asNamed(canonical, t.old); err != nil {
		return Output{}, err
	}
	return t.f.Call(ctx, &checked)
}

// Recover finds nothing: the other program's work on a call was lost with the connection.
func (t foreign) Recover(context.Context, *Invocation) (Output, item.Recovery, error) {
	return Output{}, item.RecoveryUnknown, nil
}

// Repeats is as the program says.
func (t foreign) Repeats() bool { return t.f.Repeats }
