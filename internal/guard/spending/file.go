package spending

import (
	"maps"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// keptDays is how long the file keeps a day: a clock may go back.
const keptDays = 7

// record is what the logs do not say: the content of the file.
type record struct {
	// Pods have the shares of pods whose logs lost entries since.
	Pods map[string]*share `json:"pods,omitempty"`
	// ToldDay and ToldCap are the day and the limit that the last alert was about.
	ToldDay string  `json:"told_day,omitempty"`
	ToldCap float64 `json:"told_cap,omitempty"`
}

func readRecord(path string) (r record, err error) {
	err = paths.ReadRecord(path, &r)
	for id, s := range r.Pods {
		if s == nil || s.Days == nil {
			delete(r.Pods, id)
		}
	}
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "SPENDING", "cannot read %s, which says what deleted pods spent today: move it away; then podd does not count them", path)
		e.Cause = err
		return r, e
	}
	return r, nil
}

// with is the record with another share, without what is too old to matter.
func (r record) with(pod string, s *share, oldest string) record {
	pods := map[string]*share{pod: s}
	for id, s := range r.Pods {
		if id != pod {
			pods[id] = s.clone()
		}
	}
	for id, s := range pods {
		maps.DeleteFunc(s.Days, func(day string, _ amount) bool { return day < oldest })
		if len(s.Days) == 0 {
			delete(pods, id)
		}
	}
	r.Pods = pods
	return r
}
