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

// ParseAnswer reads the answer that was typed after a question; 1, 2 and 3 are its places among
// the answers. ok is false if it is not a clear answer.
func ParseAnswer(text string) (a Answer, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "y", "yes", "1":
		return Answer{Approve: true}, rest == ""
	case "a", "always", "2":
		return Answer{Approve: true, Always: true}, rest == ""
	case "n", "no", "3":
		return Answer{Reason: rest}, true
	}
	return Answer{}, false
}
