package tool_test

import (
	"context"
	"fmt"
	"sync"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// ledger is a service that makes a charge once per key.
type ledger struct {
	mu      sync.Mutex
	charges map[string]string
}

func (l *ledger) charge(key string, amount int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.charges[key] == "" {
		l.charges[key] = fmt.Sprintf("charge %d of %d EUR", len(l.charges)+1, amount)
	}
	return l.charges[key]
}

func (l *ledger) find(key string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.charges[key]
}

// A tool of your own gives the key of its call to the service. After a kill it asks the service by that key.
func ExampleRecovers() {
	type args struct {
		Amount int `json:"amount" jsonschema:"in EUR"`
	}
	l := ledger{charges: map[string]string{}}
	charge := tool.New("charge", "Charge the customer.",
		func(_ context.Context, call *tool.Invocation, a args) (tool.Output, error) {
			return tool.FromString(l.charge(call.Key, a.Amount)), nil
		},
		tool.Recovers(func(_ context.Context, call *tool.Invocation, _ args) (tool.Output, item.Recovery, error) {
			if made := l.find(call.Key); made != "" {
				return tool.FromString(made), item.RecoveryFound, nil
			}
			return tool.Error("charge: not done: podd ended before the call; call again if it is still needed"), item.RecoveryNoEffect, nil
		}))

	ctx := context.Background()
	interrupted := &tool.Invocation{Arguments: `{"amount":100}`, Key: "k1"}
	for range 2 {
		out, how, err := charge.Recover(ctx, interrupted)
		fmt.Println(how, out.Summary, err)
		if _, err := charge.Run(ctx, interrupted); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// no_effect charge: not done: podd ended before the call; call again if it is still needed <nil>
	// found charge 1 of 100 EUR <nil>
}
