package attach

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"podd/pkg/transcript"
	poddv1 "podd/proto/podd/v1"
)

// confirmation is a question of the view's own.
type confirmation struct {
	question string
	yes      func()
	// enter says that Enter means yes.
	enter bool
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
	a.confirming = nil
	if k.kind == keyText && strings.EqualFold(k.text, "y") || k.kind == keyEnter && c.enter {
		c.yes()
		return true
	}
	a.said = "nothing was changed"
	return true
}

// rewind goes back to an entry, or to before the last prompt, which becomes the draft.
func rewind(a *app, args string) {
	to, again := int64(0), ""
	if args != "" {
		n, err := strconv.ParseInt(strings.TrimPrefix(args, "#"), 10, 64)
		if err != nil || n < 1 {
			a.said = "give the number of an entry, as podctl tail lists them"
			return
		}
		to = n
	} else {
		for _, b := range slices.Backward(a.log.blocks) {
			if b.Kind == transcript.User && b.Seq > 1 {
				to, again = int64(b.Seq)-1, b.Text
				break
			}
		}
		if to == 0 {
			a.said = "there is no prompt to go back to"
			return
		}
	}
	question := fmt.Sprintf("Rewind to #%d? Files keep their changes.", to)
	if again != "" {
		question = "Rewind to before the last prompt? Files keep their changes."
	}
	a.confirm(question, func() { a.rewindTo(to, again) })
}

func (a *app) rewindTo(seq int64, prompt string) {
	pod := a.pod.GetId()
	var resp *poddv1.RewindPodResponse
	a.call(func(ctx context.Context) (err error) {
		resp, err = a.Client.Pods().RewindPod(ctx, &poddv1.RewindPodRequest{Pod: pod, ToSeq: seq})
		return err
	}, func(err error) {
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
		if a.draft.empty() {
			a.draft.write(prompt, true)
		}
	})
}
