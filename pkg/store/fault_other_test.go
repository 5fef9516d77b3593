//go:build !linux

package store_test

import "context"

// The faults of fault_linux_test.go need Linux.
var platformHelpers map[string]func(ctx context.Context, path string) error
