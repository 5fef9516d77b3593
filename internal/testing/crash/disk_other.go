//go:build !linux

package crash

import (
	"context"
	"errors"
	"math/rand/v2"
)

// disk is a file system whose power can be cut, which only Linux has.
type disk struct{ dir string }

func newDisk(context.Context, string, uint64) (*disk, error) {
	return nil, errors.New("only Linux can cut the power of a disk")
}

func (*disk) machine() []string                     { return nil }
func (*disk) sync() error                           { return nil }
func (*disk) cut(context.Context, *rand.Rand) error { return nil }
func (*disk) close(context.Context, bool) error     { return nil }
