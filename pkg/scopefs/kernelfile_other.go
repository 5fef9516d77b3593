//go:build !linux

package scopefs

import "os"

// kernelFile matters only on Linux, which serves regular files from /proc.
func kernelFile(*os.File) bool { return false }
