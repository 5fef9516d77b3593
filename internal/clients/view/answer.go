package view

import "strings"

// Answers says how a question is answered.
const Answers = "y once, a always, n [REASON] deny"

// Answer is what a person decided about a call that waits.
type Answer struct {
	Approve, Always bool
	// Reason is what the model is told when the call is denied.
	Reason string
}

// ParseAnswer reads what was typed behind a question. ok is false for what is no clear
// answer.
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
