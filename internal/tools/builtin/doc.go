// Package builtin has the tools that every pod has: reading, writing, patching, listing
// and searching the files of a scope, running commands, and a task list.
//
// File tools go through scopefs and never leave its scope. The shell does not: it runs
// with all rights of podd's user until something outside it confines it. Commands get an
// explicit environment and their own session, and end, with everything that they started,
// when the call ends. A program that runs the shell calls Main first, and sets a Sandbox
// and a Starter.
//
// The tools of one New share one lock for changes to files, so that two edits of one file
// in the same step do not lose each other's work.
package builtin
