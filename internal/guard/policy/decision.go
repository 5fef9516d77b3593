package policy

// Decision is what happens to a call. The zero value is none of them, so that
// nothing is allowed by omission.
type Decision string

// The decisions. Among matching rules deny goes before ask, ask before allow.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Mode says when calls ask that no rule matches.
type Mode string

// The modes.
const (
	// Never asks nobody: what would ask is denied, with the way to allow it.
	Never Mode = "never"
	// Risky asks for calls that leave the sandbox or the scope.
	Risky Mode = "risky"
	// Always asks for every call.
	Always Mode = "always"
)

// Verdict is the decision on one call.
type Verdict struct {
	Decision Decision
	// Why is one sentence, for people and for the model, that names what decided: a
	// rule by its Source, or the mode. It may quote the call; quoted text is escaped.
	Why string
}
