package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podd/pkg/item"
)

const (
	// maxFields and maxChoices bound a form, maxURL an address in bytes.
	maxFields, maxChoices = 32, 100
	maxURL                = 4 << 10
	// maxForm bounds what all questions of a form say, in bytes.
	maxForm = 64 << 10
)

// form is an elicitation as a person sees it.
type form struct {
	form item.Form
	// fields are those of the schema, one for each question. An address has none.
	fields []field
}

// field is a property of an elicitation's schema.
type field struct {
	name        string
	required    bool
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Pattern     string          `json:"pattern"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []choice        `json:"oneOf"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinLength   *float64        `json:"minLength"`
	MaxLength   *float64        `json:"maxLength"`
	MinItems    *float64        `json:"minItems"`
	MaxItems    *float64        `json:"maxItems"`
	Default     json.RawMessage `json:"default"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
	// choices are what a person chooses from; none is a value of their own.
	choices []choice
}

// choice is a value with its name for people.
type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// formOf is what a server asks. The library has checked that the schema is flat, and of known types.
func formOf(server string, p *sdk.ElicitParams) (f form, err error) {
	f.form = item.Form{From: "the MCP server " + server, Text: text(p.Message, maxDescription)}
	if p.Mode == "url" {
		return f, f.address(p.URL)
	}
	raw, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return f, errForm("its schema is not JSON")
	}
	var schema struct {
		Properties map[string]*field `json:"properties"`
		Required   []string          `json:"required"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		return f, errForm("its schema has another form than the protocol says%s", colon(err.Error()))
	}
	if len(schema.Properties) > maxFields {
		return f, errForm("it has %d fields, the limit is %d", len(schema.Properties), maxFields)
	}
	size := 0
	for _, name := range orderOf(p, schema.Properties) {
		d := schema.Properties[name]
		if d == nil {
			continue
		}
		d.name, d.required = name, slices.Contains(schema.Required, name)
		q, err := d.question()
		if err != nil {
			return f, err
		}
		for _, o := range q.Options {
			size += len(o.Label)
		}
		if size += len(q.Header) + len(q.Text) + len(q.Takes.Pattern); size > maxForm {
			return f, errForm("it has more than %d bytes", maxForm)
		}
		f.fields, f.form.Questions = append(f.fields, *d), append(f.form.Questions, q)
	}
	if len(f.fields) == 0 {
		f.confirm("Agree?", "yes", "no")
	}
	return f, nil
}

// confirm asks for a yes or a no.
func (f *form) confirm(question, yes, no string) {
	f.form.Questions = []item.FormQuestion{{
		Text: question, Options: []item.FormOption{{Label: yes}, {Label: no}}, Takes: &item.FormTakes{Type: item.TakesOptions},
	}}
}

// address shows an address, which the person opens: podd opens nothing. Whatever is not plain ASCII is encoded.
func (f *form) address(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > maxURL:
		return errForm("its address has %d bytes, the limit is %d", len(address), maxURL)
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errForm("its address is not one of the web")
	}
	f.form.Text = strings.TrimSpace(fmt.Sprintf("%s\nIt wants you to open an address of the host %s:\n%s", f.form.Text, plainASCII(u.Hostname()), plainASCII(address)))
	f.confirm("podd opens nothing: open the address yourself if you trust the host, then answer.", "I opened it", "no")
	return nil
}

// plainASCII encodes each byte of an address that is not visible ASCII.
func plainASCII(address string) string {
	var b strings.Builder
	for _, c := range []byte(address) {
		if c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// question is a field as a person sees it.
func (d *field) question() (q item.FormQuestion, err error) {
	takes := &item.FormTakes{Optional: !d.required || d.hasDefault()}
	q = item.FormQuestion{Header: word(cmp.Or(d.Title, d.name)), Takes: takes}
	d.takes(takes)
	if d.choices, err = d.choose(); err != nil {
		return q, err
	}
	for _, c := range d.choices {
		q.Options = append(q.Options, item.FormOption{Label: word(cmp.Or(c.Title, c.Const))})
	}
	q.Multiple = d.Type == "array"
	if takes.Pattern != "" {
		if _, err := regexp.Compile(takes.Pattern); err != nil {
			return q, errForm("the pattern of %q cannot be read", word(d.name))
		}
	}
	q.Text = text(d.Description, maxDescription)
	if hint := d.hint(takes); q.Text == "" {
		q.Text = hint
	} else {
		q.Text += " (" + hint + ")"
	}
	return q, nil
}

func (d *field) hasDefault() bool { return len(d.Default) > 0 && string(d.Default) != "null" }

// takes says what an answer must be.
func (d *field) takes(t *item.FormTakes) {
	switch d.Type {
	case "number", "integer":
		t.Type, t.Min, t.Max = d.Type, d.Minimum, d.Maximum
	case "boolean":
		t.Type = item.TakesOptions
	case "array":
		t.Type, t.Min, t.Max = item.TakesOptions, d.MinItems, d.MaxItems
	default:
		if t.Type = item.TakesOptions; len(d.Enum)+len(d.OneOf) == 0 {
			t.Type, t.Format, t.Pattern, t.Min, t.Max = item.TakesText, d.Format, d.Pattern, d.MinLength, d.MaxLength
		}
	}
}

// choose are the values to choose from; none if the person writes one.
func (d *field) choose() ([]choice, error) {
	list, names, titled := d.Enum, d.EnumNames, d.OneOf
	switch d.Type {
	case "boolean":
		return []choice{{"true", "yes"}, {"false", "no"}}, nil
	case "array":
		list, names, titled = d.Items.Enum, nil, d.Items.AnyOf
	}
	if len(list)+len(titled) > maxChoices {
		return nil, errForm("the field %q has %d choices, the limit is %d", word(d.name), len(list)+len(titled), maxChoices)
	}
	for i, value := range list {
		c := choice{Const: value}
		if i < len(names) {
			c.Title = names[i]
		}
		titled = append(titled, c)
	}
	return titled, nil
}

// hint says in words what an answer must be.
func (d *field) hint(t *item.FormTakes) string {
	what := map[string]string{item.TakesNumber: "a number", item.TakesInteger: "a whole number", item.TakesText: "a text"}[t.Type]
	if t.Type == item.TakesOptions {
		if what = "choose one"; d.Type == "array" {
			what = "choose any"
		}
	}
	if format := map[string]string{"email": "an e-mail address", "uri": "a URL", "date": "a date such as 2026-01-31", "date-time": "a time such as 2026-01-31T12:00:00Z"}[t.Format]; format != "" {
		what = format
	}
	number := func(n float64) string {
		digits := strconv.FormatFloat(n, 'f', -1, 64)
		switch {
		case t.Type != item.TakesText:
			return digits
		case n == 1:
			return digits + " character"
		}
		return digits + " characters"
	}
	hints := []string{what}
	if t.Min != nil {
		hints = append(hints, "at least "+number(*t.Min))
	}
	if t.Max != nil {
		hints = append(hints, "at most "+number(*t.Max))
	}
	if t.Pattern != "" {
		hints = append(hints, "like "+word(t.Pattern))
	}
	switch {
	case d.hasDefault():
		hints = append(hints, "- takes "+d.defaultName())
	case t.Optional:
		hints = append(hints, "- leaves it out")
	}
	return strings.Join(hints, ", ")
}

// defaultName is the default in the words of the form.
func (d *field) defaultName() string {
	named := func(value string) string {
		for _, c := range d.choices {
			if c.Const == value {
				return word(cmp.Or(c.Title, c.Const))
			}
		}
		return word(value)
	}
	var list []string
	if json.Unmarshal(d.Default, &list) != nil {
		return named(plain(d.Default))
	}
	for i := range list {
		list[i] = named(list[i])
	}
	return cmp.Or(strings.Join(list, ", "), "nothing")
}

// refused says that the person chose the no of a form that only asks for a yes.
func (f *form) refused(replies []item.FormReply) bool {
	return len(f.fields) == 0 && !(len(replies) == 1 && slices.Equal(replies[0].Choices, []int{1}))
}

// content is an answer in the words of the schema.
func (f *form) content(replies []item.FormReply) map[string]any {
	if len(f.fields) == 0 {
		return nil
	}
	content := map[string]any{}
	for i, d := range f.fields {
		switch r := replies[i]; {
		case !f.form.Questions[i].LeftOut(r):
			content[d.name] = d.value(r)
		case d.hasDefault():
			var value any
			if json.Unmarshal(d.Default, &value) == nil {
				content[d.name] = value
			}
		}
	}
	return content
}

// value is an answer that the form's Check has taken.
func (d *field) value(r item.FormReply) any {
	var chosen []any
	for _, n := range r.Choices {
		chosen = append(chosen, d.choices[n-1].Const)
	}
	number, _ := strconv.ParseFloat(strings.TrimSpace(r.Text), 64)
	switch {
	case d.Type == "array":
		return chosen
	case d.Type == "boolean":
		return chosen[0] == "true"
	case len(chosen) > 0:
		return chosen[0]
	case d.Type == "integer":
		return int64(number)
	case d.Type == "number":
		return number
	}
	return r.Text
}

// fieldOrder is where a request has the order of its schema's fields, which the library loses.
const fieldOrder = "podd/order"

// markOrder adds the order of the fields to the metadata of an elicitation.
func markOrder(params json.RawMessage) json.RawMessage {
	m := membersOf(params)
	fields := json.NewDecoder(bytes.NewReader(membersOf(m["requestedSchema"])["properties"]))
	if start, err := fields.Token(); err != nil || start != json.Delim('{') {
		return params
	}
	var names []string
	for fields.More() {
		var value json.RawMessage
		name, err := fields.Token()
		if err != nil || fields.Decode(&value) != nil {
			return params
		}
		names = append(names, fmt.Sprint(name))
	}
	meta := membersOf(m["_meta"])
	if meta == nil {
		meta = members{}
	}
	meta[fieldOrder], _ = json.Marshal(names)
	m["_meta"] = meta.text()
	return m.text()
}

// orderOf are the names of the fields, in the server's order if that is known.
func orderOf(p *sdk.ElicitParams, properties map[string]*field) []string {
	var names []string
	if marked, ok := p.Meta[fieldOrder].([]any); ok {
		for _, name := range marked {
			if name, ok := name.(string); ok && properties[name] != nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	var others []string
	for name := range properties {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return append(names, others...)
}
