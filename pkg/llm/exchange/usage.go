package exchange

import "github.com/tidwall/gjson"

// usagePath says where a usage of an API has a count; see quirks.toml.
type usagePath struct {
	API   string `toml:"api"`
	Count string `toml:"count"`
	Path  string `toml:"path"`
	From  string `toml:"from"`
}

// Tokens are the counts of a usage as an API means them. Has says whether a usage names
// the tokens of the input.
type Tokens struct {
	Input, Cached, Written, Output, Reasoning, Total, Audio int64
	Has                                                     bool
}

// ReadTokens reads a usage. The first path with a value counts.
func (e *Endpoint) ReadTokens(u gjson.Result) (t Tokens) {
	if !u.IsObject() {
		return t
	}
	found := map[string]bool{}
	for _, p := range builtin().Usage {
		if p.API != e.API || found[p.Count] {
			continue
		}
		v := First(u, p.Path)
		if !v.Exists() {
			continue
		}
		found[p.Count] = true
		*t.count(p.Count) = Count(v)
	}
	t.Has = found["input"]
	return t
}

// count is the field of a count.
func (t *Tokens) count(name string) *int64 {
	switch name {
	case "input":
		return &t.Input
	case "cached":
		return &t.Cached
	case "written":
		return &t.Written
	case "output":
		return &t.Output
	case "reasoning":
		return &t.Reasoning
	case "total":
		return &t.Total
	}
	return &t.Audio
}
