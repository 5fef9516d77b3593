package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"podd/pkg/item"
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

// damagedPod is the error for a damaged record of a pod, or for the tree around it.
func damagedPod(pod string) *item.Error {
	e := item.Errorf(item.KindDataLoss, ReasonDamaged,
		"the record of pod %s is damaged: restore a backup, or delete the pod", pod)
	e.Meta = map[string]string{"pod": pod}
	return e
}

// damagedAt is the error for a damaged entry.
func damagedAt(pod string, seq item.Seq) *item.Error {
	e := item.Errorf(item.KindDataLoss, ReasonDamaged,
		"entry %[2]d of pod %[1]s is damaged; earlier entries can still be read", pod, seq)
	e.Meta = map[string]string{"pod": pod, "seq": strconv.FormatInt(int64(seq), 10)}
	return e
}

// podFault is err or, if a read of a pod faulted, an error about that pod.
func podFault(pod string, err error) error {
	if !isFault(err) {
		return err
	}
	e := damagedPod(pod)
	e.Cause = err
	return e
}
