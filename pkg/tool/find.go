package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// The bounds of what find_tool shows: tools, bytes of all, bytes of one description, and bytes
// of names alone.
const (
	maxFound      = 8
	maxFoundBytes = 12 << 10
	maxFoundText  = 2 << 10
	maxNames      = 4 << 10
)

// finder finds tools by words.
type finder struct {
	tools []Tool
	once  sync.Once
	// index has the words of each tool.
	index []indexed
}

// indexed are the words of a tool, those of its name apart.
type indexed struct{ name, text []string }

type findArgs struct {
	Query string `json:"query" jsonschema:"such as create issue, or exact names"`
}

func (a *findArgs) check() error {
	if strings.TrimSpace(a.Query) == "" {
		return errors.New("query is empty: say in a few words what the tool is to do")
	}
	return nil
}

// find shows the tools that fit a query best.
func (f *finder) find(_ context.Context, _ *Invocation, args findArgs) (Output, error) {
	found := f.named(args.Query)
	if found == nil {
		found = f.rank(args.Query, maxFound)
	}
	query := clip(strings.Join(strings.Fields(args.Query), " "))
	if len(found) == 0 {
		return Output{
			Summary: Bound(fmt.Sprintf("%s: none of %d tools fits %q; try other words", FindTool, len(f.tools), query)),
			Content: "All tools:\n" + names(f.tools) + "\n",
		}, nil
	}
	var b strings.Builder
	var shown []string
	for _, t := range found {
		spec := t.Spec()
		text := fmt.Sprintf("%s\n%s\narguments: %s\n\n", spec.Name, Clip(spec.Description, maxFoundText), spec.Schema)
		if len(shown) > 0 && b.Len()+len(text) > maxFoundBytes {
			break
		}
		b.WriteString(text)
		shown = append(shown, spec.Name)
	}
	if rest := found[len(shown):]; len(rest) > 0 {
		b.WriteString("These fit too; search for one of them to see it: " + names(rest))
	}
	return Output{
		Summary: Bound(fmt.Sprintf("%s: %d of %d tools for %q: %s; call one with %s", FindTool, len(shown), len(f.tools), query, strings.Join(shown, ", "), CallTool)),
		Content: strings.TrimSpace(b.String()) + "\n",
	}, nil
}

// names are the names of tools in a row.
func names(tools []Tool) string {
	var b strings.Builder
	for i, t := range tools {
		name := t.Spec().Name
		if b.Len()+len(name) > maxNames {
			fmt.Fprintf(&b, " and %d more", len(tools)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	return b.String()
}

// named are the tools of a query that is nothing but their exact names; nil for another.
func (f *finder) named(query string) (found []Tool) {
	for _, name := range strings.FieldsFunc(query, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		i := slices.IndexFunc(f.tools, func(t Tool) bool { return t.Spec().Name == name })
		if i < 0 {
			return nil
		}
		if !slices.ContainsFunc(found, func(t Tool) bool { return t.Spec().Name == name }) {
			found = append(found, f.tools[i])
		}
	}
	return found
}

// rank gives the tools that share words with a query, the best first. A word counts for more
// in a name than in a description, and for more the fewer tools have it.
func (f *finder) rank(query string, most int) []Tool {
	f.once.Do(f.read)
	scores := make([]float64, len(f.tools))
	for _, word := range slices.Compact(slices.Sorted(slices.Values(words(Clip(query, maxFoundText))))) {
		fits := make([]float64, len(f.tools))
		having := 0
		for i, of := range f.index {
			if fits[i] = max(4*likeness(word, of.name), likeness(word, of.text)); fits[i] > 0 {
				having++
			}
		}
		for i := range fits {
			scores[i] += fits[i] * math.Log(1+float64(len(f.tools))/float64(max(having, 1)))
		}
	}
	var order []int
	for i, score := range scores {
		if score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var found []Tool
	for _, i := range order[:min(most, len(order))] {
		found = append(found, f.tools[i])
	}
	return found
}

// near are the names that have most pairs of characters in common with a name, at most three.
func (f *finder) near(name string) (names []string) {
	const least = 0.5
	name = strings.ToLower(Clip(name, 2*maxNameBytes))
	likeness := map[string]float64{}
	for _, t := range f.tools {
		other := t.Spec().Name
		if like := paired(name, strings.ToLower(other)); like >= least {
			likeness[other] = like
			names = append(names, other)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(likeness[b], likeness[a]) })
	return names[:min(3, len(names))]
}

// maxNameBytes is the longest name that a tool has.
const maxNameBytes = 64

// paired is the share of the pairs of characters that two texts have in common.
func paired(a, b string) float64 {
	pairs := map[string]int{}
	for i := range max(0, len(a)-1) {
		pairs[a[i:i+2]]++
	}
	common := 0
	for i := range max(0, len(b)-1) {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			common++
		}
	}
	return 2 * float64(common) / float64(max(1, len(a)+len(b)-2))
}

// read makes the index.
func (f *finder) read() {
	f.index = make([]indexed, len(f.tools))
	for i, t := range f.tools {
		spec := t.Spec()
		f.index[i] = indexed{name: words(spec.Name), text: words(spec.Description)}
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if json.Unmarshal([]byte(spec.Schema), &schema) == nil {
			for name := range schema.Properties {
				f.index[i].text = append(f.index[i].text, words(name)...)
			}
		}
	}
}

// likeness is 1 for a word that a list has, less for one that begins like one of it, else 0.
func likeness(word string, list []string) (like float64) {
	const stem = 4
	for _, other := range list {
		switch {
		case word == other:
			return 1
		case min(len(word), len(other)) >= stem && (strings.HasPrefix(word, other) || strings.HasPrefix(other, word)):
			like = 0.7
		}
	}
	return like
}

// words are the words of a text in lower case. A capital after a small letter begins one.
func words(text string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range text {
		known := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !known || unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		if known {
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return strings.Fields(b.String())
}
