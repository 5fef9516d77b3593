package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"podd/internal/commands/process"
)

// tellGroup is a process that says what its group leaves to commands.
func tellGroup() {
	group, remove := process.CommandGroup()
	limit, _ := os.ReadFile(filepath.Join(group, "pids.max"))
	most, crowded := process.Crowded()
	fmt.Println(group, strings.TrimSpace(string(limit)), most, crowded)
	remove()
	os.Exit(0)
}
