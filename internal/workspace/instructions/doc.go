// Package instructions reads a workspace's instructions for work in it: its AGENTS.md, or
// CLAUDE.md.
//
// Whoever wrote the workspace wrote that file, so it is data: podd reads it within the
// pod's scope, bounds it, removes characters that a person would not see, and sends it as
// the workspace's word. The text itself says what was left out of it, so that two texts
// differ whenever there is news.
package instructions
