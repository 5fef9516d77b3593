package exchange

import (
	"bytes"
	_ "embed" // for quirks.toml
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed quirks.toml
var quirksFile []byte

// Quirks are the known deviations that a request to a host or for a model must respect.
// The zero value is an endpoint that follows its API.
type Quirks struct {
	// API is the host's own API; empty means chat.
	API string `toml:"api"`
	// NoStreamOptions: the host answers 422 to stream_options, and sends the usage anyway.
	NoStreamOptions bool `toml:"no_stream_options"`
	// NeedsReasoning: the host answers 400 to a call without reasoning_content. For another
	// model's call it gets the readable part of that model's reasoning.
	NeedsReasoning bool `toml:"needs_reasoning"`
	// Unsigned are the members of a call that replace another model's signature: the host
	// answers 400 to a call without one.
	Unsigned string `toml:"unsigned"`
	// ShortCallIDs: the host answers 400 to ids of calls that are not nine letters and digits.
	ShortCallIDs bool `toml:"short_call_ids"`
	// AnswersTools: the model's template refuses a user message right after a tool result.
	AnswersTools bool `toml:"answers_tools"`
	// NoEncryptedReasoning: the model answers 400 to a request for encrypted reasoning.
	NoEncryptedReasoning bool `toml:"no_encrypted_reasoning"`
	// CacheBreakpoint: the model caches up to prompt_cache_breakpoint of a block, and not up to where requests
	// begin to differ.
	CacheBreakpoint bool `toml:"cache_breakpoint"`
	// CacheKey: the host takes prompt_cache_key.
	CacheKey bool `toml:"cache_key"`
	// CacheMarks: the host takes marks of blocks over messages, and may cache up to them.
	CacheMarks bool `toml:"cache_marks"`
	// OldMaxTokens: the host knows max_tokens, and not max_completion_tokens.
	OldMaxTokens bool `toml:"old_max_tokens"`
	// MaxTokens is the longest answer that a request may ask for; 0 if it is not below the
	// default.
	MaxTokens int64 `toml:"max_tokens"`
	// Thinking is how the model takes an effort over messages: "adaptive", "budget" for
	// tokens, or "none". Empty sends the effort alone.
	Thinking string `toml:"thinking"`
	// NoTemperature: the model refuses a temperature over messages.
	NoTemperature bool `toml:"no_temperature"`
}

// The values of Quirks.Thinking.
const (
	ThinkingAdaptive = "adaptive"
	ThinkingBudget   = "budget"
	ThinkingNone     = "none"
)

// Override replaces single quirks, whatever the tables say.
type Override struct {
	Quirks
	// Names are the quirks to replace, as in quirks.toml.
	Names []string
}

// over is quirks with those of the override in place.
func (o Override) over(q Quirks) Quirks {
	from, to := reflect.ValueOf(o.Quirks), reflect.ValueOf(&q).Elem()
	for i := range from.NumField() {
		if slices.Contains(o.Names, from.Type().Field(i).Tag.Get("toml")) {
			to.Field(i).Set(from.Field(i))
		}
	}
	return q
}

// Quirk is a row of the table: what is known of some hosts and models.
type Quirk struct {
	// Hosts also names subdomains; an empty list means every host.
	Hosts []string `toml:"hosts"`
	// Models are parts of the model's name in lower case; one that begins with ^ begins the
	// name after its vendor, one that ends with $ ends it. An empty list means every model.
	Models []string `toml:"models"`
	Quirks
	// From is where the deviation was seen.
	From string `toml:"from"`
}

// table is the content of quirks.toml.
type table struct {
	Quirks []Quirk     `toml:"quirk"`
	Usage  []usagePath `toml:"usage"`
	Waits  []waitRule  `toml:"wait"`
	Errors []errorRule `toml:"error"`
	// Vendors are in quirks.toml as vendor.
	Vendors []vendorRow `toml:"vendor"`
}

// builtin is the embedded table.
var builtin = sync.OnceValue(func() table {
	var t table
	if err := toml.NewDecoder(bytes.NewReader(quirksFile)).DisallowUnknownFields().Decode(&t); err != nil {
		panic("quirks.toml: " + err.Error()) // A test reads it.
	}
	return t
})

// Quirks are those of a model at the endpoint. The rows of the configuration count after
// the built-in ones.
func (e *Endpoint) Quirks(model string) (sum Quirks) {
	return e.Override.over(quirksOf(e.Base.Hostname(), model, builtin().Quirks, e.Config.Quirks))
}

// quirksOf adds up the rows of tables that fit a host and a model.
func quirksOf(host, model string, tables ...[]Quirk) (sum Quirks) {
	host, model = strings.ToLower(host), strings.ToLower(model)
	for _, rows := range tables {
		for _, row := range rows {
			if row.fits(host, model) {
				sum.add(row.Quirks)
			}
		}
	}
	return sum
}

func (q *Quirk) fits(host, model string) bool {
	return (len(q.Hosts) == 0 || slices.ContainsFunc(q.Hosts, func(name string) bool { return isHost(host, name) })) &&
		(len(q.Models) == 0 || slices.ContainsFunc(q.Models, func(part string) bool { return isModel(model, part) }))
}

// isModel says whether a part is in a model's name, or begins or ends it.
func isModel(model, part string) bool {
	if end, ends := strings.CutSuffix(part, "$"); ends {
		return strings.HasSuffix(model, end)
	}
	beginning, begins := strings.CutPrefix(part, "^")
	if !begins {
		return strings.Contains(model, part)
	}
	name := strings.TrimPrefix(model[strings.LastIndexByte(model, '/')+1:], "ft:")
	return strings.HasPrefix(name, beginning)
}

// add adds what another row says: the fields that it has.
func (q *Quirks) add(r Quirks) {
	from, to := reflect.ValueOf(r), reflect.ValueOf(q).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
}
