package triggers

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"podd/pkg/item"
)

// Spec says when a trigger fires, and what it does then. It is stored: fields may be added, and those of stored entries keep
// their meaning. Exactly one of Cron, Every, At, After, File and Event is set.
type Spec struct {
	// Cron has five fields or a word such as @daily, in the zone. Zone is a name of the zone database; empty is that of the
	// machine.
	Cron string `json:"cron,omitempty"`
	Zone string `json:"zone,omitempty"`
	// Every is an interval since the trigger was added.
	Every time.Duration `json:"every,omitempty"`
	At    time.Time     `json:"at,omitzero"`
	// After is the id of a pod: the trigger fires when a turn of it has ended; On are the outcomes, none for all.
	After string         `json:"after,omitempty"`
	On    []item.Outcome `json:"on,omitempty"`
	// File is a pattern of paths in the pod's directory: the trigger fires when the content of such files differs.
	File string `json:"file,omitempty"`
	// Event says that it fires when somebody says so.
	Event bool `json:"event,omitempty"`
	// Webhook says that the event may come by HTTP; Select are the parts of its JSON that count, none for all.
	Webhook bool     `json:"webhook,omitempty"`
	Select  []string `json:"select,omitempty"`

	// Prompt is what the turn is given. @path in it is resolved when it fires.
	Prompt string `json:"prompt"`
	// New names the sub-pod that each fire gets, with {n} for its number; empty is the pod itself. Checkout gives each its own.
	New      string `json:"new,omitempty"`
	Checkout bool   `json:"checkout,omitempty"`
	// Missed is what happens to due times at which podd did not run or the trigger was paused: once, skip, or all:N.
	Missed string `json:"missed,omitempty"`
	// Skip says that a due time is skipped while an earlier fire waits or works; else it joins one that waits.
	Skip bool `json:"skip,omitempty"`
	// Budget is what its turns may cost in a day, in USD; 0 is no limit.
	Budget float64 `json:"budget,omitempty"`
	// Plan and NoQuestions are those of the submits.
	Plan        bool `json:"plan,omitempty"`
	NoQuestions bool `json:"no_questions,omitempty"`
}

// The bounds of triggers.
const (
	// maxPod is how many triggers a pod may have, maxSchedule how many of its own model.
	maxPod      = 100
	maxSchedule = 10
	// maxName is the longest name of a trigger, in bytes.
	maxName = 64
	// leastEvery is the shortest interval.
	leastEvery = time.Minute
	// perMinute and perDay are how many fires of a trigger podd submits; more wait.
	perMinute = 6
	perDay    = 200
	// maxWaiting is how many fires of a trigger may wait, and maxNew how many of its sub-pods may work.
	maxWaiting = 100
	maxNew     = 4
	// maxFailed is how many failed turns in a row pause a trigger.
	maxFailed = 5
	// maxData is the longest text of an event, in bytes, and maxEventID its longest id.
	maxData    = 64 << 10
	maxEventID = 256
	// keepIDs is for how long an id of an event is known.
	keepIDs = 7 * 24 * time.Hour
	// maxCatchUp is the greatest N of all:N.
	maxCatchUp = 20
)

func invalid(format string, args ...any) error {
	return item.Errorf(item.KindInvalid, "BAD_TRIGGER", format, args...)
}

// check refuses what can never work. now is when the trigger is set.
func (s *Spec) check(now time.Time) error {
	conditions := 0
	for _, set := range []bool{s.Cron != "", s.Every != 0, !s.At.IsZero(), s.After != "", s.File != "", s.Event} {
		if set {
			conditions++
		}
	}
	switch {
	case conditions != 1:
		return invalid("the trigger has %d conditions: give exactly one of --cron, --every, --at, --after, --file, --event and --webhook", conditions)
	case strings.TrimSpace(s.Prompt) == "":
		return invalid("the trigger has no prompt: say what the pod has to do")
	case s.Every != 0 && s.Every < leastEvery:
		return invalid("every %s is too often: the shortest interval is %s", s.Every, leastEvery)
	case !s.At.IsZero() && !s.At.After(now):
		return invalid("%s is in the past", inUTC(s.At))
	case s.Zone != "" && s.Cron == "":
		return invalid("a zone is for --cron")
	case len(s.On) > 0 && s.After == "":
		return invalid("outcomes are for --after")
	case s.Checkout && s.New == "":
		return invalid("a checkout is for the new pods of --new")
	case s.Webhook && !s.Event:
		return invalid("a webhook is an event: give no other condition")
	case len(s.Select) > 0 && !s.Webhook:
		return invalid("--select is for the body of a --webhook")
	case len(s.Select) > maxSelect:
		return invalid("the trigger selects %d parts; the limit is %d", len(s.Select), maxSelect)
	case s.Budget < 0:
		return invalid("the budget is below 0")
	case s.New != "" && !item.ValidPodName(s.nameOf(1)):
		return invalid("%q names no pod: a name has small letters, digits and dashes, and {n} for the number", s.New)
	case s.New != "" && !strings.Contains(s.New, "{n}"):
		return invalid("%q gives each new pod the same name: put {n} into it", s.New)
	}
	if _, err := s.catchUp(); err != nil {
		return err
	}
	for _, path := range s.Select {
		if _, err := parsePath(path); err != nil {
			return err
		}
	}
	if err := s.checkFile(); err != nil {
		return err
	}
	_, err := s.times(now)
	return err
}

// nameOf is the name of the sub-pod of a fire.
func (s *Spec) nameOf(n int64) string {
	return strings.ReplaceAll(s.New, "{n}", strconv.FormatInt(n, 10))
}

// catchUp is how many of the missed due times fire.
func (s *Spec) catchUp() (int, error) {
	switch n, all := strings.CutPrefix(s.Missed, "all:"); {
	case s.Missed != "" && (s.Event || s.File != ""):
		return 0, invalid("--missed is for due times: no event and no change of files is missed")
	case s.Missed == "" || s.Missed == "once":
		return 1, nil
	case s.Missed == "skip":
		return 0, nil
	case all:
		if n, err := strconv.Atoi(n); err == nil && n >= 1 && n <= maxCatchUp {
			return n, nil
		}
	}
	return 0, invalid("missed is %q: it is once, skip, or all:N with N from 1 to %d", s.Missed, maxCatchUp)
}

// location is the zone of the trigger.
func (s *Spec) location() (*time.Location, error) {
	if s.Zone == "" {
		return time.Local, nil //nolint:gosmopolitan // The machine's zone is what no zone means.
	}
	l, err := time.LoadLocation(s.Zone)
	if err != nil || s.Zone == "Local" {
		return nil, invalid("no zone is named %q: give a name such as Europe/Berlin", s.Zone)
	}
	return l, nil
}

// times is the due time after another, zero if there is none; nil if it has no times. added is when the trigger was.
func (s *Spec) times(added time.Time) (next func(time.Time) time.Time, err error) {
	switch {
	case s.Cron != "":
		l, err := s.location()
		if err != nil {
			return nil, err
		}
		c, err := parseCron(s.Cron, l)
		if err != nil {
			return nil, invalid("%s", err)
		}
		return c.next, nil
	case s.Every > 0:
		return func(t time.Time) time.Time { return added.Add((t.Sub(added)/s.Every + 1) * s.Every) }, nil
	case !s.At.IsZero():
		return func(t time.Time) time.Time {
			if t.Before(s.At) {
				return s.At
			}
			return time.Time{}
		}, nil
	}
	return nil, nil //nolint:nilnil // It has none.
}

// condition says in a few words when the trigger fires; after is the name of the pod of After.
func (s *Spec) condition(after string) string {
	switch {
	case s.Cron != "" && s.Zone != "":
		return s.Cron + " " + s.Zone
	case s.Cron != "":
		return s.Cron
	case s.Every > 0:
		return "every " + strings.TrimSuffix(strings.TrimSuffix(s.Every.String(), "0s"), "0m")
	case !s.At.IsZero():
		return "at " + inUTC(s.At)
	case s.After != "":
		return strings.TrimSpace(fmt.Sprintf("after %s %s", after, joined(s.On)))
	case s.Webhook:
		return "webhook"
	case s.File != "":
		return "file " + s.File
	}
	return "event"
}

// inUTC is a time as clients expect it in a sentence, to show it in their zone.
func inUTC(t time.Time) string { return t.UTC().Format(time.DateTime + "Z") }

func joined(outcomes []item.Outcome) string {
	words := make([]string, 0, len(outcomes))
	for _, o := range outcomes {
		words = append(words, string(o))
	}
	return strings.Join(words, " or ")
}
