// Package plugin keeps the plugins of Claude Code that a person added: directories with hooks,
// skills, commands and MCP servers. A plugin counts while its directory is, byte by byte, what that
// person saw; one that changed runs nothing until it is added again.
//
// The record is a file in podd's state directory, which no tool reaches. A Book may be used from
// any goroutine.
package plugin
