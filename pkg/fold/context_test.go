package fold_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"podd/pkg/fold"
	"podd/pkg/item"
)

func newContext(t interface{ Fatal(...any) }) *fold.Context {
	s, err := fold.NewContext(fold.ContextConfig{Limiter: limiter})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func foldOf(t *testing.T, kinds ...item.Kind) *fold.Context {
	t.Helper()
	s := newContext(t)
	for i, k := range kinds {
		s.Add(item.Entry{Seq: item.Seq(i + 1), Kind: k})
	}
	return s
}

func TestRequest(t *testing.T) {
	user := item.UserMessage{Text: "hi"}
	call := item.ToolCall{CallID: "c1", Name: "shell"}
	result := item.ToolResult{CallID: "c1"}
	s := foldOf(t,
		item.Submitted{Text: "hi"},
		item.TurnStarted{},
		item.Setup{Model: "old"},
		item.ItemAdded{Item: user},
		item.Setup{Model: "new"},
		item.ItemAdded{Item: call},
		item.ToolStarted{CallID: "c1"},
		item.ItemAdded{Item: result},
		item.RequestUsage{},
		item.TurnEnded{},
	)
	r := s.Request()
	if r.Setup.Model != "new" {
		t.Errorf("setup %+v", r.Setup)
	}
	if want := []item.Item{user, call, result}; !reflect.DeepEqual(r.Items, want) {
		t.Errorf("items %v", r.Items)
	}
}

func TestEmpty(t *testing.T) {
	s := foldOf(t)
	if _, ok := s.Setup(); ok || len(s.Request().Items) != 0 || len(s.OpenCalls()) != 0 || s.KnownCall("") {
		t.Error("an empty log is not empty")
	}
}

// Each request extends the previous one, the open calls are those without a result in the
// order of the log, and an earlier request does not change when the log grows.
func TestGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newContext(t)
		var before, snapshot []item.Item
		var open []string
		calls := 0
		add := func(it item.Item) { s.Add(item.Entry{Kind: item.ItemAdded{Item: it}}) }
		t.Repeat(map[string]func(*rapid.T){
			"message": func(t *rapid.T) { add(item.UserMessage{Text: rapid.String().Draw(t, "text")}) },
			"call": func(*rapid.T) {
				calls++
				id := fmt.Sprint("c", calls)
				open = append(open, id)
				add(item.ToolCall{CallID: id})
			},
			"result": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("no call is open")
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "call")
				add(item.ToolResult{CallID: open[i]})
				open = append(open[:i:i], open[i+1:]...)
			},
			"": func(t *rapid.T) {
				items := s.Request().Items
				if !slices.Equal(before, snapshot) || !slices.Equal(items[:len(before)], before) {
					t.Fatal("the request does not extend the one before")
				}
				before, snapshot = items, append([]item.Item(nil), items...)
				var got []string
				for _, c := range s.OpenCalls() {
					got = append(got, c.CallID)
				}
				if !slices.Equal(got, open) {
					t.Fatalf("open calls %v, want %v", got, open)
				}
				if calls > 0 && !s.KnownCall(fmt.Sprint("c", calls)) {
					t.Fatal("a call of the log is not known")
				}
			},
		})
	})
}
