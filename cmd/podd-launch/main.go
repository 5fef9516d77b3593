// It starts for each command in a Landlock sandbox, and what decides on the number of its threads reads /proc.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command podd-launch starts commands for podd and confines them. podd executes it; it is
// small, because it starts for each command in a Landlock sandbox.
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
