// Package claude runs the hooks of Claude Code as they are: commands in settings.json or in a
// plugin's hooks.json, which get the event as JSON on standard input, with Claude's names of
// tools and their arguments, and answer with an exit status or JSON. Codex has the same form.
//
// Hooks is an interceptor where hooks decide, and a hook where they only watch. As every
// interceptor it only narrows: what a hook allows, podd may still deny or ask.
//
// A hook that fails decides nothing, as in Claude Code: podd says so once for each pod and goes
// on. docs/extensions.md says what is different.
package claude
