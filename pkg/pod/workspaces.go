package pod

import (
	"context"

	"podd/pkg/item"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// Workspaces are where pods work: their directories, tools, rules and skills. Package
// workspace has them.
type Workspaces interface {
	// Check refuses a spec that can't work, and finds the directories that it has and the
	// one before has not: resolve gives them the names that they have without links. What a
	// spec has of the one before was right when it was stored, and is not asked about again.
	// Check may hang.
	Check(spec, before item.PodSpec) (resolve func(spec, before item.PodSpec) item.PodSpec, err error)
	// Open gives a pod that is loaded its workspace. It reads no file. above are the pods
	// above this one, its parent first.
	Open(p item.Pod, above func() ([]item.Pod, error)) (Workspace, error)
	// Remove removes what is kept of a pod that was deleted.
	Remove(id string) error
	// Explain says what of a setup precedes the items of a request, part by part, and
	// which file of the workspace its words are from.
	Explain(s item.Setup, bytesPerToken float64) (parts []FixedPart, source string)
}

// Workspace is where one loaded pod works. Follow and Close are called in the pod's
// goroutine, the others in any.
type Workspace interface {
	// Decide says whether a call may run, under the rules of now.
	Decide(name string, access tool.Access) worker.Ruling
	// Follow checks a spec. It counts once use is called; moves says that tools stand on
	// something else then.
	Follow(spec item.PodSpec) (moves bool, use func(), err error)
	// Look reads what a turn stands on. It may hang.
	Look() (Ground, error)
	// Refer turns a submit into what is stored, and says what of it could not be resolved.
	// It may hang.
	Refer(ctx context.Context, s Submit) (item.Submitted, []item.Alert, error)
	// Complete completes what was typed behind an @. It may hang.
	Complete(ctx context.Context, prefix string, limit int) ([]string, error)
	// RuleFor is the rule that lets such calls run unasked as the one that asks. It may
	// hang.
	RuleFor(ctx context.Context, asked item.ApprovalRequested) (*item.Rule, error)
	// Recovering equips the worker of a turn that only ends: with tools that know what
	// became of calls, and work without the directory.
	Recovering(c *worker.Config) error
	// Close closes the directory. What still looks into it gets cause.
	Close(cause error)
}

// Ground is what a turn stands on, as its workspace had it when it was looked at.
type Ground interface {
	// Follow lets what the configuration of the workspace says count from now on. It says
	// in one sentence what of that is not followed; empty when that is nothing. It is called
	// in the pod's goroutine.
	Follow() (says string, err error)
	// Equip gives a worker its tools and what the workspace says.
	Equip(c *worker.Config) error
	// Offered are the tools together with those of other programs; nil when there are
	// none of those. With start, programs of which nothing is known yet are started.
	Offered(ctx context.Context, start bool) (*tool.Registry, error)
	// Use keeps the directory open under a turn until done is called.
	Use() (done func())
}

// FixedPart is a part of what precedes the conversation in a request.
type FixedPart struct {
	// Kind is instructions, project, skill, tools or mcp.
	Kind string
	// Name is the file or the server that it is from, or the skill; may be empty.
	Name string
	// Count is how many tools it has; 0 for text.
	Count int
	// Tokens is an estimate.
	Tokens int
}
