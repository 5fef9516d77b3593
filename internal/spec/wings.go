package spec

import (
	"encoding/json"
	"strings"

	"podd/pkg/item"
)

// wings checks jobs, restores and the entries of wings. No rewind undoes them.
type wings struct {
	*findings
	// shared is the last entry of another pod, purged the mark of a purge; 0 without one.
	shared, purged item.Seq
	jobs           map[string]item.JobState
	// restoring says that a restore began.
	restoring bool
	// pending are the wings of the entries that are.
	pending map[item.Seq]string
	// letters are those that pods accepted; letter is the one whose note has to follow, empty without one.
	letters map[accepted]item.Seq
	letter  string
	// fires are the last ones of triggers, due those that have no submit yet.
	fires map[trigger]int64
	due   map[fire]bool
}

type (
	accepted struct{ To, Ref string }
	trigger  struct{ Pod, ID string }
	fire     struct {
		trigger
		N int64
	}
)

func newWings(f *findings, shared item.Seq) wings {
	return wings{
		findings: f, shared: shared, jobs: make(map[string]item.JobState), pending: make(map[item.Seq]string),
		letters: make(map[accepted]item.Seq), fires: make(map[trigger]int64), due: make(map[fire]bool),
	}
}

func (w *wings) add(e item.Entry) {
	if n, _ := e.Kind.(item.Note); w.letter != "" && n.Ref != w.letter {
		w.fail(lettersOnce, "the note of the letter %s does not follow it", w.letter)
	}
	w.letter = ""
	switch k := e.Kind.(type) {
	case item.Purged:
		w.purged = e.Seq
		for _, j := range k.Jobs {
			w.jobs[j.ID] = j.State
		}
	case item.Job:
		w.job(k)
	case item.Restore:
		if k.Ended && !w.restoring && w.purged == 0 {
			w.fail(restoresEnd, "the restore after #%d did not begin", k.After)
		}
		w.restoring = !k.Ended
	case item.WingEntry:
		w.entry(e.Seq, k)
	}
}

func (w *wings) job(k item.Job) {
	before, known := w.jobs[k.ID]
	switch {
	case k.State == item.JobRunning && known:
		w.fail(jobsOnce, "the job %s runs, and it was %s", k.ID, before)
	case k.State == item.JobEnded && before != item.JobRunning && (known || w.purged == 0):
		w.fail(jobsOnce, "the job %s ends, and does not run", k.ID)
	}
	w.jobs[k.ID] = k.State
}

func (w *wings) entry(seq item.Seq, k item.WingEntry) {
	data := strings.TrimSpace(k.Data)
	if k.Wing == "" || k.Name == "" || strings.Contains(k.Line, "\n") || data != "" && (data[0] != '{' || !json.Valid([]byte(data))) {
		w.fail(wingForm, "the entry %q of the wing %q has no name, more than a line, or data that is no object", k.Name, k.Wing)
		return
	}
	if k.Done > 0 {
		if k.Done > w.purged && w.pending[k.Done] != k.Wing { // The log lacks earlier ones.
			w.fail(pendingOnce, "#%d is not pending for the wing %s", k.Done, k.Wing)
		}
		delete(w.pending, k.Done)
	}
	if k.Pending {
		w.pending[seq] = k.Wing
	}
	switch k.Wing + "/" + k.Name {
	case "letters/letter":
		w.received(seq, data)
	case "triggers/due":
		w.counts(data)
	case "triggers/fired":
		w.fired(data)
	}
}

// lookBack is how many entries podd reads for a person's letter with the same request id.
const lookBack = 4096

func (w *wings) received(seq item.Seq, data string) {
	var l accepted
	if json.Unmarshal([]byte(data), &l) != nil || l.Ref == "" {
		return
	}
	if first := w.letters[l]; first > 0 && (seq-first <= lookBack || !strings.HasPrefix(l.Ref, "person/")) {
		w.fail(lettersOnce, "the letter %s was accepted as #%d", l.Ref, first)
	}
	if w.letters[l] = seq; seq != w.shared { // A fork may begin between the two.
		w.letter = l.Ref
	}
}

func (w *wings) counts(data string) {
	var f fire
	if json.Unmarshal([]byte(data), &f) != nil {
		return
	}
	if last, known := w.fires[f.trigger]; f.N != last+1 && (known || w.purged == 0) {
		w.fail(firesOnce, "fire %d of the trigger %s follows fire %d", f.N, f.ID, last)
	}
	w.fires[f.trigger], w.due[f] = f.N, true
}

func (w *wings) fired(data string) {
	var f fire
	if json.Unmarshal([]byte(data), &f) != nil {
		return
	}
	if !w.due[f] && w.purged == 0 {
		w.fail(firesOnce, "fire %d of the trigger %s does not wait", f.N, f.ID)
	}
	delete(w.due, f)
}
