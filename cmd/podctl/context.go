package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

func newContextCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "context [POD]",
		Short: "Show what a pod's next model request would contain",
		Long: "Shows what the pod would send to the model now: each item, its size in tokens, whether it was cut, and why a " +
			"result is left out or kept. With -o json it prints the request itself, byte for byte, except that control characters are escaped on " +
			"a terminal.",
		RunE: p.onPod(runContext),
	}
}

func runContext(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Pods().GetContext(ctx, &poddv1.GetContextRequest{Pod: s.pod})
	if err != nil {
		return err
	}
	if s.output == outputJSON {
		_, onTerminal := terminal(s.stdout)
		_, err := s.stdout.Write(bodyFor(onTerminal, resp.GetRequestBody()))
		return err
	}
	if err := contextTable(resp).writeTo(s.stdout); err != nil {
		return err
	}
	return contextFacts(resp).writeTo(s.stdout)
}

// bodyFor is a request's body as it is printed: byte for byte, except that terminal
// control characters are escaped on a terminal, which does not change the JSON's meaning.
func bodyFor(onTerminal bool, body []byte) []byte {
	switch {
	case !onTerminal:
		return body
	case json.Valid(body):
		return []byte(sanitize.JSON(string(body)))
	}
	return []byte(sanitize.Terminal(string(body)))
}

func contextTable(c *poddv1.GetContextResponse) table {
	fixed := int64(0)
	for _, f := range c.GetFixed() {
		fixed += f.GetBytes()
	}
	t := table{"SEQ\tTOKENS\tBYTES\tKIND\tNOTE\tTEXT"}
	t.row("-", "~"+view.Count(c.GetFixedTokens()), view.Count(fixed), "fixed", "", "instructions and tools")
	for _, f := range c.GetFixed() {
		note := ""
		if f.GetCount() > 0 {
			note = plural(int(f.GetCount()), "tool")
		}
		t.row("-", "~"+view.Count(f.GetTokens()), view.Count(f.GetBytes()), "  "+f.GetKind(), note, f.GetName())
	}
	for _, it := range c.GetItems() {
		t.row(fmt.Sprintf("#%d", it.GetSeq()), "~"+view.Count(it.GetTokens()), view.Count(it.GetBytes()), it.GetKind(), it.GetNote(), it.GetHead())
	}
	return t
}

// contextFacts say how large the request is, and what of that is measured.
func contextFacts(c *poddv1.GetContextResponse) facts {
	measured := "no request yet; all numbers are estimates"
	if c.GetBilledTokens() > 0 {
		measured = fmt.Sprintf("%s tokens in the last request; newer text is estimated at %.1f bytes per token",
			view.Count(c.GetBilledTokens()), c.GetBytesPerToken())
	}
	window := "unknown"
	if n := c.GetWindow(); n > 0 {
		window = fmt.Sprintf("%s tokens, %d%% full", view.Count(n), 100*c.GetTokens()/n)
	}
	return facts{
		{"request", fmt.Sprintf("about %s tokens, %s bytes, for model %s", view.Count(c.GetTokens()), view.Count(int64(len(c.GetRequestBody()))), c.GetModel())},
		{"measured", measured},
		{"window", window},
		{"project instructions", projectInstructions(c)},
	}
}

// projectInstructions say where the workspace's own instructions are from.
func projectInstructions(c *poddv1.GetContextResponse) string {
	n := len(c.GetProjectInstructions())
	return when(n > 0, fmt.Sprintf("%s, %s bytes, sent as text from the workspace", orDefault(c.GetProjectSource(), "skills, and files that were not read"), view.Count(int64(n))))
}
