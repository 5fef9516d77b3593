package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"podd/pkg/item"
)

// Option adjusts a tool made by New.
type Option[A any] func(*typed[A])

// Validate adds a check of arguments that the Go type cannot express. Check runs it last.
// It may set defaults and normalize values: policy and the tool see the arguments as it
// leaves them. It must accept its own result unchanged. Its error goes to the model: it
// names the field and says what to write instead.
func Validate[A any](check func(*A) error) Option[A] {
	return func(t *typed[A]) { t.checks = append(t.checks, check) }
}

// New makes a tool from a function. A is a struct, whose fields become the properties of
// the arguments:
//
//   - the json tag names a field; with omitempty or omitzero it is optional, otherwise
//     required;
//   - the jsonschema tag describes it to the model;
//   - the enum tag lists the values that a string (or each of a list) may take,
//     separated by commas.
//
// Arguments are decoded strictly: unknown, duplicate and case-variant keys, wrong types,
// null for a required field and trailing data are refused with an error that names the
// field. Null for an optional field means absent, and empty arguments mean {}.
//
// New panics when the name is invalid, the description is empty or A cannot be described.
// These are mistakes of the program, which its first test finds.
func New[A any](name, description string, run func(context.Context, *Invocation, A) (Output, error), options ...Option[A]) Tool {
	if err := checkName(name); err != nil {
		panic("tool.New: " + err.Error())
	}
	if description == "" || run == nil {
		panic("tool.New: " + name + " needs a description and a function")
	}
	schema, text, err := schemaFor[A]()
	if err != nil {
		panic(fmt.Sprintf("tool.New: arguments of %s: %v", name, err))
	}
	t := &typed[A]{
		spec:   item.ToolSpec{Name: name, Description: description, Schema: text},
		schema: schema,
		run:    run,
	}
	for _, option := range options {
		option(t)
	}
	return t
}

// Without leaves an argument out: calls cannot have it.
func Without[A any](name string) Option[A] {
	return func(t *typed[A]) {
		schema := *t.schema
		schema.Properties = maps.Clone(schema.Properties)
		delete(schema.Properties, name)
		schema.PropertyOrder = slices.DeleteFunc(slices.Clone(schema.PropertyOrder), func(n string) bool { return n == name })
		text, err := json.Marshal(&schema)
		if err != nil {
			panic("tool.Without: " + err.Error())
		}
		t.schema, t.spec.Schema = &schema, string(text)
	}
}

type typed[A any] struct {
	spec   item.ToolSpec
	schema *jsonschema.Schema
	run    func(context.Context, *Invocation, A) (Output, error)
	checks []func(*A) error
	// access, find, preview and plan are nil if unknown.
	access  func(A) Access
	find    func(context.Context, *Invocation, A) (Output, item.Recovery, error)
	preview func(context.Context, *Invocation, A) (Preview, error)
	plan    func(context.Context, *Invocation, A) []item.PlannedChange
	repeats bool
}

func (t *typed[A]) Spec() item.ToolSpec { return t.spec }

func (t *typed[A]) Check(arguments string) (string, error) {
	args, err := t.decode(arguments)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil {
		return "", refuse(err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Run decodes as strictly as Check: a caller that skips Check gains nothing.
func (t *typed[A]) Run(ctx context.Context, call *Invocation) (Output, error) {
	args, err := t.decode(call.Arguments)
	if err != nil {
		return Output{}, err
	}
	return t.run(ctx, call, args)
}

func (t *typed[A]) decode(arguments string) (A, error) {
	var args A
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	value, err := parseStrict("the arguments are", arguments)
	if err != nil {
		return args, refuse(err)
	}
	if err := matches("", t.schema, value); err != nil {
		return args, refuse(err)
	}
	dec := json.NewDecoder(strings.NewReader(arguments))
	dec.UseNumber()
	if err := dec.Decode(&args); err != nil {
		return args, refuse(plainDecodeError(err))
	}
	for _, check := range t.checks {
		if err := check(&args); err != nil {
			return args, refuse(err)
		}
	}
	return args, nil
}

func refuse(err error) error {
	return item.Errorf(item.KindInvalid, "BAD_ARGUMENTS", "%v", err)
}
