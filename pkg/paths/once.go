package paths

import (
	"fmt"
	"os"
	"path/filepath"
)

// OnceDir is the directory of the state directories of podctl run --once, which are temporary.
func OnceDir() string { return filepath.Join(os.TempDir(), fmt.Sprintf("podd-once-%d", os.Geteuid())) }
