// Command embed hosts a pod in its own program, with its own tool, interceptor and model.
// It submits a prompt and prints the answer.
//
//	go run . How many apples are there?
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/workspace"
)

func main() {
	// First: this process may be a helper of the shell tool.
	builtin.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	prompt := cmp.Or(strings.Join(os.Args[1:], " "), "How many apples are there?")
	answer, err := run(ctx, prompt)
	if err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
	fmt.Println(answer)
}

// run uses a new pod in a temporary directory. A program that keeps its pods names a
// permanent directory, and calls Recover when it starts.
func run(ctx context.Context, prompt string) (answer string, err error) {
	dir, err := os.MkdirTemp("", "embed-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	shop := filepath.Join(dir, "shop")
	if err := os.Mkdir(shop, 0o700); err != nil {
		return "", err
	}
	db, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(dir, "pods.db")})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	workspaces, err := workspace.New(workspace.Config{
		SpoolDir: filepath.Join(dir, "spool"),
		Tools:    []tool.Tool{stock},
		Shell:    builtin.Shell{Sandbox: builtin.DetectSandbox(ctx, builtin.SandboxConfig{Hidden: []string{dir}})},
	}, workspace.Settings{
		Rules: []item.Rule{{Tool: "shell", Decision: "deny", Source: "embed"}},
	})
	if err != nil {
		return "", err
	}
	host, err := pod.NewHost(ctx, pod.Config{
		Fixed:    pod.Fixed{Store: db, Workspaces: workspaces},
		Settings: pod.Settings{Router: llm.One(clerk{}), Interceptors: []interceptor.Interceptor{discreet{}}},
	})
	if err != nil {
		return "", err
	}
	defer host.Close(context.WithoutCancel(ctx))
	p, err := host.Create(ctx, "clerk", item.PodSpec{Dir: shop})
	if err != nil {
		return "", err
	}
	return ask(ctx, host, p.ID, prompt)
}

// ask submits a prompt and follows the log until the turn has ended.
func ask(ctx context.Context, host *pod.Host, id, prompt string) (answer string, err error) {
	submitted, err := host.Submit(ctx, pod.Submit{Pod: id, Segments: []item.Segment{item.TextSegment{Text: prompt}}})
	if err != nil {
		return "", err
	}
	for event, err := range host.Logs.Stream(ctx, pod.StreamQuery{Pod: id, After: submitted.Seq, Follow: true}) {
		if err != nil {
			return "", err
		}
		if event.Record == nil {
			continue
		}
		entry, err := event.Record.Decode()
		if err != nil {
			return "", err
		}
		switch kind := entry.Kind.(type) {
		case item.ItemAdded:
			if message, ok := kind.Item.(item.AssistantMessage); ok {
				answer = message.Text
			}
		case item.TurnEnded:
			if kind.Outcome != item.OutcomeFinished {
				return "", fmt.Errorf("the turn ended as %s: %s", kind.Outcome, kind.Cause)
			}
			return answer, nil
		}
	}
	return "", errors.New("the stream ended before the turn")
}

type stockArgs struct {
	Product string `json:"product" jsonschema:"what to count, in the plural"`
}

// stock is a tool of this program.
var stock = tool.New("stock", "Count a product of the shop.", func(_ context.Context, _ *tool.Invocation, a stockArgs) (tool.Output, error) {
	counts := map[string]int{"apples": 12, "pears": 7, "diamonds": 3}
	n, ok := counts[a.Product]
	if !ok {
		return tool.Error("stock: the shop has no %s", a.Product), nil
	}
	return tool.Output{Summary: fmt.Sprintf("There are %d %s.", n, a.Product)}, nil
}, tool.Confined[stockArgs]())

// discreet is an interceptor of this program: it keeps some products to itself.
type discreet struct{ interceptor.Base }

// Name is "discreet".
func (discreet) Name() string { return "discreet" }

// BeforeTool denies calls about diamonds.
func (discreet) BeforeTool(_ context.Context, c interceptor.Call) interceptor.CallVerdict {
	if c.Tool == "stock" && strings.Contains(c.Arguments, "diamonds") {
		return c.Deny("the shop does not talk about diamonds")
	}
	return c.Continue()
}
