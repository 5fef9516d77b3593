package attach

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"podd/internal/clients/cells"
	"podd/internal/clients/tty"
	"podd/internal/clients/view"
	"podd/pkg/scopefs"
	"podd/pkg/transcript"
)

// mostCopied is how much terminals take by OSC 52: 100,000 bytes in base64.
const mostCopied = 74_000

// copyAnswer puts the last answer into the clipboard of the person's terminal.
func (a *app) copyAnswer() {
	for _, b := range slices.Backward(a.log.blocks) {
		if b.Kind != transcript.Answer || b.State != transcript.Done {
			continue
		}
		if len(b.Text) > mostCopied {
			a.said = fmt.Sprintf("the answer has %s bytes; terminals take %s", view.Count(int64(len(b.Text))), view.Count(mostCopied))
			return
		}
		a.said = "copied the last answer"
		a.command = tea.SetClipboard(b.Text)
		return
	}
	a.said = "there is no answer to copy"
}

// suspend stops podctl and gives the terminal back to the shell, until the person continues it.
func (a *app) suspend() {
	if !tty.UnderShell() {
		a.said = "no shell can take over: Ctrl-D leaves, and the turn continues"
		return
	}
	a.lend(func() error { return tty.Stop(a.ctx) }, resumed)
}

// lend gives the terminal to run, until it returns.
func (a *app) lend(run func() error, then func(error) tea.Msg) {
	a.command = tea.Exec(a.jobs.Away(run), then)
}

func resumed(error) tea.Msg { return tea.ResumeMsg{} }

// job handles a signal that is to stop this process, or says that it goes on: whatever had the
// terminal meanwhile has left its own settings.
func (a *app) job(s os.Signal) {
	if s == syscall.SIGTSTP {
		a.suspend()
		return
	}
	a.lend(func() error { return nil }, resumed)
}

// redraw draws everything again, and sets what a program before may have changed.
func (a *app) redraw() {
	a.command = tea.Batch(tea.Raw(cells.Mode()), tea.ClearScreen)
}

// edited is the end of an editor that had the draft.
type edited struct{ err error }

// draftFile is the name of the draft in a directory of its own.
const draftFile = "prompt.md"

// edit opens the draft in the person's editor.
func (a *app) edit() {
	if a.calls.answering {
		return
	}
	words := strings.Fields(a.Env("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(a.Env("EDITOR"))
	}
	if len(words) == 0 {
		words = []string{"vi"}
	}
	if err := a.prompt.toFile(); err != nil {
		a.said = "cannot write the draft for the editor: " + err.Error()
		return
	}
	// The view waits for the editor, and does not end it: it has what the person has not saved.
	c := exec.CommandContext(context.WithoutCancel(a.ctx), words[0], append(words[1:], a.prompt.editing)...)
	c.Stdin, c.Stdout, c.Stderr = a.In, a.Out, a.Out // Files: a copied stdin would never end.
	a.lend(c.Run, func(err error) tea.Msg { return edited{err} })
}

// edited takes the draft from the editor. The files of one that failed stay if they have other text.
func (a *app) edited(e edited) {
	if a.ctx.Err() != nil {
		return // keepUnsent has it.
	}
	a.redraw()
	text, err := os.ReadFile(a.prompt.editing)
	if e.err != nil || err != nil {
		a.said = "the editor failed; the draft is as it was"
		if a.prompt.leftByEditor() {
			a.said += "; see " + a.prompt.editing
		}
		a.prompt.editing = ""
		return
	}
	_ = os.RemoveAll(filepath.Dir(a.prompt.editing))
	a.prompt.editing = ""
	a.prompt.draft = a.prompt.draft.edited(strings.TrimSuffix(string(text), "\n"))
}

// keepUnsent keeps the draft of a view that ends with an error in the history, or else in a file,
// which the error names. The files of an editor stay.
func (a *app) keepUnsent(cause error) error {
	files := a.prompt.editing != "" && a.prompt.leftByEditor()
	if text, err := os.ReadFile(a.prompt.editing); files && err == nil {
		a.prompt.draft = a.prompt.draft.edited(strings.TrimSuffix(string(text), "\n"))
	}
	kept := a.prompt.draft.empty()
	if a.Desk.History && keeps(a.prompt.draft) {
		kept = pastFile(a.Env).add(pastPrompt{Time: a.now(), Dir: a.pod.GetSpec().GetDir(), Parts: pastParts(a.prompt.draft)}) == nil
	}
	if files || !kept && a.prompt.toFile() == nil {
		return &UnsentError{Draft: a.prompt.editing, cause: cause}
	}
	return cause
}

// UnsentError is the end of a view that leaves a draft in a file.
type UnsentError struct {
	// Draft is the file.
	Draft string
	cause error
}

// Error says why the view ended, and names the file.
func (e *UnsentError) Error() string { return e.cause.Error() + "; your draft is in " + e.Draft }

// Unwrap is why the view ended.
func (e *UnsentError) Unwrap() error { return e.cause }

// edited is the draft as an editor has left it. A pasted text that is still whole stays one, and
// no path behind a pasted @ becomes an @path because the text around it was edited.
func (e *editor) edited(rest string) (draft editor) {
	var loose strings.Builder
	pastes := []cell{}
	for _, c := range e.cells {
		switch {
		case c.paste != "":
			pastes = append(pastes, c)
			loose.WriteString("\n" + c.paste + "\n")
		case c.from == byPaste:
			loose.WriteString(c.g)
		default:
			loose.WriteByte('\n')
		}
	}
	exists := func(string) bool { return false }
	pasted := make(map[string]bool)
	for _, p := range scopefs.ParseRefs(loose.String(), exists) {
		pasted[p.Ref.Path] = p.Ref.Path != ""
	}
	write := func(text string) {
		for _, p := range scopefs.ParseRefs(text, exists) {
			from := byView
			if pasted[p.Ref.Path] {
				from = byPaste
			}
			draft.write(p.Source, from)
		}
	}
	for _, p := range pastes {
		if before, after, ok := strings.Cut(rest+"\n", p.paste); ok {
			write(before)
			draft.put(p)
			rest = strings.TrimSuffix(after, "\n")
		}
	}
	write(rest)
	return draft
}

// whole is the text with pasted texts.
func (e *editor) whole() string {
	var b strings.Builder
	for _, c := range e.cells {
		b.WriteString(c.g + c.paste)
	}
	return b.String()
}
