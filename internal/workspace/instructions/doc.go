// Package instructions reads what people wrote down for the work in a workspace: its
// AGENTS.md or CLAUDE.md and those of the directories above, what these import, and the
// rules in .claude/rules.
//
// Whoever wrote the workspace wrote those files, so they are data: podd reads them within
// the pod's scope, bounds them, removes characters that a person would not see, and sends
// them as the workspace's word. The text itself says what was left out of it, so that two
// texts differ whenever there is news.
//
// One thing is read outside the scope: the AGENTS.md or CLAUDE.md of each directory between
// the workspace and the root of its repository, because all who work in the repository get
// those.
package instructions
