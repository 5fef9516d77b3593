package catalog

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Model is what a vendor publishes about a model. Zero fields are unknown.
type Model struct {
	// ID is the vendor's name of the model.
	ID     string `json:"id"`
	Vendor string `json:"vendor"`
	// Window is the context window in tokens, input and output together. Input bounds the
	// input alone, Output the output.
	Window int `json:"window,omitempty"`
	Input  int `json:"input,omitempty"`
	Output int `json:"output,omitempty"`
	// Effort are the values that the vendor takes as the reasoning effort.
	Effort []string `json:"effort,omitempty"`
	// Images says that the model reads images.
	Images bool `json:"images,omitempty"`
	// Price is the vendor's price; nil if none is published, as for open weights.
	Price *Price `json:"price,omitempty"`
}

// Price is in USD per million tokens.
type Price struct {
	Rates
	// Long applies to requests with more input than Above tokens; nil for the same price.
	Long *Long `json:"long,omitempty"`
}

// Rates are the prices of kinds of tokens, in USD per million.
type Rates struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// CachedInput is input read from the prompt cache, CacheWrite input written to it; 0 if
	// the vendor publishes none.
	CachedInput float64 `json:"cached_input,omitempty"`
	CacheWrite  float64 `json:"cache_write,omitempty"`
}

// Long is the price of long requests.
type Long struct {
	Above int64 `json:"above"`
	Rates
}

// Catalog is a list of models as of a day. It does not change.
type Catalog struct {
	// Source says where the data is from, Date when it was current, in RFC 3339.
	Source string `json:"source"`
	Date   string `json:"date"`
	// Notice is the licence of the data.
	Notice string  `json:"notice"`
	Models []Model `json:"models"`

	byName map[string]int
}

//go:embed models.json
var embedded []byte

// Builtin is the catalogue that this podd was built with.
var Builtin = sync.OnceValue(func() *Catalog {
	c, err := Read(embedded)
	if err != nil {
		panic(fmt.Sprintf("catalog: the embedded catalogue is broken: %v", err))
	}
	return c
})

// Read reads what Encode wrote, and checks it. Its errors are sentences.
func Read(text []byte) (*Catalog, error) {
	c := new(Catalog)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("this is not a catalogue of models: %w", err)
	}
	if _, err := time.Parse(time.DateOnly, c.Date); err != nil || c.Source == "" {
		return nil, errors.New("this is not a catalogue of models: it names no source or date")
	}
	if len(c.Models) == 0 {
		return nil, errors.New("the catalogue lists no model")
	}
	c.byName = make(map[string]int, len(c.Models))
	for i, m := range c.Models {
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("the catalogue's model %q %w", m.ID, err)
		}
		name := plain(m.ID)
		if j, ok := c.byName[name]; !ok || c.Models[j].Price == nil {
			c.byName[name] = i
		}
	}
	return c, nil
}

// maxTokens and maxPrice bound what is believed of a model.
const (
	maxTokens = 100_000_000
	maxPrice  = 1_000_000
)

func (m Model) check() error {
	if m.ID == "" || len(m.ID) > 200 {
		return errors.New("has no usable name")
	}
	for _, n := range []int{m.Window, m.Input, m.Output} {
		if n < 0 || n > maxTokens {
			return fmt.Errorf("has a limit of %d tokens", n)
		}
	}
	if m.Price == nil {
		return nil
	}
	rates := []Rates{m.Price.Rates}
	if long := m.Price.Long; long != nil {
		if long.Above <= 0 || long.Above > maxTokens {
			return fmt.Errorf("has a price above %d tokens", long.Above)
		}
		rates = append(rates, long.Rates)
	}
	for _, r := range rates {
		if !(r.Input > 0) || min(r.Output, r.CachedInput, r.CacheWrite) < 0 || r.CachedInput > r.Input || max(r.Input, r.Output, r.CacheWrite) > maxPrice {
			return fmt.Errorf("has an impossible price: %+v", r)
		}
	}
	return nil
}

// Encode is the form that Read reads, one model a line, sorted.
func (c *Catalog) Encode() []byte {
	sorted := slices.SortedFunc(slices.Values(c.Models), func(a, b Model) int {
		return strings.Compare(a.Vendor+"/"+a.ID, b.Vendor+"/"+b.ID)
	})
	head := *c
	head.Models = nil
	var out strings.Builder
	fmt.Fprintf(&out, "{\n  \"source\": %s,\n  \"date\": %s,\n  \"notice\": %s,\n  \"models\": [", quoted(c.Source), quoted(c.Date), quoted(c.Notice))
	for i, m := range sorted {
		line, _ := json.Marshal(m)
		out.WriteString(",\n    "[min(i, 1)^1:])
		out.Write(line)
	}
	out.WriteString("\n  ]\n}\n")
	return []byte(out.String())
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// Find is the model with a name, as endpoints and weights are named: with or without a
// vendor, a region, a date, a quantization or other marks of a release, in any case.
func (c *Catalog) Find(name string) (Model, bool) {
	for bare := plain(name); bare != ""; {
		if i, ok := c.byName[bare]; ok {
			return c.Models[i], true
		}
		cut := strings.LastIndexByte(bare, '-')
		if cut < 0 || !isMark(bare[cut+1:], bare[:cut]) {
			break
		}
		bare = bare[:cut]
	}
	return Model{}, false
}

// plain is a name without vendor and region, in lower case, with one kind of separator.
func plain(name string) string {
	name = strings.ToLower(name)
	name = name[strings.LastIndexByte(name, '/')+1:]
	// Amazon writes us.anthropic.claude-...; a version such as 4.5 has digits around its dot.
	for {
		head, rest, ok := strings.Cut(name, ".")
		if !ok || rest == "" || head == "" || strings.ContainsAny(head, "-0123456789") || digit(rest[0]) {
			break
		}
		name = rest
	}
	return strings.Map(func(r rune) rune {
		if r == '.' || r == ':' || r == '_' || r == '@' || r == ' ' {
			return '-'
		}
		return r
	}, name)
}

// marks are the last words of names that mean the same model: a release, a format of its
// weights, or a price class of a reseller. Chat and instruct are how open models are asked.
var marks = []string{
	"latest", "preview", "exp", "beta", "free", "instruct", "chat", "it", "hf",
	"fp8", "fp4", "fp16", "bf16", "int4", "int8", "awq", "gptq", "gguf", "mlx", "nvfp4",
}

// isMark says whether a word at the end of a name names a release of the same model: a
// date, as in 20250929, 2024-08-06 or 0905, or v1:0.
func isMark(word, before string) bool {
	if slices.Contains(marks, word) {
		return true
	}
	number := word != "" && strings.Trim(word, "0123456789") == ""
	last := before[strings.LastIndexByte(before, '-')+1:]
	switch {
	case number && len(word) >= 4:
		return true
	case number && len(word) == 2:
		// The day or the month of a date.
		return slices.Contains(marks, last) || strings.Trim(last, "0123456789") == "" && (len(last) == 2 || len(last) == 4)
	case number:
		return len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == ""
	}
	return len(word) > 1 && (word[0] == 'v' && strings.Trim(word[1:], "0123456789") == "" ||
		word[0] == 'q' && digit(word[1]))
}

func digit(b byte) bool { return '0' <= b && b <= '9' }
