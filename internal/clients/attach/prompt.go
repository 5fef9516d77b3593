package attach

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"podd/internal/sanitize"
)

// prompt is what the person writes, with the prompts before it and what completes it.
type prompt struct {
	draft   editor
	history history
	// unsent is the draft that prompts which could not be sent have made.
	unsent string
	// editing is the file of the draft while an editor has it.
	editing string
	// plan says that prompts begin turns that only plan.
	plan bool
	// offered are the words that Tab has found, paths those for the @path that is being written.
	offered []string
	paths   pathOffers
	// held is the key of an Enter that waits for the completion before it.
	held keyKind
}

// press applies a key to the draft. The history keeps a draft of several characters that one key
// deletes.
func (p *prompt) press(k key) {
	var before editor
	switch k.kind {
	case keyDeleteToStart, keyDeleteToEnd, keyDeleteWord, keyBackspace, keyDelete:
		if n := len(p.draft.cells); n > 1 && k.kind != keyBackspace && k.kind != keyDelete || n == 1 && p.draft.cells[0].paste != "" {
			before = p.draft.copied()
		}
	}
	p.draft.press(k)
	if p.draft.empty() {
		p.history.keep(before)
	}
}

// giveBack puts a prompt that could not be sent into the draft, after those before it; false if the
// person has begun another one.
func (p *prompt) giveBack(sent editor) bool {
	if !p.draft.empty() && p.draft.whole() != p.unsent {
		return false
	}
	p.draft.append(sent)
	p.unsent = p.draft.whole()
	return true
}

// takeBack puts prompts before the draft, with empty lines between.
func (p *prompt) takeBack(requests []string) {
	var all editor
	for _, id := range requests {
		e, _ := p.history.byRequest(id)
		all.append(e)
	}
	all.append(p.draft)
	p.draft = all
}

// takePath puts the chosen path into the draft.
func (p *prompt) takePath() {
	path := p.paths.list[p.paths.at]
	if !strings.HasSuffix(strings.TrimSuffix(path, `"`), "/") {
		path += " "
	}
	p.draft.complete(p.paths.from, path)
	p.paths.close()
}

// completeWord replaces the draft after a position with the common beginning of the words. Without words it says so.
func (p *prompt) completeWord(from int, typed string, words []string) (says string) {
	switch {
	case len(words) == 0:
		return "nothing fits " + sanitize.Line(strconv.Quote(typed))
	case len(words) == 1:
		p.draft.cut(from, len(p.draft.cells))
		p.draft.insert(words[0] + " ")
		return ""
	}
	if common := commonPrefix(words); len(common) > len(typed) {
		p.draft.cut(from, len(p.draft.cells))
		p.draft.insert(common)
	}
	p.offered = nil
	for _, w := range words {
		p.offered = append(p.offered, sanitize.Line(w))
	}
	return ""
}

// commonPrefix is the common start of all texts, in whole characters.
func commonPrefix(list []string) string {
	common := list[0]
	for _, text := range list[1:] {
		for !strings.HasPrefix(text, common) {
			common = common[:len(common)-1]
		}
	}
	return strings.ToValidUTF8(common, "")
}

// toFile writes the draft to a file in a directory of its own.
func (p *prompt) toFile() error {
	dir, err := os.MkdirTemp("", "podctl-")
	if err != nil {
		return err
	}
	p.editing = filepath.Join(dir, draftFile)
	return os.WriteFile(p.editing, []byte(p.draft.whole()), 0o600)
}

// leftByEditor says whether an editor has left text that the draft does not have, such as its swap
// file. Without it the files are removed.
func (p *prompt) leftByEditor() bool {
	dir := filepath.Dir(p.editing)
	text, err := os.ReadFile(p.editing)
	files, listed := os.ReadDir(dir)
	if err != nil || listed != nil || len(files) != 1 || string(text) != p.draft.whole() {
		return true
	}
	_ = os.RemoveAll(dir)
	return false
}
