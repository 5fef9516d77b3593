package attach

import (
	"cmp"
	"strings"

	"podd/internal/clients/ownprompts"
	"podd/internal/sanitize"
)

// fill puts arguments in the places of a prompt. A pasted text of several lines is part of a word.
func fill(p ownprompts.Prompt, typed editor) (filled editor, err error) {
	words, err := wordsOf(typed.cells)
	if err != nil {
		return editor{}, err
	}
	if err := ownprompts.Fill(p, typed.cells, words, func(text string) { filled.write(text, byView) }, filled.place); err != nil {
		return editor{}, err
	}
	return filled, nil
}

// shellWords are the words of a text.
func shellWords(text string) (words []string, err error) {
	var e editor
	e.insert(text)
	list, err := wordsOf(e.cells)
	for _, word := range list {
		words = append(words, plainText(word))
	}
	return words, err
}

// wordsOf are the words of a draft, in which a pasted text of several lines is part of a word.
func wordsOf(list []cell) ([][]cell, error) {
	return ownprompts.Words(list, func(c cell) string { return c.g }, cell.space)
}

// commandOf is a prompt as a command.
func commandOf(p ownprompts.Prompt) slash {
	about := cmp.Or(p.About, "sends your prompt "+p.Name+".md")
	return slash{name: p.Name, args: cmp.Or(strings.ToUpper(strings.Join(p.Args, " ")), sanitize.Line(p.Hint)), about: about, sends: func(a *app, args editor) {
		filled, err := fill(p, args)
		if err != nil {
			a.said = err.Error() // The history has the command.
			return
		}
		a.prompt.draft = filled
		a.submit(false)
	}}
}
