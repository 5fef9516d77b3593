// Package builtin has the tools that every pod has: reading, writing, patching, listing
// and searching the files of a scope, fetching pages, and a task list. Package shell has those
// that run commands.
//
// File tools go through scopefs and never leave its scope.
//
// The tools of one New share one lock for changes to files, so that two edits of one file
// in the same step do not lose each other's work.
package builtin
