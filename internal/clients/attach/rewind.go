package attach

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// confirmation is a question of the view's own.
type confirmation struct {
	// about must be on the screen as a whole before yes counts; it may be empty.
	about, question string
	yes             func()
	// files is for the answer f, which takes files back too; nil without changed files.
	files func()
	// enter says that Enter means yes. Other text answers the call that the question is about.
	enter bool
}

// keys are the answers, for a line on the screen.
func (c *confirmation) keys() string {
	switch {
	case c.enter:
		return "[Enter] yes [Esc] no [n REASON] deny"
	case c.files != nil:
		return "[y] yes [f] files too [Esc] no"
	}
	return "[y/N]"
}

// confirm asks before something is done.
func (a *app) confirm(question string, yes func()) {
	a.confirming = &confirmation{question: question, yes: yes}
}

// confirmed handles a key while the view asks; false if it does not ask.
func (a *app) confirmed(k key) bool {
	c := a.confirming
	if c == nil {
		return false
	}
	if a.scroll(k.kind) {
		return true // What the question is about may be above.
	}
	yes := k.kind == keyText && strings.EqualFold(k.text, "y") || k.kind == keyEnter && c.enter
	if yes && !a.showsAbout() {
		a.said = "not all of it is on the screen: make the terminal larger, or press Esc"
		return true
	}
	a.confirming = nil
	switch {
	case yes:
		c.yes()
	case k.kind == keyText && strings.EqualFold(k.text, "f") && c.files != nil:
		c.files()
	default:
		a.said = "nothing was changed"
		return !c.enter || k.kind != keyText // It begins another answer to the call.
	}
	return true
}

// rewind goes back to an entry, or to before the last prompt, which becomes the draft.
func (a *app) rewind(args string) {
	to, again, where := int64(0), editor{}, "before the last prompt"
	if args != "" {
		n, err := strconv.ParseInt(strings.TrimPrefix(args, "#"), 10, 64)
		if err != nil || n < 1 {
			a.said = "give the number of an entry, as podctl tail lists them"
			return
		}
		to, where = n, fmt.Sprintf("#%d", n)
	} else {
		for _, b := range slices.Backward(a.log.blocks) {
			if b.Kind == transcript.User && b.Seq > 1 {
				to, again = int64(b.Seq)-1, a.prompt.history.resent(b, a.log.sent[b.ID])
				break
			}
		}
		if to == 0 {
			a.said = "there is no prompt to go back to"
			return
		}
	}
	req := &poddv1.RewindPodRequest{Pod: a.pod.GetId(), ToSeq: to}
	dry := &poddv1.RestoreFilesRequest{Pod: req.GetPod(), AfterSeq: to, DryRun: true}
	// Without checkpoints there is an error, and files stay as they are.
	ask(a.call, a.Client.Files().RestoreFiles, dry, func(plan *poddv1.RestoreFilesResponse, _ error) {
		c := &confirmation{question: "Rewind to " + where + "?", yes: func() { a.rewindTo(req, again) }}
		if plan.GetChanged() > 0 {
			a.stays(plan)
			c.question = fmt.Sprintf("Rewind to %s? %s changed since.", where, paths(plan.GetChanged()))
			c.files = func() {
				req.Files, req.Skip = true, len(plan.GetKept()) > 0
				a.rewindTo(req, again)
			}
		}
		a.confirming = c
	})
}

func (a *app) rewindTo(req *poddv1.RewindPodRequest, prompt editor) {
	ask(a.send, a.Client.Pods().RewindPod, req, func(resp *poddv1.RewindPodResponse, err error) {
		a.told(err)
		if err != nil {
			return
		}
		if n := len(resp.GetChangedFiles()); n > 0 {
			a.log.notice(yellow, "! these files keep their later changes: "+strings.Join(resp.GetChangedFiles(), ", "))
		}
		if n := resp.GetCommands(); n > 0 {
			a.log.notice(yellow, fmt.Sprintf("! %d shell commands ran after this point; their effects stay", n))
		}
		if a.prompt.draft.empty() {
			a.prompt.draft = prompt
		}
	})
}
