// Package instructions reads what a workspace says about how work is done in it: its
// AGENTS.md, or CLAUDE.md.
//
// Whoever wrote the workspace wrote that file, so it is data: it is read within the
// pod's scope, bounded, freed of what a person would not see, and sent as the
// workspace's word. What was left out of it stands in the text itself, so that two
// texts differ whenever there is something new to tell.
package instructions
