package workspace

import (
	"context"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Project is what the configuration of a workspace adds. It informs and narrows.
type Project struct {
	// Instructions are sent as the workspace's word, Source is the file that they are
	// from.
	Instructions, Source string
	// Rules ask or deny; their paths are those of the workspace.
	Rules []item.Rule
	// Tools are those of other programs, in the order in which a model is sent them; nil
	// means none. With start, programs of which nothing is known yet are started. It
	// returns soon after ctx ends, with what there is.
	Tools func(ctx context.Context, start bool) []tool.Tool
	// Says tells a person in one sentence what of the configuration is not followed;
	// empty when that is nothing.
	Says string
}
