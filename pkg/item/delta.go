package item

// DeltaKind says what a fragment is a part of.
type DeltaKind string

// The kinds of delta.
const (
	DeltaText          DeltaKind = "text"
	DeltaReasoning     DeltaKind = "reasoning"
	DeltaToolArguments DeltaKind = "tool_arguments"
	DeltaToolOutput    DeltaKind = "tool_output"
)

// Delta is a live fragment of an unfinished entry. It is never stored.
type Delta struct {
	Turn int64
	// Step is the step of the turn, from 1.
	Step int
	// Block names the block of the fragment, unique in the turn.
	Block string
	Kind  DeltaKind
	// CallID and Tool are set for the tool kinds, once known.
	CallID, Tool string
	Text         string
	// Restarted says that the answer was cut and begins again: all earlier fragments of this
	// step are void.
	Restarted bool
}
