// Package briefing has podd's own text for models: the built-in instructions, where the
// pod works, and what changes from turn to turn, such as the day.
//
// Base and Environment are part of the setup, which stays the same as long as the pod's
// configuration does, so that a prompt cache keeps the rest. State comes after the user's
// message.
//
// Rank 2: it reads a repository through the pod's files and runs nothing.
package briefing
