package spec

import (
	"fmt"
	"slices"

	"podd/pkg/item"
)

// Invariant is something that is true of each log.
type Invariant struct {
	// ID names it: I1.
	ID string
	// Says is one sentence.
	Says string
}

// Invariants are all, in the order of their numbers.
func Invariants() []Invariant {
	var all []Invariant
	for i, says := range invariants {
		all = append(all, Invariant{fmt.Sprintf("I%d", i+1), says})
	}
	return all
}

// rule is an invariant by its number.
type rule int

// The invariants, by what they are about: the order of entries, turns, submits, calls, questions, what requests send, and wings.
const (
	dense rule = iota + 1
	timely
	purgedFirst
	turnStarts
	turnEnds
	turnOwns
	turnTerms
	stepsCount
	turnBills
	turnTells
	admittedOnce
	takenOnce
	takenInOrder
	steersJoin
	callUnique
	resultOnce
	resultsFirst
	callsEnd
	startsStored
	startsOnce
	startsAllowed
	startsAsApproved
	asksOfCall
	asksTell
	answersOpen
	repliesFit
	recoversStarted
	learnsStarted
	itemsInTurns
	asksSetUp
	prunesOnce
	compactsBefore
	rewindsBack
	notesInOrder
	jobsOnce
	restoresEnd
	wingForm
	pendingOnce
	lettersOnce
	firesOnce
	denialTold
	inboxWaits
)

var invariants = [...]string{
	dense - 1:            "Sequences grow by one, from 1 or from the entry `purged`.",
	timely - 1:           "Times never go back.",
	purgedFirst - 1:      "Only the first entry is `purged`. It counts the entries up to its own, and names a compaction.",
	turnStarts - 1:       "A turn starts when none is open, and has the next number.",
	turnEnds - 1:         "`turn_ended` ends the open turn: each turn has exactly one.",
	turnOwns - 1:         "An entry with a turn has that of the open one. Calls, questions, steps, prunes, resumes and what joins have one.",
	turnTerms - 1:        "A turn has the plan mode, the schema and the questions that its submit asks for.",
	stepsCount - 1:       "The steps of a turn count from 1.",
	turnBills - 1:        "The end of a turn counts its requests, its calls and what it was billed, unless a fork or rewind cut it.",
	turnTells - 1:        "An alert precedes the end of a turn that did not finish, unless a person cancelled it or a fork or rewind cut it. None precedes that of one that finished.",
	admittedOnce - 1:     "No request id is among the last 1,024 of the pod twice.",
	takenOnce - 1:        "A turn takes, or a client withdraws, only a submit that waits: each once.",
	takenInOrder - 1:     "A turn begins with at most one submit, the oldest that waits.",
	steersJoin - 1:       "Only a submit that steers joins a running turn.",
	callUnique - 1:       "No two calls have the same id.",
	resultOnce - 1:       "A result is that of a call without one.",
	resultsFirst - 1:     "Between the calls of an answer and their results nothing joins the conversation.",
	callsEnd - 1:         "A turn ends, and history is cut, only where each call has its result.",
	startsStored - 1:     "A call starts in its turn, without a result, under its name, after its whole answer and its bill are stored.",
	startsOnce - 1:       "A call starts once. It may start again only if a later question, or another plan for its files, shows that it did nothing.",
	startsAllowed - 1:    "No call starts while its approval is open, or after it is denied.",
	startsAsApproved - 1: "A call starts with the tool and the arguments that were approved, under a digest of 32 bytes.",
	asksOfCall - 1:       "A question is about a call without a result, a form about one that has started.",
	asksTell - 1:         "The alert about a question follows it.",
	answersOpen - 1:      "An answer is that of an open question: each has at most one.",
	repliesFit - 1:       "An answered form has a valid reply to each of its questions, any other answer has none.",
	recoversStarted - 1:  "`recovered` names the started calls without a result, in their order.",
	learnsStarted - 1:    "Only the result of a call that had started says how podd learned it after a restart.",
	itemsInTurns - 1:     "Outside of turns nothing joins the conversation but what is read again, which follows a compaction.",
	asksSetUp - 1:        "A step asks the model of the last `setup`.",
	prunesOnce - 1:       "A prune names earlier items that no rewind undid, each once.",
	compactsBefore - 1:   "A compaction replaces items up to an earlier one that no rewind undid.",
	rewindsBack - 1:      "A rewind goes to an earlier entry that no rewind undid, between turns.",
	notesInOrder - 1:     "Notes join the conversation as they were left, in their order, each once.",
	jobsOnce - 1:         "A job runs under a new id and ends once.",
	restoresEnd - 1:      "A restore of files ends only if it began.",
	wingForm - 1:         "An entry of a wing has a name, at most one line, and no data or one JSON object.",
	pendingOnce - 1:      "An entry that is done was pending, of the same wing, and is done once.",
	lettersOnce - 1:      "A letter is accepted once, and its note follows it, unless a fork cut it.",
	firesOnce - 1:        "The fires of a trigger count from 1, and each is submitted or refused once.",
	denialTold - 1:       "The result of a call that was denied says so.",
	inboxWaits - 1:       "The inbox has the submits that nothing took, in their order.",
}

// Finding is an entry at which an invariant fails.
type Finding struct {
	// Invariant is its id.
	Invariant string
	Seq       item.Seq
	// Text says what is wrong, in one sentence.
	Text string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s fails at #%d: %s", f.Invariant, f.Seq, f.Text)
}

// maxFindings bounds what is found in one log.
const maxFindings = 100

// Checker checks one log. It belongs to one goroutine.
type Checker struct {
	findings
	order   order
	turns   turns
	submits submits
	calls   calls
	carried carried
	wings   wings
}

// findings are what was found; at is the entry that is checked.
type findings struct {
	found []Finding
	at    item.Seq
}

func (f *findings) fail(r rule, format string, args ...any) {
	if len(f.found) < maxFindings {
		f.found = append(f.found, Finding{fmt.Sprintf("I%d", r), f.at, fmt.Sprintf(format, args...)})
	}
}

// New is a Checker of a log whose entries up to shared are those of the pod that it was forked from; 0 for a pod that is no
// fork.
func New(shared item.Seq) *Checker {
	c := &Checker{}
	f := &c.findings
	c.order = order{findings: f}
	c.turns = turns{findings: f}
	c.submits = newSubmits(f, shared)
	c.calls = newCalls(f)
	c.carried = newCarried(f)
	c.wings = newWings(f, shared)
	return c
}

// Add checks the next entry. The first of a log is its first one, also after a purge.
func (c *Checker) Add(e item.Entry) {
	c.at = e.Seq
	c.order.add(e)
	c.submits.add(e)
	c.turns.add(e, &c.submits)
	c.calls.add(e)
	c.carried.add(e)
	c.wings.add(e)
	c.turns.after(e)
}

// Inbox checks the request ids of the pod's inbox, of the same time as the last entry.
func (c *Checker) Inbox(ids []string) {
	var waiting []string
	if c.submits.shared == 0 { // Otherwise a fork has no entry of its own yet.
		for _, s := range c.submits.waiting {
			waiting = append(waiting, s.RequestID)
		}
	}
	if !slices.Equal(ids, waiting) {
		c.fail(inboxWaits, "the inbox has %q, and by the log %q wait", ids, waiting)
	}
}

// Found is what was found in the entries so far, also if more may follow.
func (c *Checker) Found() []Finding {
	all := c.findings
	all.found = all.found[:len(all.found):len(all.found)]
	if asked := c.calls.asked; asked > 0 {
		all.fail(asksTell, "the log ends after the question #%d", asked)
	}
	if ref := c.wings.letter; ref != "" {
		all.fail(lettersOnce, "the log ends after the letter %s", ref)
	}
	return all.found
}

// order checks sequences and times.
type order struct {
	*findings
	last item.Entry
	// from is the compaction that a purge names; 0 once it was there.
	from item.Seq
}

func (o *order) add(e item.Entry) {
	mark, purged := e.Kind.(item.Purged)
	switch {
	case o.last.Seq == 0 && purged:
		if mark.Entries != int64(e.Seq) || mark.From <= e.Seq {
			o.fail(purgedFirst, "the mark of a purge counts %d entries and names the compaction #%d", mark.Entries, mark.From)
		}
		o.from = mark.From
	case purged:
		o.fail(purgedFirst, "the mark of a purge comes after #%d", o.last.Seq)
	case e.Seq != o.last.Seq+1:
		o.fail(dense, "the entry comes after #%d", o.last.Seq)
	}
	if _, ok := e.Kind.(item.Compaction); !ok && o.from == e.Seq {
		o.fail(purgedFirst, "the mark of a purge names this entry, which is not a compaction")
	}
	if e.Time.Before(o.last.Time) {
		o.fail(timely, "its time is %s before that of #%d", o.last.Time.Sub(e.Time), o.last.Seq)
	}
	o.last = item.Entry{Seq: e.Seq, Time: e.Time}
}

// spans are what rewinds undid: the entries above after and below at.
type spans []span

type span struct{ after, at item.Seq }

// add adds a rewind. The part that it undoes had rewinds of its own, which have no effect.
func (s *spans) add(to, at item.Seq) {
	for n := len(*s); n > 0 && (*s)[n-1].at > to; n-- {
		*s = (*s)[:n-1]
	}
	*s = append(*s, span{to, at})
}

// counts says whether no rewind undid an entry.
func (s spans) counts(seq item.Seq) bool {
	for i := len(s) - 1; i >= 0 && s[i].at > seq; i-- {
		if seq > s[i].after {
			return false
		}
	}
	return true
}

// cut is the length of a list, ordered by sequence, up to an entry.
func cut[T any](list []T, to item.Seq, seq func(T) item.Seq) int {
	n := len(list)
	for n > 0 && seq(list[n-1]) > to {
		n--
	}
	return n
}
