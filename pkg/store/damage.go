package store

import (
	"errors"
	"fmt"
	"runtime/debug"

	"podd/pkg/store/rules"
)

// fault is the panic or memory fault of reading a damaged file.
type fault struct {
	value any
	stack []byte
}

func (f *fault) Error() string { return fmt.Sprintf("%v\n%s", f.value, f.stack) }

// guard runs fn and turns a panic, or a fault of the mapped file, into a *fault. bbolt
// trusts its pages: a damaged one makes it panic or access unmapped memory.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if value := recover(); value != nil {
			err = &fault{value: value, stack: debug.Stack()}
		}
	}()
	return fn()
}

// isFault says that guard caught err.
func isFault(err error) bool {
	_, ok := errors.AsType[*fault](err)
	return ok
}

// podFault is err or, if a read of a pod faulted, an error about that pod.
func podFault(pod string, err error) error {
	if !isFault(err) {
		return err
	}
	e := rules.Pod(pod)
	e.Cause = err
	return e
}
