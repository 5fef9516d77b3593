package server

import (
	"errors"
	"fmt"
	"syscall"

	"podd/pkg/item"
	"podd/pkg/store"
)

// ReasonTooManyFiles says that podd or the machine has as many files open as it may.
const ReasonTooManyFiles = "TOO_MANY_FILES"

// The texts of alerts. They do not change, so that each is stored once.
const (
	noSpaceAlert = "a file system that podd writes to has no space or no inodes left, or a quota is reached: free some, for example with podctl delete POD --now; podd's log names the file"
	noFilesAlert = "podd has as many files open as it may: raise its limit (ulimit -n, or LimitNOFILE= of its service), or let fewer pods work at once"
)

// scarce is the error for a call that failed, wherever, because the system ran out of something, and the alert
// about that. It is nil for other errors, and for those that say so already.
func scarce(err error) (e *item.Error, alert string) {
	switch {
	case item.KindOf(err) == item.KindExhausted:
		return nil, ""
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		text := fmt.Sprintf("%v: free some disk space or inodes, and try again", err)
		if ours, ok := errors.AsType[*item.Error](err); ok {
			text = ours.Message
		}
		e, alert = item.Errorf(item.KindExhausted, store.ReasonNoSpace, "%s", text), noSpaceAlert
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		e = item.Errorf(item.KindExhausted, ReasonTooManyFiles,
			"podd has as many files open as it may: try again, and raise its limit of open files if this repeats")
		alert = noFilesAlert
	default:
		return nil, ""
	}
	e.Cause = err
	return e, alert
}
