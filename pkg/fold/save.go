package fold

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"sync"

	"podd/pkg/item"
	"podd/pkg/version"
)

// Rules are everything besides the log that folding depends on.
type Rules struct {
	config  ContextConfig
	version [sha256.Size]byte
}

// NewRules makes the rules of a configuration. One with which no rule can work is an
// error.
func NewRules(c ContextConfig) (*Rules, error) {
	r := &Rules{config: c}
	if _, err := NewContext(c); err != nil {
		return nil, err
	}
	made, err := form()
	if err != nil {
		return nil, err
	}
	out, _ := c.limiter(sampleLimits)("shell", item.Output{Content: strings.Repeat("x", 5000)})
	cut, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode a cut result: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %#v %s %s", made, c.Prune, c.Models.String(), cut)
	h.Sum(r.version[:0])
	return r, nil
}

// form identifies how this podd folds: the build, the shape of a base, and the default rules' fold of the sample log.
var form = sync.OnceValues(func() ([]byte, error) {
	f := new(Rules).New()
	if err := Open(sample, 0, math.MaxInt64).Replay(f, math.MaxInt64, nil); err != nil {
		return nil, fmt.Errorf("replay the sample log: %w", err)
	}
	// gob would number types in the order in which the program first used them.
	folded, err := json.Marshal(f.base())
	if err != nil {
		return nil, fmt.Errorf("encode the sample's fold: %w", err)
	}
	h := sha256.New()
	describe(h, reflect.TypeFor[base](), make(map[reflect.Type]bool))
	fmt.Fprintf(h, "%#v %s", version.Get(), folded)
	return h.Sum(nil), nil
})

// Same says whether two rules give the same fold for any log.
func (r *Rules) Same(other *Rules) bool { return r.version == other.version }

// describe writes the shape of a type.
func describe(w io.Writer, t reflect.Type, seen map[reflect.Type]bool) {
	fmt.Fprintf(w, "%s %s;", t, t.Kind())
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if f.IsExported() {
				fmt.Fprintf(w, "%s ", f.Name)
				describe(w, f.Type, seen)
			}
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		describe(w, t.Elem(), seen)
	}
}

// New is the fold of an empty log.
func (r *Rules) New() *Fold {
	return &Fold{rules: r, State: State{}.Knowing(r.config.Models), Context: newContext(r.config)}
}

// Of is the fold with a state and a context that belong to the entries of a log from
// first to last.
func (r *Rules) Of(first, last item.Seq, s State, c *Context) *Fold {
	return &Fold{First: first, Last: last, State: s, Context: c, rules: r}
}

// base is the stored form of a fold: without the items of requests, which the log has,
// and without derived values.
type base struct {
	Version     [sha256.Size]byte
	First, Last item.Seq
	State       State
	Context     contextKept
	Ledger      ledgerKept
	Calls       []uint64
}

func (f *Fold) base() base {
	return base{
		Version: f.rules.version, First: f.First, Last: f.Last, State: f.State,
		Context: f.Context.kept, Ledger: f.Context.ledger.kept, Calls: f.Context.calls.all(),
	}
}

// Save returns the stored form of the fold, from which Restore makes it again. Every call
// needs its result. The form is gob, not protobuf: a base may be thrown away, so it needs no
// compatibility.
func (f *Fold) Save() ([]byte, error) {
	if len(f.Context.open) > 0 {
		return nil, errors.New("a call has no result")
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(f.base())
	return out.Bytes(), err
}

// Restore makes the saved fold again. read returns the log's items. A base saved under
// other rules is an error.
func (r *Rules) Restore(saved []byte, read Reader) (*Fold, error) {
	var b base
	if err := gob.NewDecoder(bytes.NewReader(saved)).Decode(&b); err != nil {
		return nil, err
	}
	if b.Version != r.version {
		return nil, errors.New("it was folded by another podd, or by other settings")
	}
	f := r.New()
	f.First, f.Last, f.State = b.First, b.Last, b.State.Knowing(r.config.Models)
	c := f.Context
	c.kept, c.calls.old, c.ledger.kept = b.Context, b.Calls, b.Ledger
	c.ledger.derive()
	if setup := c.kept.Setup; setup != nil {
		c.held.stored, c.held.cut = setup.OutputLimits, r.config.limiter(setup.OutputLimits)
	}
	for i := range b.Ledger.Records {
		seq := b.Ledger.Records[i].Seq
		c.items, c.seqs = append(c.items, nil), append(c.seqs, seq)
	}
	return f, c.fill(read, f.Last)
}

// fill reads the missing items of a restored Context, up to an entry.
func (s *Context) fill(read Reader, upTo item.Seq) error {
	left := len(s.items)
	if left == 0 {
		return nil
	}
	for e, err := range read(s.First()-1, Items) {
		if err != nil {
			return err
		}
		if e.Seq > upTo {
			break
		}
		if s.restore(e) {
			left--
		}
	}
	if left > 0 {
		return fmt.Errorf("the log lacks %d items that are sent", left)
	}
	return nil
}

// restore adds an item to a restored Context, and says whether it was missing.
func (s *Context) restore(e item.Entry) bool {
	switch k := e.Kind.(type) {
	case item.Compaction:
		if e.Seq != s.kept.Summary {
			return false
		}
		s.items[0] = k.Summary
		return true
	case item.ItemAdded:
		i, ok := s.ledger.find(e.Seq)
		if !ok || i == 0 && s.kept.Summary > 0 {
			return false
		}
		s.items[i] = k.Item
		if s.ledger.kept.Records[i].pruned() {
			s.stub(i)
		} else {
			s.items[i] = s.held.hold(e.Seq, k.Item)
		}
		return true
	}
	return false
}
