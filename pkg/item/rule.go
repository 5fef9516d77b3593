package item

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Equal says whether two rules say the same, and have the same source.
func (r Rule) Equal(other Rule) bool {
	return r.Source == other.Source && slices.Equal(r.parts(), other.parts())
}

// ID is 16 hex digits, made from what the rule says.
func (r Rule) ID() string {
	sum := sha256.Sum256([]byte(strings.Join(r.parts(), "\x00")))
	return hex.EncodeToString(sum[:8])
}

// parts are what the rule says.
func (r Rule) parts() []string {
	parts := []string{r.Decision, r.Tool, r.Path, r.Command, r.Host}
	for _, level := range r.Access {
		parts = append(parts, string(level))
	}
	return parts
}
