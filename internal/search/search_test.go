package search_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"podd/internal/search"
	"podd/pkg/item"
	"podd/pkg/store"

	"pgregory.net/rapid"
)

// A search finds what a reader of all logs finds, each entry once and the newest first,
// whatever happened to the pods.
func TestSearchFindsWhatReadingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		defer w.close()
		t.Repeat(map[string]func(*rapid.T){
			"create":  w.create,
			"append":  w.append,
			"fork":    w.fork,
			"trash":   w.trash,
			"restore": w.restore,
			"delete":  w.delete,
			"purge":   w.purge,
			"reopen":  w.reopen,
			"compact": w.compact,
			"":        w.check,
		})
	})
}

// world is a store, and a search of it.
type world struct {
	path   string
	s      *store.Bolt
	clock  int
	nextID int
	epochs map[string]store.Epoch
}

func newWorld(t *rapid.T) *world {
	dir, err := mkdir()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{path: filepath.Join(dir, "podd.db"), epochs: make(map[string]store.Epoch)}
	w.open(t)
	return w
}

func (w *world) open(t *rapid.T) {
	s, err := store.OpenBolt(store.BoltConfig{Path: w.path})
	if err != nil {
		t.Fatal(err)
	}
	w.s = s
}

func (w *world) close() {
	_ = w.s.Close()
	rmdir(filepath.Dir(w.path))
}

func (w *world) reopen(t *rapid.T) {
	_ = w.s.Close()
	w.open(t)
}

func (w *world) compact(t *rapid.T) {
	if _, _, err := w.s.Compact(context.Background(), func(int64, int64) bool { return true }); err != nil {
		t.Fatal(err)
	}
}

func (w *world) now() time.Time {
	w.clock++
	return time.Unix(int64(w.clock), 0).UTC()
}

// newPod has a name like those before, as people choose them.
func (w *world) newPod() item.Pod {
	w.nextID++
	id := fmt.Sprint("id", w.nextID)
	return item.Pod{ID: id, Name: "pod-" + id, CreatedAt: w.now()}
}

func (w *world) create(t *rapid.T) {
	p := w.newPod()
	if err := w.s.CreatePod(context.Background(), p); err != nil {
		t.Fatal(err)
	}
}

// any is one of the pods.
func (w *world) any(t *rapid.T) item.Pod {
	pods, err := w.s.Pods(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) == 0 {
		t.Skip("no pod")
	}
	return rapid.SampledFrom(pods).Draw(t, "pod")
}

func (w *world) append(t *rapid.T) {
	p := w.any(t)
	if w.epochs[p.ID] == 0 {
		epoch, err := w.s.Claim(context.Background(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.epochs[p.ID] = epoch
	}
	var entries []item.Entry
	for range rapid.IntRange(1, 150).Draw(t, "entries") {
		entries = append(entries, item.Entry{Time: w.now(), Kind: anyKind(t, p.Last)})
	}
	b := store.Batch{Pod: p.ID, Epoch: w.epochs[p.ID], Entries: entries}
	if _, err := w.s.Append(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

func (w *world) fork(t *rapid.T) {
	p := w.any(t)
	if p.Last == 0 {
		t.Skip("empty")
	}
	at := item.Seq(rapid.Int64Range(int64(max(p.First, 1)), int64(p.Last)).Draw(t, "at"))
	if err := w.s.Fork(context.Background(), p.ID, at, w.newPod()); err != nil && item.ReasonOf(err) != store.ReasonPurged {
		t.Fatal(err)
	}
}

func (w *world) trash(t *rapid.T) {
	p := w.any(t)
	delete(w.epochs, p.ID)
	if err := w.s.TrashPods(context.Background(), []string{p.ID}, w.now()); err != nil {
		t.Fatal(err)
	}
}

func (w *world) restore(t *rapid.T) {
	list, err := w.s.TrashedPods(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Skip("empty")
	}
	p := rapid.SampledFrom(list).Draw(t, "pod")
	if err := w.s.RestorePod(context.Background(), p.ID, p.Name); err != nil {
		t.Fatal(err)
	}
}

func (w *world) delete(t *rapid.T) {
	if err := w.s.DeletePod(context.Background(), w.any(t).ID); err != nil {
		t.Fatal(err)
	}
}

func (w *world) purge(t *rapid.T) {
	p := w.any(t)
	if p.Last <= p.First {
		t.Skip("short")
	}
	upTo := item.Seq(rapid.Int64Range(int64(p.First)+1, int64(p.Last)).Draw(t, "up to"))
	mark := item.Entry{Time: w.now(), Kind: item.Purged{At: w.now(), Entries: int64(upTo)}}
	if err := w.s.Purge(context.Background(), store.Purge{Pod: p.ID, UpTo: upTo, Last: p.Last, Mark: mark}); err != nil {
		t.Fatal(err)
	}
}

// letters make texts that often have a needle.
var letters = []rune("aAbBkK\u212asSſßẞжЖéÉ😀\"\\<&\n \u2028")

func anyText(t *rapid.T, most int) string {
	return rapid.StringOfN(rapid.SampledFrom(letters), 0, most, -1).Draw(t, "text")
}

func anyKind(t *rapid.T, last item.Seq) item.Kind {
	text := anyText(t, 12)
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0:
		return item.Submitted{RequestID: "r", Text: text, Segments: []item.Segment{item.TextSegment{Text: text}}}
	case 1:
		return item.ItemAdded{Item: item.ToolCall{CallID: "c", Name: "t", Arguments: anyArguments(t, text)}}
	case 2:
		out := item.Output{Summary: anyText(t, 6), Content: text, Diffs: item.NewDiffs(item.FileDiff{Path: "p", Diff: anyText(t, 4)})}
		return item.ItemAdded{Item: item.ToolResult{CallID: "c", Tool: "t", Output: out}}
	case 3:
		return item.ItemAdded{Item: item.Reasoning{Text: text}}
	case 4:
		return item.Note{Text: text}
	case 5:
		return item.TurnEnded{Outcome: item.OutcomeFailed, Cause: text}
	case 6:
		return item.Setup{Model: text}
	case 7:
		if last > 0 {
			return item.Rewind{To: item.Seq(rapid.Int64Range(1, int64(last)).Draw(t, "to"))}
		}
	}
	return item.ItemAdded{Item: item.AssistantMessage{Text: text}}
}

// anyArguments has text in one of the forms that models write.
func anyArguments(t *rapid.T, text string) string {
	value, _ := json.Marshal(text)
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 0:
		var ascii strings.Builder
		for _, r := range string(value) {
			if r > 0x7e {
				for _, unit := range utf16.Encode([]rune{r}) {
					fmt.Fprintf(&ascii, "\\u%04x", unit)
				}
				continue
			}
			ascii.WriteRune(r)
		}
		return `{"a":[1,` + ascii.String() + `]}`
	case 1:
		return `{"a":` + string(value) // Cut off.
	}
	return `{"a":{"b":` + string(value) + `}}`
}

// folded is text with each character as the least that is equal to it.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			if (next < 0x80) == (r < 0x80) {
				least = min(least, next)
			}
		}
		return least
	}, text)
}

func (w *world) check(t *rapid.T) {
	needle := rapid.StringOfN(rapid.SampledFrom(letters), 1, 4, -1).Draw(t, "needle")
	pods, err := w.s.Pods(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[int64]bool)
	for _, p := range pods {
		want := w.read(t, p, needle)
		for _, at := range want {
			all[abs(at)] = true
		}
		slices.Reverse(want)
		if got := w.search(t, search.Query{Text: needle, Pod: p.Name}); !slices.Equal(got, want[:min(len(want), search.MaxLimit)]) {
			t.Fatalf("%q in %s: found %v, want %v", needle, p.Name, got, want)
		}
	}
	want := make([]int64, 0, len(all))
	for at := range all {
		want = append(want, at)
	}
	slices.SortFunc(want, func(a, b int64) int { return cmp.Compare(b, a) })
	limit := rapid.IntRange(1, search.MaxLimit).Draw(t, "limit")
	got := w.search(t, search.Query{Text: needle, Limit: limit})
	for i := range got {
		got[i] = abs(got[i])
	}
	if !slices.Equal(got, want[:min(len(want), limit)]) {
		t.Fatalf("%q in all pods: found %v, want %v", needle, got, want)
	}
}

func abs(n int64) int64 { return max(n, -n) }

// search returns the times of the hits, which tell entries apart; negative ones of entries
// that were taken back.
func (w *world) search(t *rapid.T, q search.Query) []int64 {
	times := []int64{}
	q.Warn = func(text string) { t.Fatal(text) }
	for h, err := range search.New(w.s).Search(context.Background(), q) {
		if err != nil {
			t.Fatal(err)
		}
		if match := h.Text[h.Start:h.End]; folded(strings.TrimSpace(match)) != folded(strings.Join(strings.Fields(q.Text), " ")) && !strings.ContainsAny(q.Text, " \n\u2028") {
			t.Fatalf("the match is %q in %q, want %q", match, h.Text, q.Text)
		}
		at := h.Time.Unix()
		if h.TakenBack {
			at = -at
		}
		times = append(times, at)
	}
	return times
}

// read returns the times of the entries of a log that have the needle, oldest first, as search
// does.
func (w *world) read(t *rapid.T, p item.Pod, needle string) []int64 {
	times, seqs, rewinds := []int64{}, []item.Seq{}, make(map[item.Seq]item.Seq)
	for after := max(p.First, 1) - 1; ; {
		page, err := w.s.Read(context.Background(), p.ID, after, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			markTakenBack(times, seqs, rewinds, p.Last)
			return times
		}
		for _, r := range page {
			after = r.Seq
			e, err := r.Decode()
			if err != nil {
				t.Fatal(err)
			}
			if back, ok := e.Kind.(item.Rewind); ok {
				rewinds[r.Seq] = back.To
			}
			for _, text := range textsOf(e.Kind) {
				if strings.Contains(folded(text), folded(needle)) {
					times, seqs = append(times, e.Time.Unix()), append(seqs, r.Seq)
					break
				}
			}
		}
	}
}

// markTakenBack marks the entries that are not on the way from the last one back.
func markTakenBack(times []int64, seqs []item.Seq, rewinds map[item.Seq]item.Seq, at item.Seq) {
	for i, seq := range slices.Backward(seqs) {
		for at > seq {
			if to, ok := rewinds[at]; ok {
				at = to
			} else {
				at--
			}
		}
		if at < seq {
			times[i] = -times[i]
		}
	}
}

// textsOf are the texts that anyKind gave an entry.
func textsOf(kind item.Kind) []string {
	switch k := kind.(type) {
	case item.Submitted:
		return []string{k.Text}
	case item.Note:
		return []string{k.Text}
	case item.TurnEnded:
		return []string{k.Cause}
	case item.ItemAdded:
		switch it := k.Item.(type) {
		case item.AssistantMessage:
			return []string{it.Text}
		case item.Reasoning:
			return []string{it.Text}
		case item.ToolResult:
			texts := []string{it.Summary, it.Content}
			for _, d := range it.Diffs.List() {
				texts = append(texts, d.Path, d.Diff)
			}
			return texts
		case item.ToolCall:
			var list struct{ A []any }
			var nested struct{ A struct{ B string } }
			switch {
			case json.Unmarshal([]byte(it.Arguments), &list) == nil:
				return []string{"t", "a", fmt.Sprint(list.A[1])}
			case json.Unmarshal([]byte(it.Arguments), &nested) == nil:
				return []string{"t", "a", "b", nested.A.B}
			}
			return []string{"t", it.Arguments}
		}
	}
	return nil
}
