package crash

import (
	"time"

	poddv1 "podd/proto/podd/v1"
)

// notes tracks the notes of a log by their texts, which are unique. A note waits until a
// turn takes it. A rewind that undoes that turn makes it wait again. After a rewind that
// undoes a waiting note itself, podd stores the note again.
type notes struct {
	// left counts how often a note was left, joined how often it joined the conversation.
	left, joined map[string]int
	// leftAt and joinedAt are the entries.
	leftAt, joinedAt map[string]int64
	// waiting are the notes since the last turn began: they join the next one.
	waiting map[string]bool
	// rewound is when a rewind was stored: notes stored with it are not new.
	rewound time.Time
}

func newNotes() notes {
	return notes{
		left: make(map[string]int), joined: make(map[string]int), leftAt: make(map[string]int64), joinedAt: make(map[string]int64),
		waiting: make(map[string]bool),
	}
}

// add adds an entry; fresh says that a client left a note.
func (n *notes) add(e *poddv1.Entry) (fresh bool) {
	switch k := e.GetKind().(type) {
	case *poddv1.Entry_Note:
		text := k.Note.GetText()
		if fresh = !e.GetTime().AsTime().Equal(n.rewound) || n.left[text] == 0; fresh {
			n.left[text]++
		}
		n.leftAt[text], n.waiting[text] = e.GetSeq(), true
		return fresh && k.Note.GetJob() == "" && k.Note.GetOrigin() == ""
	case *poddv1.Entry_TurnStarted:
		clear(n.waiting)
	case *poddv1.Entry_Item:
		if m := k.Item.GetSystemMessage(); m.GetOrigin() == "note" || m.GetOrigin() == "letter" {
			n.joined[m.GetText()]++
			n.joinedAt[m.GetText()] = e.GetSeq()
		}
	case *poddv1.Entry_Rewind:
		n.rewound = e.GetTime().AsTime()
		n.rewind(k.Rewind.GetToSeq())
	}
	return false
}

func (n *notes) rewind(to int64) {
	for text, at := range n.joinedAt {
		if at <= to {
			continue
		}
		delete(n.joinedAt, text)
		n.joined[text]--
		if n.leftAt[text] > to {
			n.left[text]--
		} else {
			n.waiting[text] = true
		}
	}
	for text, at := range n.leftAt {
		if at > to {
			// It has to come again.
			delete(n.waiting, text)
		}
	}
}

func (n *notes) check(pod string, t *Tally) {
	for text, left := range n.left {
		switch joined := n.joined[text]; {
		case joined > left:
			t.Repeated.add("%s: the note %q was left %d times and joined the conversation %d times", pod, text, left, joined)
		case joined < left && !n.waiting[text]:
			t.Lost.add("%s: the note %q never joined the conversation", pod, text)
		}
	}
}
