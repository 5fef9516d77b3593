// It starts for each command in a Landlock sandbox, and what decides on the number of its threads reads /proc.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command podd-launch starts commands for podd and confines them. podd executes it; it is
// small, because it starts for each command in a Landlock sandbox, where podd's own program
// would need several times as long until it becomes the command.
//
// podd opens it at its start and executes it by that descriptor, so an upgrade does not change
// what a running podd executes. podd uses it only if it has the same version and the same source
// of internal/commands, belongs to podd's user or root, and has not changed since. Otherwise
// podd executes itself, and podctl status says why.
package main

import (
	"podd/internal/commands/confine"
	"podd/internal/commands/launcher"
	"podd/internal/commands/shim"
)

func main() {
	confine.Main()
	shim.Main()
	launcher.Main()
}
