// Package questions has ask_user, the tool by which a model asks a person. The door is [tool.Invocation.Ask]: the core stores the
// form, waits, and finds the answer again after a restart.
package questions
