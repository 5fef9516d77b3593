package interceptor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"podd/pkg/interceptor"
	"podd/pkg/interceptor/interceptortest"
	"podd/pkg/item"
)

// noForcePush keeps the model from rewriting history that others have.
type noForcePush struct{ interceptor.Base }

// Name is "no_force_push".
func (noForcePush) Name() string { return "no_force_push" }

// BeforeTool denies what would push by force.
func (noForcePush) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	if c.Tool == "shell" && strings.Contains(c.Arguments, "push --force") {
		return c.Deny("history that others have is not rewritten: push a new commit")
	}
	return c.Continue()
}

// budget tells the model when a turn has become expensive, once.
type budget struct {
	interceptor.Base
	tokens int64
}

// Name is "budget".
func (budget) Name() string { return "budget" }

// BeforeRequest adds a message to the history when the turn exceeds its budget. Its
// decision depends only on its argument, so the same question gets the same verdict.
func (b budget) BeforeRequest(_ context.Context, r interceptor.Request) interceptor.RequestVerdict {
	if r.Step%10 != 0 || r.Usage.Input < b.tokens {
		return r.Continue()
	}
	text := fmt.Sprintf("This turn has used %d tokens. Finish what you are at, and say what is left.", r.Usage.Input)
	return r.ContinueWith(item.SystemMessage{Origin: item.OriginInterceptor, Text: text})
}

// tested continues a turn that changed a file and ran no test since.
type tested struct{ interceptor.Base }

// Name is "tested".
func (tested) Name() string { return "tested" }

// TurnEnd checks what the turn did. If it cannot read the history, it warns but lets the
// turn finish.
func (tested) TurnEnd(_ context.Context, t interceptor.Turn) interceptor.TurnVerdict {
	changed := ""
	for past, err := range t.ThisTurn() {
		if err != nil {
			return t.Finish().Warn(err.Error())
		}
		switch r, ok := past.Item.(item.ToolResult); {
		case !ok:
		case r.Kind == item.OutputEdit && !r.IsError:
			changed = r.Summary
		case r.Kind == item.OutputShell && strings.Contains(r.Summary, "test"):
			changed = ""
		}
	}
	if changed == "" {
		return t.Finish()
	}
	text := "No test ran since this change: " + changed
	return t.ContinueWith(item.SystemMessage{Origin: item.OriginInterceptor, Text: text})
}

// An interceptor embeds Base and implements the edges that it needs. It goes into
// pod.Config.Interceptors.
func Example() {
	chain := interceptor.Chain{noForcePush{}, budget{tokens: 500_000}, tested{}}
	ctx := context.Background()

	call := interceptor.Call{Tool: "shell", Arguments: `{"command":"git push --force"}`}
	d, err := chain.BeforeTool(ctx, call, func(arguments string) (string, error) { return arguments, nil })
	fmt.Println(d.Denied, err)

	r, err := chain.BeforeRequest(ctx, interceptor.Request{Step: 20, Usage: item.Usage{Input: 600_000}})
	fmt.Println(len(r.Items), err)

	// podd sets the Conversation; this one is from a turn that edited a file.
	edit := item.ToolResult{Tool: "edit_file", Output: item.Output{Summary: "edit_file: a.go, 1 place replaced", Kind: item.OutputEdit, Path: "a.go"}}
	conversation := interceptor.NewConversation(func(bool) iter.Seq2[interceptor.Past, error] {
		return func(yield func(interceptor.Past, error) bool) {
			yield(interceptor.Past{Seq: 7, Turn: 1, Item: edit}, nil)
		}
	})
	e, err := chain.TurnEnd(ctx, interceptor.Turn{Turn: 1, Steps: 2, Answer: "Done.", Conversation: conversation})
	fmt.Println(e.Items[0].(item.SystemMessage).Text, err)
	// Output:
	// denied by no_force_push: history that others have is not rewritten: push a new commit <nil>
	// 1 <nil>
	// No test ran since this change: edit_file: a.go, 1 place replaced <nil>
}

// The examples follow the rules for interceptors.
func TestExamplesConform(t *testing.T) {
	force, err := json.Marshal(map[string]string{"command": "git push --force"})
	if err != nil {
		t.Fatal(err)
	}
	interceptortest.Conform(t, noForcePush{}, interceptortest.Events{
		Calls: []interceptor.Call{{Pod: "p", Turn: 1, CallID: "c", Tool: "shell", Arguments: string(force)}},
	})
	interceptortest.Conform(t, budget{tokens: 1000}, interceptortest.Events{
		Requests: []interceptor.Request{{Pod: "p", Turn: 1, Step: 10, Usage: item.Usage{Input: 2000}}},
	})
	interceptortest.Conform(t, tested{}, interceptortest.Events{})
}
