package policy

// The decisions. Among matching rules deny precedes ask, and ask precedes allow. The
// empty text is not a decision, so that nothing is allowed by omission.
const (
	Allow = "allow"
	Ask   = "ask"
	Deny  = "deny"
	// Only denies each command of the tool that no rule with it would allow. Agents have it; no configuration and no client gives it.
	Only = "only"
)

// The modes, which say when calls ask that match no rule.
const (
	// Never never asks: what would ask is denied, with the way to allow it.
	Never = "never"
	// Risky asks for calls that leave the sandbox or the scope.
	Risky = "risky"
	// Always asks for every call.
	Always = "always"
)

// Verdict is the decision on one call.
type Verdict struct {
	// Decision is Allow, Ask or Deny.
	Decision string
	// Why is one sentence, for people and for the model, that names what decided: a rule by
	// its Source, or the mode. It may quote the call; quoted text is escaped.
	Why string
}
