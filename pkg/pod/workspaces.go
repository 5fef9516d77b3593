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
	// Check refuses a spec that can't work, and looks up the directories that it has and the
	// previous one does not: resolve replaces them by their real paths. What a spec has in
	// common with the previous one was valid when it was stored, and is not checked again.
	// Check may hang.
	Check(spec, before item.PodSpec) (resolve func(spec, before item.PodSpec) item.PodSpec, err error)
	// Open gives a loaded pod its workspace. It reads no file. above are the pods above this
	// one, its parent first.
	Open(p item.Pod, above func() ([]item.Pod, error)) (Workspace, error)
	// Leave ends the jobs of a deleted pod, and waits for their end. Its data stays.
	Leave(id string)
	// Remove removes the data that is kept for a deleted pod, and ends its jobs.
	Remove(id string) error
	// Abandon ends the commands of a pod that is not loaded: all, as its log can't be read or is
	// another node's, or those of [Ground.Check] only, as a killed podd left them. It does not
	// wait for their end.
	Abandon(id string, checksOnly bool)
	// Picture makes an image of the bytes of a file. Its errors are sentences without a subject.
	Picture(data []byte, name string) (item.Image, error)
	// Explain returns the parts of a setup that precede the items of a request, and the file
	// of the workspace's text.
	Explain(s item.Setup, bytesPerToken float64) (parts []FixedPart, source string)
}

// Workspace is where one loaded pod works. Follow and Close are called in the pod's
// goroutine, the others in any.
type Workspace interface {
	// Decide says whether a call may run, under the current rules.
	Decide(name string, access tool.Access) worker.Ruling
	// Follow checks a spec. It applies once use is called; moves says that the tools' basis
	// then changes.
	Follow(spec item.PodSpec) (moves bool, use func(), err error)
	// Look reads what a turn is based on. It may hang.
	Look() (Ground, error)
	// Refer converts a submit for the log, and returns alerts about what could not be
	// resolved. It may hang.
	Refer(ctx context.Context, s Submit) (item.Submitted, []item.Alert, error)
	// Complete completes the text after an @, also by paths that only have its characters in
	// their order. It may hang.
	Complete(ctx context.Context, prefix string, limit int) ([]string, error)
	// RuleFor is the rule that lets calls like this one run without a question. It may hang.
	RuleFor(ctx context.Context, asked item.ApprovalRequested) (*item.Rule, error)
	// Recovering equips the worker of a turn that only ends: with tools that find the
	// outcome of calls, and work without the directory.
	Recovering(c *worker.Config) error
	// Close closes the directory. Whatever still uses it gets cause.
	Close(cause error)
}

// Ground is what a turn is based on, as the workspace was when it was read.
type Ground interface {
	// Follow applies the workspace's configuration from now on. It returns one sentence
	// about ignored parts of it; empty without any. It is called in the pod's goroutine.
	Follow() (says string, err error)
	// Equip gives a worker its tools and the workspace's text.
	Equip(c *worker.Config) error
	// Offered are the tools together with those of other programs; nil if those have none.
	// With start, it starts programs of which nothing is known yet.
	Offered(ctx context.Context, start bool) (*tool.Registry, error)
	// Check runs a command of a person's as those of the model run.
	Check(ctx context.Context, command string, seconds int) (tool.Output, error)
	// Prompts are what typed text may begin with.
	Prompts() []Prompt
	// Use keeps the directory open for a turn until done is called.
	Use() (done func())
}

// Prompt is what typed text may begin with, as /NAME; see [Submit.ParseRefs].
type Prompt struct {
	// Name follows the slash. About says in a line what it does, Arguments what to type behind the name.
	Name, About, Arguments string
}

// FixedPart is a part of a request before the conversation.
type FixedPart struct {
	// Kind is base, environment, instructions, project, skill, tools or mcp.
	Kind string
	// Name is its file or server, or the skill; may be empty.
	Name string
	// Count is how many tools it has; 0 for text.
	Count int
	// Bytes is its size, Tokens an estimate.
	Bytes, Tokens int
}
