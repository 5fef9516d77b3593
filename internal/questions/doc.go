// Package questions has ask_user, the tool by which a model asks a person. The door is [tool.Invocation.Ask]: the core stores the
// form, waits, and finds the answer again after a restart.
//
// A question is an approval with a form, and has no kinds of entries of its own: every client, hook, scope, node and backup knows
// what waits for a person. An older client shows a question as something that waits: its "deny" declines, and podd refuses its
// "approve" with the command that answers.
package questions
