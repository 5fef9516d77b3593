package item_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"go.uber.org/goleak"

	"podd/pkg/item"
)

// The key of a call is the same for the same call for ever, and different for every other one.
func TestKeyOfACall(t *testing.T) {
	call := item.ToolCall{CallID: "c1", Name: "shell", Arguments: `{"command":"ls"}`, Via: "call_tool"}
	if got, want := call.Key("p1"), "d31dee5de991c0d8fa06187cb9f72c2f"; got != want {
		t.Errorf("the key is %s, and was %s in every version: services know calls by it", got, want)
	}
	seen := map[string]bool{call.Key("p1"): true, call.Key("p2"): true}
	for _, change := range []func(*item.ToolCall){
		func(c *item.ToolCall) { c.CallID = "c2" }, func(c *item.ToolCall) { c.Name = "job" }, func(c *item.ToolCall) { c.Arguments = "{}" },
	} {
		other := call
		change(&other)
		seen[other.Key("p1")] = true
	}
	if len(seen) != 5 {
		t.Errorf("5 calls have %d keys", len(seen))
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The model gets the summary and, unless it is pruned, the content.
func TestOutputText(t *testing.T) {
	for _, tt := range []struct {
		out  item.Output
		want string
	}{
		{item.Output{Summary: "ls: 2 lines", Content: "a\nb"}, "ls: 2 lines\na\nb"},
		{item.Output{Summary: "ls: 2 lines"}, "ls: 2 lines"},
		{item.Output{}, ""},
	} {
		if got := tt.out.Text(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// Add adds every field: a missing one would lose tokens silently.
func TestUsageAdd(t *testing.T) {
	var a, b item.Usage
	va, vb := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	for i := range va.NumField() {
		va.Field(i).SetInt(int64(i + 1))
		vb.Field(i).SetInt(100)
	}
	sum := reflect.ValueOf(a.Add(b))
	for i := range sum.NumField() {
		if got := sum.Field(i).Int(); got != int64(i+101) {
			t.Errorf("%s is %d, want %d", sum.Type().Field(i).Name, got, i+101)
		}
	}
}

// An Error keeps its kind and reason through wrapping, and its cause out of its message.
func TestError(t *testing.T) {
	e := item.Errorf(item.KindNotFound, "POD_NOT_FOUND", "there is no pod %q", "x")
	e.Cause = io.ErrUnexpectedEOF
	err := fmt.Errorf("while looking: %w", e)
	if item.KindOf(err) != item.KindNotFound || item.ReasonOf(err) != "POD_NOT_FOUND" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("kind %s, reason %s", item.KindOf(err), item.ReasonOf(err))
	}
	if e.Error() != `there is no pod "x"` {
		t.Errorf("message %q", e.Error())
	}
	if item.KindOf(io.EOF) != item.KindInternal || item.ReasonOf(io.EOF) != "" {
		t.Error("another error has a kind of ours")
	}
}
