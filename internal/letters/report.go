package letters

import (
	"context"
	"fmt"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/tool"
)

// Leads says how many letters led to what a pod's turn does now, the next one included. The error says that it is one too
// many: pods that wake each other would never stop.
func (w *Letters) Leads(ctx context.Context, own *pod.Hosted) (hops int, err error) {
	hops, err = w.hops(ctx, own)
	if err == nil && hops > maxHops {
		err = item.Errorf(item.KindExhausted, "TOO_MANY_HOPS", "%s", tooFar())
	}
	return hops, err
}

// tooFar says that no more letters may lead to each other.
func tooFar() string {
	return fmt.Sprintf("%d letters led to each other since a person's last word: say in your last reply what a person has to decide", maxHops)
}

// Lead writes into the log of a pod that got no task yet how many letters led to that.
func (w *Letters) Lead(ctx context.Context, id string, hops int) error {
	k, err := entryOf(kindLed, fmt.Sprintf("letters led to the task: %d", hops), led{To: id, Hops: hops})
	if err == nil {
		_, err = w.Host.Record(ctx, id, k)
	}
	return err
}

// Report is a letter that podd writes for a pod whose work has ended.
type Report struct {
	// From is the pod, Number the entry of its log that the report is about, Turn the turn.
	From   item.Pod
	Number item.Seq
	Turn   int64
	Text   string
	Wake   bool
	Hops   int
}

// Report stores a letter about a pod in the log of another, in one commit with more entries, and returns its entry. The
// caller sees that it is stored once.
func (w *Letters) Report(ctx context.Context, to *pod.Hosted, r Report, more ...item.Kind) (item.Seq, error) {
	if len(r.Text) > maxText {
		r.Text = tool.Repair(r.Text[:maxText]) + "\n… The log of pod " + r.From.Name + " has the rest."
	}
	l := received{
		To: to.Pod.ID, From: r.From.ID, Name: r.From.Name, Number: r.Number, Turn: r.Turn, Hops: r.Hops,
		Ref: refOf(r.From.ID, r.Number), Beginning: beginning(r.Text),
	}
	k, err := entryOf(kindReceived, fmt.Sprintf("letter %d from %s: %s", l.Number, sanitize.Line(l.Name), l.Beginning), l)
	if err != nil {
		return 0, err
	}
	note := item.Note{Origin: item.OriginLetter, Ref: l.Ref, Text: framed(l, r.Text), Wake: r.Wake}
	return to.Record(ctx, func(time.Time, fold.State) []item.Kind { return append([]item.Kind{k, note}, more...) })
}
