package tool

import (
	"errors"

	"podd/pkg/item"
)

// Access is what one call touches, as far as its arguments say: the basis of policy's
// decision. The zero Access is that of a call that may do anything; a person is asked
// about it.
type Access struct {
	// Command is a shell's command line; "" for a call that runs no command.
	Command string
	// Level is what of the machine the call asks for, and Why what the model says it needs
	// that for; empty for a call that has no levels.
	Level item.Access
	Why   string
	// Beyond says that Level is more than the pod has.
	Beyond bool
	// Host is the host and port that the call sends a request to, in lower case:
	// "go.dev:443"; empty for a call that sends none.
	Host string
	// Paths are the files and directories that the call names, as it names them.
	Paths []string
	// Targets are where Paths lead, in the same order; empty when unknown.
	Targets []Target
	// Writes says that the call changes the files of Paths.
	Writes bool
	// Obeys says that the call changes nothing in a turn that only plans: it does as
	// [Invocation.Plan] says.
	Obeys bool
	// Confined says that the call cannot leave the pod's scope or sandbox, whatever its
	// arguments are.
	Confined bool
	// Protected says, in one sentence per path, why a person has to agree to the call in any
	// mode.
	Protected []string
	// Note is what the provider of a foreign tool says about it, as half a sentence for the
	// person who is asked. It decides nothing.
	Note string
}

// Target is where a path of a call leads when policy decides on the call.
type Target interface {
	// Named is the path as in Access.Paths. Leads are the other paths that it becomes when
	// links are followed; empty if it leads to itself.
	Named() string
	Leads() []string
	// Seal differs for any two targets.
	Seal() string
	// Still says whether the path leads where it led earlier.
	Still(earlier Target) bool
}

// ErrChanged is what Run returns when a path of the call leads elsewhere than the Targets
// that the call was decided on with, or a file has another content than in the preview that a
// person agreed to. The call has done nothing: policy decides on it again.
var ErrChanged = errors.New("the call was changed")

// Touches tells policy what a call accesses. Without it a call may do anything.
func Touches[A any](access func(A) Access) Option[A] {
	return func(t *typed[A]) { t.access = access }
}

// Confined is Touches for a tool that names no files and leaves neither scope nor
// sandbox.
func Confined[A any]() Option[A] {
	return Touches(func(A) Access { return Access{Confined: true} })
}

// Access decodes as strictly as Run; arguments that Check refuses may do anything.
func (t *typed[A]) Access(arguments string) Access {
	args, err := t.decode(arguments)
	if err != nil || t.access == nil {
		return Access{}
	}
	return t.access(args)
}
