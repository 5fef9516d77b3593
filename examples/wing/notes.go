// Package notes is an example of a wing: a person writes notes into the history of a pod, for people. It is linked into no
// program; CONTRIBUTING.md says what a wing of podd has besides.
package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"podd/pkg/item"
	"podd/pkg/pod"
)

// The names of the wing and of its kind of entry. They are in logs, so they never change.
const (
	wing = "notes"
	kind = "note"
)

// Config is what the wing needs.
type Config struct {
	Host *pod.Host
}

// Notes is the wing. It keeps nothing: the logs have all.
type Notes struct {
	Config
	// adding is held from the look for an equal note to the entry of a new one.
	adding sync.Mutex
}

// Open opens the wing. One with work that a kill can interrupt, or with files of its own, joins the Host with
// pod.Host.Attach here.
func Open(c Config) *Notes { return &Notes{Config: c} }

// data is the object of an entry. Fields may be added; those of stored entries keep their meaning.
type data struct {
	Text string `json:"text"`
}

// Note is a note in the history of a pod.
type Note struct {
	Seq  item.Seq
	Time time.Time
	Text string
}

// Of reads an entry of the wing.
func Of(e item.Entry) (Note, error) {
	k, ok := e.Kind.(item.WingEntry)
	if !ok || k.Wing != wing || k.Name != kind {
		return Note{}, fmt.Errorf("entry #%d is no note", e.Seq)
	}
	var d data
	if err := json.Unmarshal([]byte(k.Data), &d); err != nil {
		return Note{}, fmt.Errorf("entry #%d is no note: %w", e.Seq, err)
	}
	return Note{Seq: e.Seq, Time: e.Time, Text: d.Text}, nil
}

// Add writes a note at the end of a pod's history, also while a turn runs. A second note with the same text is refused.
func (w *Notes) Add(ctx context.Context, idOrName, text string) (item.Seq, error) {
	if strings.TrimSpace(text) == "" {
		return 0, item.Errorf(item.KindInvalid, "EMPTY_NOTE", "the note is empty: give it some text")
	}
	w.adding.Lock()
	defer w.adding.Unlock()
	notes, err := w.List(ctx, idOrName)
	if err != nil {
		return 0, err
	}
	for _, n := range notes {
		if n.Text == text {
			return 0, item.Errorf(item.KindExists, "NOTE_EXISTS", "pod %s has this note already, as entry #%d", idOrName, n.Seq)
		}
	}
	object, err := json.Marshal(data{text})
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut("noted: "+text, "\n")
	return w.Host.Record(ctx, idOrName, item.WingEntry{Wing: wing, Name: kind, Line: line, Data: string(object)})
}

// List are the notes of a pod. What a rewind undid is not in its history, and neither are the notes there.
func (w *Notes) List(ctx context.Context, idOrName string) (notes []Note, err error) {
	for e, err := range w.Host.Logs.Wing(ctx, idOrName, wing) {
		if err != nil {
			return nil, err
		}
		n, err := Of(e)
		if err != nil {
			return nil, err
		}
		notes = append(notes, n)
	}
	return notes, nil
}
