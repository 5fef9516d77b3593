package pod_test

import (
	"context"
	"strings"

	"podd/internal/spec"
	"podd/pkg/item"
)

// verify checks the logs of all pods.
func (h *house) verify() {
	h.t.Helper()
	found, err := spec.Pods(context.Background(), h.store)
	if err != nil || len(found) > 0 {
		h.t.Errorf("the logs: %s, error %v", strings.Join(found, "\n"), err)
	}
}

// allEnded checks that no turn is open in the log of "p", and what its alerts say.
func (h *house) allEnded() {
	h.t.Helper()
	p, err := h.host.Get(context.Background(), "p")
	if err != nil {
		return // It was deleted.
	}
	var open int64
	err = h.host.Logs.Entries(context.Background(), p.ID, 0, nil, func(e item.Entry) bool {
		switch k := e.Kind.(type) {
		case item.TurnStarted:
			open = e.Turn
		case item.TurnEnded:
			open = 0
		case item.AlertRaised:
			if want, ok := alertReasons[k.Alert.Source]; ok && k.Alert.Reason != want {
				h.t.Errorf("seq %d: the alert %+v has not the reason %s", e.Seq, k.Alert, want)
			}
		}
		return true
	})
	if open != 0 || err != nil {
		h.t.Errorf("turn %d has no end, error %v", open, err)
	}
}

// alertReasons are the reasons of sources that have only one.
var alertReasons = map[string]string{"approval": item.ReasonApprovalWaits, "fallback": item.ReasonFallback}
