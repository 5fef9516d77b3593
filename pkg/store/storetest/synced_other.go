//go:build !linux

package storetest

import "errors"

func dirtyPages(string) (uint64, error) { return 0, errors.ErrUnsupported }
