package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"podd/pkg/item"
)

// fault is what reading a damaged file did to this process.
type fault struct {
	value any
	stack []byte
}

func (f *fault) Error() string { return fmt.Sprintf("%v\n%s", f.value, f.stack) }

// guard runs fn and turns a panic, or a fault of the mapped file, into a *fault.
// bbolt trusts its pages: a damaged one makes it panic or touch memory that is not
// there.
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

// damagedPod says that a pod's record, or the tree that holds it, is damaged.
func damagedPod(pod string) *item.Error {
	e := item.Errorf(item.KindDataLoss, ReasonDamaged,
		"the record of pod %s is damaged; restore a backup, or delete the pod", pod)
	e.Meta = map[string]string{"pod": pod}
	return e
}

// damagedAt says that one entry is damaged.
func damagedAt(pod string, seq item.Seq) *item.Error {
	e := item.Errorf(item.KindDataLoss, ReasonDamaged,
		"pod %s is damaged at seq %d; what stands before it can still be read", pod, seq)
	e.Meta = map[string]string{"pod": pod, "seq": strconv.FormatInt(int64(seq), 10)}
	return e
}

// podFault is err, or, when reading a pod faulted, a sentence about that pod.
func podFault(pod string, err error) error {
	if !isFault(err) {
		return err
	}
	e := damagedPod(pod)
	e.Cause = err
	return e
}
