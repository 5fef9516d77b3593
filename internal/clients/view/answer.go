package view

import "strings"

// Answers lists the answers to an approval question.
const Answers = "[y] once [a] always [n REASON] deny"

// Answer is what a person decided about a call that waits.
type Answer struct {
	Approve, Always bool
	// Reason is the reason for a denial, which the model gets.
	Reason string
}

// ParseAnswer reads the answer that was typed after a question. ok is false if it is not
// a clear answer.
func ParseAnswer(text string) (a Answer, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "y", "yes":
		return Answer{Approve: true}, rest == ""
	case "a", "always":
		return Answer{Approve: true, Always: true}, rest == ""
	case "n", "no":
		return Answer{Reason: rest}, true
	}
	return Answer{}, false
}
