package attach

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

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
func suspend(a *app) {
	if !tty.UnderShell() {
		a.said = "no shell can take over: Ctrl-D leaves, and the turn continues"
		return
	}
	a.command = tea.Suspend
}

// edited is the end of an editor that had the draft.
type edited struct {
	dir string
	err error
}

// draftFile is the name of the draft in a directory of its own.
const draftFile = "prompt.md"

// edit opens the draft in the person's editor.
func (a *app) edit() {
	if a.answering {
		return
	}
	words := strings.Fields(a.Env("VISUAL"))
	if len(words) == 0 {
		words = strings.Fields(a.Env("EDITOR"))
	}
	if len(words) == 0 {
		words = []string{"vi"}
	}
	dir, err := os.MkdirTemp("", "podctl-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, draftFile), []byte(a.draft.whole()), 0o600)
	}
	if err != nil {
		a.said = "cannot write the draft for the editor: " + err.Error()
		return
	}
	c := exec.CommandContext(a.ctx, words[0], append(words[1:], filepath.Join(dir, draftFile))...)
	c.Stdin, c.Stdout, c.Stderr = a.In, a.Out, a.Out // Files: a copied stdin would never end.
	a.command = tea.ExecProcess(c, func(err error) tea.Msg { return edited{dir, err} })
}

// edited takes the draft from the editor. Pasted texts that are still whole stay pasted.
func (a *app) edited(e edited) {
	defer os.RemoveAll(e.dir)
	text, err := os.ReadFile(filepath.Join(e.dir, draftFile))
	if e.err != nil || err != nil {
		a.said = "the editor failed; the draft is as it was"
		return
	}
	a.draft = a.draft.edited(strings.TrimSuffix(string(text), "\n"))
}

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
