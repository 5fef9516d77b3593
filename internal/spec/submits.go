package spec

import (
	"slices"

	"podd/pkg/item"
	"podd/pkg/store"
)

// submits checks the inbox.
type submits struct {
	*findings
	// shared is the last entry of another pod, whose inbox and request ids a fork does not have.
	shared item.Seq
	// purged says that the log may lack submits that were taken later.
	purged bool
	// ids are the last request ids, admitted the numbers of their submits.
	ids      []string
	admitted map[string]int
	n        int
	// waiting are the submits that nothing took, in order.
	waiting []item.Submitted
	// began is the submit of the turn that starts; nil without one.
	began *item.Submitted
}

func newSubmits(f *findings, shared item.Seq) submits {
	return submits{findings: f, shared: shared, admitted: make(map[string]int)}
}

func (s *submits) add(e item.Entry) {
	s.began = nil
	if s.shared > 0 && e.Seq > s.shared {
		s.shared, s.waiting, s.ids = 0, nil, nil
		clear(s.admitted)
	}
	switch k := e.Kind.(type) {
	case item.Purged:
		s.purged = true
	case item.Submitted:
		s.admit(k)
	case item.TurnStarted:
		s.begin(k)
	case item.Promoted:
		for _, id := range k.RequestIDs {
			if taken := s.take(id); taken != nil && taken.Mode != item.ModeSteer {
				s.fail(steersJoin, "the submit %q joins the turn, and does not steer", id)
			}
		}
	case item.Withdrawn:
		for _, id := range k.RequestIDs {
			s.take(id)
		}
	}
}

func (s *submits) admit(k item.Submitted) {
	s.n++
	if _, ok := s.admitted[k.RequestID]; ok {
		s.fail(admittedOnce, "the request %q was accepted before", k.RequestID)
	}
	s.admitted[k.RequestID] = s.n
	s.ids = append(s.ids, k.RequestID)
	if forgotten := len(s.ids) - store.RequestsKept; forgotten > 0 {
		if id := s.ids[0]; s.admitted[id] == s.n-store.RequestsKept {
			delete(s.admitted, id)
		}
		s.ids = s.ids[1:]
	}
	// The checker needs no text.
	k.Segments, k.Items, k.Text = nil, nil, ""
	s.waiting = append(s.waiting, k)
}

func (s *submits) begin(k item.TurnStarted) {
	if len(k.RequestIDs) > 1 {
		s.fail(takenInOrder, "the turn takes %d submits", len(k.RequestIDs))
	}
	for i, id := range k.RequestIDs {
		first := ""
		if len(s.waiting) > 0 {
			first = s.waiting[0].RequestID
		}
		taken := s.take(id)
		if taken != nil && i == 0 && id != first {
			s.fail(takenInOrder, "the turn takes the submit %q before %q", id, first)
		}
		s.began = taken
	}
}

// take removes a submit from the inbox; nil if it was not there.
func (s *submits) take(id string) *item.Submitted {
	i := slices.IndexFunc(s.waiting, func(w item.Submitted) bool { return w.RequestID == id })
	if _, known := s.admitted[id]; i < 0 && s.purged && !known {
		return nil
	}
	if i < 0 {
		s.fail(takenOnce, "the submit %q does not wait", id)
		return nil
	}
	taken := s.waiting[i]
	if i == 0 {
		s.waiting = s.waiting[1:]
	} else {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	return &taken
}
