package workspace

import (
	"context"

	"podd/internal/workspace/prompts"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// Project is what the configuration of a workspace adds. It informs and narrows.
type Project struct {
	// Instructions are sent as the workspace's word; Source is their file.
	Instructions, Source string
	// Rules ask or deny; their paths are those of the workspace.
	Rules []item.Rule
	// Tools returns those of other programs, in the order for the model; nil means none.
	// With start it starts programs of which nothing is known yet. It returns soon after ctx
	// ends, with what it has.
	Tools func(ctx context.Context, start bool) []tool.Tool
	// Resource reads what a person refers to as @SERVER:URI; nil means that there are no servers. known is false for one that it
	// does not have.
	Resource func(ctx context.Context, server, uri string) (text string, known bool, err error)
	// Prompts are those that a person calls as /SERVER:NAME, and Prompt gets one with its arguments. Both are nil without servers.
	// known is false for a server that it does not have.
	Prompts func() []pod.Prompt
	Prompt  func(ctx context.Context, server, name string, arguments []string) (got prompts.Expanded, known bool, err error)
	// Says tells a person in one sentence which part of the configuration podd ignores;
	// empty without one.
	Says string
}
