package letters

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"podd/internal/sanitize"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/tool"
	"podd/pkg/wire"
)

// ToolName is the name of the tool that sends letters.
const ToolName = "send_message"

const description = `Send a letter to another pod, an agent like you, which reads it at its next step. ` +
	`Its reply comes to you as a letter: go on with your work, or end your turn if nothing is left to do.`

type arguments struct {
	To      string `json:"to"`
	Text    string `json:"text" jsonschema:"it knows nothing of your conversation"`
	ReplyTo int64  `json:"reply_to,omitempty" jsonschema:"the number of its letter"`
	Wake    *bool  `json:"wake,omitempty" jsonschema:"false starts no turn if it is idle"`
}

func (a *arguments) check() error {
	switch {
	case strings.TrimSpace(a.To) == "":
		return errors.New("to is empty: name the pod")
	case strings.TrimSpace(a.Text) == "":
		return errors.New("text is empty: say what the pod has to know")
	case len(a.Text) > maxText:
		return fmt.Errorf("text has %d bytes, the most is %d: write it into a file that the pod can read, and name that", len(a.Text), maxText)
	case a.ReplyTo < 0:
		return errors.New("reply_to can't be below 0")
	}
	return nil
}

// Offered says whether a pod gets the tool: it has a family, or a rule lets it write to other pods.
func Offered(spec item.PodSpec, rules []item.Rule) bool {
	allows := func(r item.Rule) bool { return r.Tool == ToolName && r.Decision == "allow" }
	return spec.SubPods > 0 || spec.Parent != "" || slices.ContainsFunc(spec.Rules, allows) || slices.ContainsFunc(rules, allows)
}

// sender is the send_message tool of one pod.
type sender struct {
	*Letters
	id string
	// mu guards lately, the times of the letters of the last minute, and whether it has those of the log.
	mu     sync.Mutex
	lately []time.Time
	knows  bool
}

// Tool makes the tool of a pod.
func (w *Letters) Tool(id string) tool.Tool {
	s := &sender{Letters: w, id: id}
	return tool.New(ToolName, description, s.run, tool.Validate((*arguments).check), tool.Touches(s.access), tool.Recovers(s.recover))
}

// accessTime bounds how long the look for a recipient may take when policy decides.
const accessTime = 5 * time.Second

// access names the recipient as a path of the call, so that rules can name it. A letter to the pod's family stays in the
// scope. So does one to no pod, which is refused.
func (s *sender) access(a arguments) tool.Access {
	ctx, cancel := context.WithTimeout(context.Background(), accessTime) //nolint:forbidigo // Policy passes no context.
	defer cancel()
	own, err := s.Host.Store.Pod(ctx, s.id)
	if err != nil {
		return tool.Access{}
	}
	to, err := s.Host.Store.Pod(ctx, a.To)
	if err != nil {
		return tool.Access{Confined: item.ReasonOf(err) == store.ReasonPodNotFound}
	}
	top, err := s.top(ctx, own)
	if err != nil {
		return tool.Access{}
	}
	other, err := s.top(ctx, to)
	path := to.Name
	if own.Spec.Dir != top.Spec.Dir {
		path = filepath.Join(top.Spec.Dir, path) // Rules name paths from there.
	}
	return tool.Access{Paths: []string{path}, Confined: err == nil && other.ID == top.ID}
}

// top is the pod at the top of a pod's family.
func (w *Letters) top(ctx context.Context, p item.Pod) (item.Pod, error) {
	above, err := w.Host.Family.Ancestors(ctx, p.Spec)
	if err != nil || len(above) == 0 {
		return p, err
	}
	return above[len(above)-1], nil
}

// run stores the letter in the sender's log, and then in the recipient's.
func (s *sender) run(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, error) {
	if call.Plan {
		return tool.Error("%s: not sent: this turn only plans: put the letter into your plan", ToolName), nil
	}
	own, release, err := s.Host.Keep(ctx, s.id)
	if err != nil {
		return failed(err)
	}
	defer release()
	l, refusal, err := s.write(ctx, own, call, args)
	if err != nil || refusal != "" {
		return refused(refusal, err)
	}
	k, err := entryOf(kindSent, fmt.Sprintf("letter to %s: %s", l.Name, l.Beginning), l)
	if err != nil {
		return tool.Output{}, err
	}
	number, err := own.Record(ctx, func(time.Time, fold.State) []item.Kind { return []item.Kind{k} })
	if err != nil {
		return failed(err)
	}
	return s.send(ctx, own, onItsWay{sent: l, Number: number, Turn: call.Turn}, args)
}

// write is the entry of a letter, or why it may not be sent.
func (s *sender) write(ctx context.Context, own *pod.Hosted, call *tool.Invocation, args arguments) (l sent, refusal string, err error) {
	to, err := s.Host.Store.Pod(ctx, args.To)
	if item.ReasonOf(err) == store.ReasonPodNotFound {
		return l, s.unknown(ctx, args.To), nil
	}
	if err != nil {
		return l, "", err
	}
	if to.ID == s.id {
		return l, "you are pod " + to.Name + ": write to another pod", nil
	}
	if len(own.State.Pending) >= maxUntaken {
		return l, fmt.Sprintf("%d letters of yours are on their way: write again once they arrived", maxUntaken), nil
	}
	hops, err := s.hops(ctx, own)
	if err != nil {
		return l, "", err
	}
	if hops > maxHops {
		return l, tooFar(), nil
	}
	if reply := item.Seq(args.ReplyTo); reply > 0 {
		b, err := s.read(ctx, s.id, 0)
		if err != nil {
			return l, "", err
		}
		if !slices.ContainsFunc(b.got, func(l gotten) bool { return l.From == to.ID && l.Number == reply }) {
			return l, fmt.Sprintf("you got no letter %d from pod %s: leave reply_to out", reply, to.Name), nil
		}
	}
	may, err := s.mayNow(ctx)
	if err != nil {
		return l, "", err
	}
	if !may {
		return l, fmt.Sprintf("you sent %d letters in the last minute, which is the most: put what is left into one letter, and send that later", perMinute), nil
	}
	return sent{
		From: s.id, Call: call.CallID, To: to.ID, Name: to.Name, After: to.Last, ReplyTo: item.Seq(args.ReplyTo), Hops: hops, Beginning: beginning(args.Text),
	}, "", nil
}

// unknown says that there is no such pod.
func (s *sender) unknown(ctx context.Context, name string) string {
	trashed, err := s.Host.Store.TrashedPods(ctx)
	if err == nil && slices.ContainsFunc(trashed, func(p store.TrashedPod) bool { return p.Name == name || p.ID == name }) {
		return fmt.Sprintf("pod %q was deleted", name)
	}
	return fmt.Sprintf("there is no pod %q: check its name", name)
}

// mayNow counts the letter if the pod may send one now. The first time it reads those of the last minute from the log.
func (s *sender) mayNow(ctx context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.knows {
		b, err := s.read(ctx, s.id, 0)
		if err != nil {
			return false, err
		}
		for _, l := range b.sent {
			s.lately = append(s.lately, l.entry.Time)
		}
		s.knows = true
	}
	now := s.Host.Now()
	s.lately = slices.DeleteFunc(s.lately, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if len(s.lately) >= perMinute {
		return false, nil
	}
	s.lately = append(s.lately, now)
	return true, nil
}

// hops is how many letters led to one that the pod sends now, with that one: those that its turn, or one above it, took since
// a person's last word. What a sub-pod's turn begins with is the word of the pod above. A sub-pod in the background outlives
// the turn above: its log has how many led to its task.
func (w *Letters) hops(ctx context.Context, own *pod.Hosted) (int, error) {
	at, began, most := own.Pod, own.State.Turn.Began, 0
	for {
		n, err := w.led(ctx, at.ID, began)
		if err != nil {
			return 0, err
		}
		if most = max(most, n); at.Spec.Parent == "" {
			return most + 1, nil
		}
		if at.Spec.ParentCall == "" {
			if at.Status.Turn <= 1 { // A later turn begins with a letter or a person's word.
				n, err = w.ledToTask(ctx, at.ID)
			}
			return max(most, n) + 1, err
		}
		if at, err = w.Host.Store.Pod(ctx, at.Spec.Parent); err != nil {
			return 0, err
		}
		standing, _, _ := w.Host.Standing(at.ID)
		began = standing.Began
	}
}

// ledToTask is how many letters led to the task of a sub-pod in the background.
func (w *Letters) ledToTask(ctx context.Context, id string) (hops int, err error) {
	err = w.Host.Logs.Entries(ctx, id, 0, only(wire.KindWing), func(e item.Entry) bool {
		l, ok := decode[led](e, kindLed)
		if ok = ok && l.To == id; ok {
			hops = l.Hops
		}
		return !ok
	})
	return hops, err
}

// led is how many letters led to where a turn is that an entry began; 0 without one.
func (w *Letters) led(ctx context.Context, id string, began item.Seq) (most int, err error) {
	if began == 0 {
		return 0, nil
	}
	var took []string
	err = w.Host.Logs.Entries(ctx, id, began-1, only(wire.KindItem), func(e item.Entry) bool {
		switch it := e.Kind.(item.ItemAdded).Item.(type) {
		case item.UserMessage:
			took = nil
		case item.SystemMessage:
			if it.Origin == item.OriginLetter {
				took = append(took, it.Ref)
			}
		}
		return true
	})
	if err != nil || len(took) == 0 {
		return 0, err
	}
	err = w.Host.Logs.Entries(ctx, id, 0, only(wire.KindWing), func(e item.Entry) bool {
		if l, ok := decode[received](e, kindReceived); ok && slices.Contains(took, l.Ref) {
			most = max(most, l.Hops)
		}
		if l, ok := decode[sent](e, kindSent); ok && slices.Contains(took, refOf(l.From, e.Seq)) {
			most = max(most, l.Hops) // What the turn took says that it failed.
		}
		return true
	})
	return most, err
}

// send stores a letter of the sender's log in the recipient's, or records that it is on its way. It goes on when the call is
// cancelled: the letter was written.
func (s *sender) send(ctx context.Context, own *pod.Hosted, l onItsWay, args arguments) (tool.Output, error) {
	ctx = context.WithoutCancel(ctx)
	l.Text, l.Wake = args.Text, args.Wake == nil || *args.Wake
	err := s.behind(ctx, own, l.To)
	if err == nil {
		err = s.deliver(ctx, own.Pod.Name, l)
	}
	if unreached(err) {
		if err := s.postpone(ctx, own, l, err); err != nil {
			return failed(err)
		}
		return away(l), nil
	}
	if err != nil {
		return failed(err)
	}
	return tool.Output{Summary: fmt.Sprintf("letter %d to %s: stored", l.Number, sanitize.Line(l.Name))}, nil
}

// away is the result of a call whose letter is on its way.
func away(l onItsWay) tool.Output {
	return tool.Output{Summary: fmt.Sprintf("letter %d to %s: on its way; podd delivers it when that pod can be reached, or tells you why it can't", l.Number, sanitize.Line(l.Name))}
}

// recover sends the letter if podd ended after it was written.
func (s *sender) recover(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, item.Recovery, error) {
	own, release, err := s.Host.Keep(context.WithoutCancel(ctx), s.id)
	if err != nil {
		out, err := failed(err)
		return out, item.RecoveryUnknown, err
	}
	defer release()
	b, err := s.read(context.WithoutCancel(ctx), s.id, max(own.State.Turn.Began-1, 0))
	if err != nil {
		out, err := failed(err)
		return out, item.RecoveryUnknown, err
	}
	i := slices.IndexFunc(b.sent, func(l posted) bool { return l.Call == call.CallID })
	if i < 0 {
		return tool.Error("%s: not sent: podd ended before it wrote the letter; call again if it is still needed", ToolName), item.RecoveryNoEffect, nil
	}
	l := onItsWay{sent: b.sent[i].sent, Number: b.sent[i].entry.Seq, Turn: call.Turn}
	if _, wasAway := b.away[l.Number]; wasAway {
		return away(l), item.RecoveryFound, nil
	}
	out, err := s.send(ctx, own, l, args)
	return out, item.RecoveryFound, err
}

// failed is the result of a call that could not do its work, or tool.ErrGoesOn if podd stops.
func failed(err error) (tool.Output, error) {
	if pod.Stopping(err) {
		return tool.Output{}, tool.ErrGoesOn
	}
	return refused("", err)
}

func refused(why string, err error) (tool.Output, error) {
	if err != nil {
		why = err.Error()
	}
	return tool.Error("%s: not sent: %s", ToolName, why), nil
}
