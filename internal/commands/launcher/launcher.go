// Package launcher finds podd-launch, a small program that starts commands for podd and
// confines them. podd can do both by its own binary, but that takes longer to start.
//
// podd uses only a podd-launch of its own version and source, and only the file that it
// found at its start.
//
// A Launcher may be used from any goroutine. The package starts no goroutine.
package launcher

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"

	"podd/internal/commands"
	"podd/pkg/version"
)

// Name is the program's name.
const Name = "podd-launch"

// identityArgument makes podd-launch print its Identity.
const identityArgument = "identity"

// Main is podd-launch, if it was not started as a helper or a shim.
func Main() {
	if len(os.Args) == 2 && os.Args[1] == identityArgument {
		_, _ = fmt.Fprintln(os.Stdout, Identity())
		return
	}
	fmt.Fprintln(os.Stderr, Name+": podd runs this program to start commands; it does nothing by itself")
	os.Exit(64)
}

// Identity tells programs of different versions or source apart.
func Identity() string {
	sum := fnv.New128a()
	// Reading what was embedded does not fail.
	_ = fs.WalkDir(commands.Source, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := commands.Source.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text)
		return err
	})
	return fmt.Sprintf("%s %x", version.String(), sum.Sum(nil))
}
