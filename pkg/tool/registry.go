package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/lazy"
)

// validName is what the endpoints accept as a function's name.
var validName = lazy.Regexp(`^[a-zA-Z0-9_-]{1,64}$`)

func checkName(name string) error {
	if !validName().MatchString(name) {
		return fmt.Errorf("%q is not a valid tool name: use 1 to 64 of a-z, A-Z, 0-9, _ and -", name)
	}
	return nil
}

// Registry has tools in the given order. It does not change after NewRegistry and is safe
// for concurrent use.
type Registry struct {
	tools map[string]Tool
	specs []item.ToolSpec
	// finder finds the tools that are not in specs; nil if all are.
	finder *finder
}

// NewRegistry collects tools. A nil tool, a bad or repeated name, an empty description or
// a schema that is not a JSON object is an error of kind KindInvalid, reason BAD_TOOL.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: make(map[string]Tool, len(tools))}
	for i, t := range tools {
		if t == nil {
			return nil, badTool("tool %d of the list is nil", i+1)
		}
		spec := t.Spec()
		if err := checkName(spec.Name); err != nil {
			return nil, badTool("%v", err)
		}
		if _, twice := r.tools[spec.Name]; twice {
			return nil, badTool("two tools are called %s: rename or remove one", spec.Name)
		}
		if spec.Description == "" {
			return nil, badTool("the tool %s has no description", spec.Name)
		}
		if !strings.HasPrefix(strings.TrimSpace(spec.Schema), "{") || !json.Valid([]byte(spec.Schema)) {
			return nil, badTool("the schema of the tool %s is not a JSON object", spec.Name)
		}
		r.tools[spec.Name] = t
		r.specs = append(r.specs, spec)
	}
	return r, nil
}

func badTool(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "BAD_TOOL", format, args...)
}

// Lookup finds a tool by its exact name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	t, ok := r.tools[name]
	return t, ok
}

// Specs describes all tools, in the order given to NewRegistry. The slice is the
// caller's own.
func (r *Registry) Specs() []item.ToolSpec {
	return slices.Clone(r.specs)
}
