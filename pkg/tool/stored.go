package tool

import "context"

type storedKey struct{}

// WithStored lets a tool that is run or recovered with ctx leave work for when its
// result is stored. later is called by Run or Recover itself; what it is given is to be
// called once the result can no longer be lost, and not at all when podd ends first.
func WithStored(ctx context.Context, later func(work func())) context.Context {
	return context.WithValue(ctx, storedKey{}, later)
}

// Stored has work done once the result of the running call is stored: removing that by
// which Recover would find it. Where nobody stores results, work is done at once.
func Stored(ctx context.Context, work func()) {
	if later, ok := ctx.Value(storedKey{}).(func(func())); ok {
		later(work)
		return
	}
	work()
}
