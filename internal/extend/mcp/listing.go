package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/internal/sanitize"
)

// The limits of what podd accepts from a server.
const (
	maxTools       = 128
	maxEntries     = 200
	maxDescription = 4 << 10
	maxSchema      = 32 << 10
	maxWord        = 1 << 10
)

// Listing is what a server offers. Texts come from the server; they are bounded and contain
// no invisible characters.
type Listing struct {
	// Title is the server's name for itself, Version its version.
	Title   string `json:"title"`
	Version string `json:"version"`
	// Protocol is the version in use.
	Protocol  string     `json:"protocol"`
	Tools     []Tool     `json:"tools"`
	Resources []Resource `json:"resources,omitempty"`
	Prompts   []Prompt   `json:"prompts,omitempty"`
	// LeftOut has a sentence for each thing that podd does not accept.
	LeftOut []string  `json:"left_out,omitempty"`
	At      time.Time `json:"at"`
}

// Tool is a tool of a server.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Schema is the JSON Schema of the arguments, keys sorted; see parameters.
	Schema string `json:"schema"`
	// Hint is the server's description of the tool's effects, as part of a sentence; may be
	// empty.
	Hint string `json:"hint,omitempty"`
}

// Digest identifies the tool's current form.
func (t Tool) Digest() string {
	h := sha256.New()
	for _, part := range []string{t.Name, t.Description, t.parameters(), t.Hint} {
		fmt.Fprintf(h, "%d\x00%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// parameters is the schema as requests have it: without the name of its dialect, which no model needs and
// some endpoints refuse.
func (t Tool) parameters() string {
	var object map[string]any
	if !strings.Contains(t.Schema, dialect) || json.Unmarshal([]byte(t.Schema), &object) != nil {
		return t.Schema
	}
	delete(object, dialect)
	canonical, _ := json.Marshal(object)
	return string(canonical)
}

// dialect is the key that names the dialect of a schema.
const dialect = "$schema"

// Resource is a resource, or a template of resources.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mime_type,omitempty"`
	// Template says that the URI has parts to fill in.
	Template bool `json:"template,omitempty"`
}

// Prompt is a prompt with the names of its arguments; an argument whose name ends in "?" is
// optional.
type Prompt struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Arguments   []string `json:"arguments,omitempty"`
}

func (l *Listing) leaveOut(format string, args ...any) {
	if len(l.LeftOut) < 20 {
		l.LeftOut = append(l.LeftOut, fmt.Sprintf(format, args...))
	}
}

func (l *Listing) addTool(t *sdk.Tool) bool {
	if len(l.Tools) == maxTools {
		l.leaveOut("it has more than %d tools, so only the first ones are offered", maxTools)
		return false
	}
	name := word(t.Name)
	schema, err := json.Marshal(t.InputSchema)
	var object map[string]any
	switch {
	case name == "" || name != t.Name:
		l.leaveOut("a tool is left out because its name is not usable: %q", name)
	case slices.ContainsFunc(l.Tools, func(other Tool) bool { return other.Name == name }):
		l.leaveOut("the tool %s occurs twice; the second one is left out", name)
	case t.Meta[taskOnly] != nil:
		l.leaveOut("the tool %s is left out because it runs only as a task, which podd does not support", name)
	case err != nil || len(schema) > maxSchema:
		l.leaveOut("the tool %s is left out because its schema is larger than %d bytes", name, maxSchema)
	case json.Unmarshal(schema, &object) != nil || object == nil:
		l.leaveOut("the tool %s is left out because its schema is not an object", name)
	default:
		// Some endpoints do not accept an object without these.
		if object["type"] == nil {
			object["type"] = "object"
		}
		if object["properties"] == nil {
			object["properties"] = map[string]any{}
		}
		canonical, _ := json.Marshal(object)
		l.Tools = append(l.Tools, Tool{Name: name, Description: text(t.Description, maxDescription), Schema: string(canonical), Hint: hint(t.Annotations)})
	}
	return true
}

// hintReads is the hint of a tool whose interrupted call is sent again in any case.
const hintReads = "its server says that it only reads"

// hint is what the server's annotations say about a tool.
func hint(a *sdk.ToolAnnotations) string {
	switch {
	case a == nil:
		return ""
	case a.ReadOnlyHint:
		return hintReads
	case a.DestructiveHint != nil && !*a.DestructiveHint:
		return "its server says that it only adds and destroys nothing"
	case a.DestructiveHint != nil:
		return "its server says that it may destroy something"
	}
	return ""
}

func (l *Listing) addResource(r *sdk.Resource) bool {
	return l.resource(Resource{URI: word(r.URI), Name: word(cmp.Or(r.Title, r.Name)), Description: text(r.Description, maxWord), MIMEType: word(r.MIMEType)})
}

func (l *Listing) addTemplate(r *sdk.ResourceTemplate) bool {
	return l.resource(Resource{URI: word(r.URITemplate), Name: word(cmp.Or(r.Title, r.Name)), Description: text(r.Description, maxWord), MIMEType: word(r.MIMEType), Template: true})
}

func (l *Listing) resource(r Resource) bool {
	if len(l.Resources) >= maxEntries {
		l.leaveOut("it has more than %d resources, so only the first ones are shown", maxEntries)
		return false
	}
	l.Resources = append(l.Resources, r)
	return true
}

func (l *Listing) addPrompt(p *sdk.Prompt) bool {
	if len(l.Prompts) == maxEntries {
		l.leaveOut("it has more than %d prompts, so only the first ones are shown", maxEntries)
		return false
	}
	prompt := Prompt{Name: word(p.Name), Description: text(p.Description, maxWord)}
	for _, a := range p.Arguments {
		if a == nil || len(prompt.Arguments) == 32 {
			continue
		}
		name := word(a.Name)
		if !a.Required {
			name += "?"
		}
		prompt.Arguments = append(prompt.Arguments, name)
	}
	l.Prompts = append(l.Prompts, prompt)
	return true
}

// word is a text on one line.
func word(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, text(s, maxWord)))
}

// text is a server's text without invisible characters, and bounded.
func text(s string, most int) string {
	s, _ = sanitize.Visible(strings.ToValidUTF8(s, "?"))
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most-len("…")], "") + "…"
	}
	return s
}
