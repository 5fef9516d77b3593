package pod

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/wire"
	"podd/pkg/worker"
)

// Submit is a user's input.
type Submit struct {
	// Pod is a name or an id.
	Pod      string
	Segments []item.Segment
	// RequestID is the client's, at most MaxRequestID bytes; if empty, podd makes one.
	RequestID string
	Mode      item.SubmitMode
	// ParseRefs finds @path in text segments, and /NAME at the beginning.
	ParseRefs bool
	// Plan says whether its turn only plans; nil follows the pod's spec.
	Plan *bool
	// AnswerSchema is a JSON Schema that the last answer of its turn must match; empty holds
	// it to none. See [tool.ParseAnswerSchema].
	AnswerSchema string
	// Model and Effort are those of its turn; empty follows the pod.
	Model, Effort string
	// NoQuestions says that nobody answers questions in its turn.
	NoQuestions bool
}

// Submitted is the answer to a Submit.
type Submitted struct {
	// Seq is the sequence of the submitted entry.
	Seq       item.Seq
	RequestID string
	// Duplicate says that the request id was known: this is the first answer.
	Duplicate bool
	// Queued says that the pod was busy.
	Queued bool
	// Alerts are about references that could not be resolved.
	Alerts []item.Alert
}

// MaxRequestID is the longest request id, in bytes.
const MaxRequestID = 128

// maxPasteName is the longest name of a paste, in bytes.
const maxPasteName = 256

// Submit accepts input for a pod. It returns once the input is on disk: from then on it
// is not lost, and the same request id is not accepted again. A known id is answered
// before any other check: podd keeps what it has, even if limits or the workspace have
// changed.
func (h *Host) Submit(ctx context.Context, s Submit) (Submitted, error) {
	if len(s.RequestID) > MaxRequestID {
		return Submitted{}, item.Errorf(item.KindInvalid, "BAD_REQUEST_ID", "the request id has %d bytes; the limit is %d", len(s.RequestID), MaxRequestID)
	}
	s.Mode = cmp.Or(s.Mode, item.ModeQueue)
	if s.RequestID == "" {
		s.RequestID = rand.Text()
	}
	digest, err := s.digest()
	if err != nil {
		return Submitted{}, err
	}
	rec, err := h.Store.Pod(ctx, s.Pod)
	if err != nil {
		return Submitted{}, err
	}
	if known, ok, err := h.Store.Request(ctx, rec.ID, s.RequestID); err != nil {
		return Submitted{}, err
	} else if ok {
		return replay(known, digest)
	}
	return h.submit(ctx, rec.ID, s, digest)
}

// submit accepts input with a new request id.
func (h *Host) submit(ctx context.Context, pod string, s Submit, digest [32]byte) (Submitted, error) {
	if err := h.settings().checkSubmit(s); err != nil {
		return Submitted{}, err
	}
	choice, err := h.settings().choice(s)
	if err != nil {
		return Submitted{}, err
	}
	if s.Segments, err = pictures(h.Workspaces.Picture, s.Segments); err != nil {
		return Submitted{}, err
	}
	a, release, err := h.pods.acquire(ctx, pod)
	if err != nil {
		return Submitted{}, err
	}
	defer release()
	b, err := visit(ctx, a, func(ctx context.Context) (store.Batch, error) {
		entry, alerts, err := a.site.workspace.Refer(ctx, s)
		entry.Choice, entry.AnswerSchema, entry.NoQuestions = choice, s.AnswerSchema, s.NoQuestions
		b := store.Batch{Entries: []item.Entry{{Kind: entry}}, Admit: &store.Request{ID: s.RequestID, Digest: digest}, Enqueue: true}
		for _, alert := range alerts {
			b.Entries = append(b.Entries, item.Entry{Kind: item.AlertRaised{Alert: alert}})
		}
		return b, err
	})
	if err != nil {
		return Submitted{}, err
	}
	return a.mailbox.admit(ctx, b, s.Plan)
}

// checkSubmit refuses what can never work.
func (now *settings) checkSubmit(s Submit) error {
	size, blank := measure(s.Segments)
	most := now.MaxSubmitBytes
	switch {
	case s.Plan != nil && s.Mode == item.ModeSteer:
		return item.Errorf(item.KindInvalid, "PLAN_STEER", "a submit that steers follows the turn that it joins: leave out plan, or submit without steering")
	case s.NoQuestions && s.Mode == item.ModeSteer:
		return item.Errorf(item.KindInvalid, "QUESTIONS_STEER",
			"a submit that steers follows the turn that it joins: leave out no_questions, or submit without steering")
	case blank:
		return item.Errorf(item.KindInvalid, "EMPTY_PROMPT", "the prompt is empty: give it some text or a file")
	case slices.ContainsFunc(s.Segments, longName):
		return item.Errorf(item.KindInvalid, "BAD_PASTE_NAME", "the name of a paste is over %d bytes: shorten it", maxPasteName)
	case size > most:
		return item.Errorf(item.KindExhausted, "SUBMIT_TOO_LARGE",
			"the submit has %d bytes; the limit is %d: put long text into a file and refer to it as @path", size, most)
	}
	return checkSchema(s)
}

// checkSchema refuses a schema that no answer can be held to.
func checkSchema(s Submit) error {
	if s.AnswerSchema == "" {
		return nil
	}
	if s.Mode == item.ModeSteer {
		return item.Errorf(item.KindInvalid, "SCHEMA_STEER", "a submit that steers joins a turn whose answer is not its own: leave out the schema, or submit without steering")
	}
	if _, err := tool.ParseAnswerSchema(s.AnswerSchema); err != nil {
		return item.Errorf(item.KindInvalid, "BAD_SCHEMA", "%v", err)
	}
	return nil
}

func longName(s item.Segment) bool {
	paste, ok := s.(item.PasteSegment)
	return ok && len(paste.Name) > maxPasteName
}

// measure is the size of all segments in bytes, and whether they contain only white
// space.
func measure(segments []item.Segment) (size int, blank bool) {
	blank = true
	for _, s := range segments {
		text := ""
		switch s := s.(type) {
		case item.TextSegment:
			text = s.Text
		case item.PasteSegment:
			text = s.Text
			size += len(s.Name)
		case item.FileRef:
			size += len(s.Path)
			blank = blank && s.Path == ""
		case item.ImageSegment:
			size += len(s.Name)
			blank = false
		case item.UnknownSegment:
			blank = false
		}
		size += len(text)
		blank = blank && strings.TrimSpace(text) == ""
	}
	return size, blank
}

// digest identifies the content.
func (s Submit) digest() ([32]byte, error) {
	b, err := wire.EncodeEntry(item.Entry{Kind: item.Submitted{RequestID: s.RequestID, Mode: s.Mode, Segments: s.Segments}})
	if err != nil {
		return [32]byte{}, err
	}
	if s.ParseRefs {
		b = append(b, 1)
	}
	if s.Plan != nil {
		b = fmt.Appendf(b, "plan %t", *s.Plan)
	}
	if s.Model != "" || s.Effort != "" {
		b = fmt.Appendf(b, "model %q effort %q", s.Model, s.Effort)
	}
	if s.AnswerSchema != "" {
		b = fmt.Appendf(b, "schema %d %s", len(s.AnswerSchema), s.AnswerSchema)
	}
	if s.NoQuestions {
		b = append(b, "no questions"...)
	}
	return sha256.Sum256(b), nil
}

// store commits a submit in the pod's goroutine.
func (a *actor) store(ctx context.Context, b store.Batch) (Submitted, error) {
	appended, entries, err := a.journal.commit(ctx, b)
	if err != nil {
		return Submitted{}, err
	}
	if appended.Duplicate != nil {
		return repeated(*appended.Duplicate), nil
	}
	stored, _ := entries[0].Kind.(item.Submitted)
	a.inbox.items = append(a.inbox.items, worker.Submit{Seq: entries[0].Seq, Submitted: stored})
	a.next()
	return Submitted{
		Seq: entries[0].Seq, RequestID: stored.RequestID, Queued: b.Admit.Queued, Alerts: appended.Alerts,
	}, nil
}

// replay answers a known request id.
func replay(known store.Request, digest [32]byte) (Submitted, error) {
	if known.Digest != digest {
		return Submitted{}, item.Errorf(item.KindExists, "REQUEST_ID_TAKEN",
			"request id %q belongs to another submit (#%d): use a new id", known.ID, known.Seq)
	}
	return repeated(known), nil
}

func repeated(r store.Request) Submitted {
	return Submitted{Seq: r.Seq, RequestID: r.ID, Duplicate: true, Queued: r.Queued}
}
