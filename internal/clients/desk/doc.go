// Package desk reads the person's own settings of the terminal view, desk.toml.
//
// Rank 1: it imports internal/typo.
package desk
