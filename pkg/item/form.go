package item

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Form is what a running call asks a person.
type Form struct {
	// From says who asks if it is not the model, such as an MCP server.
	From string
	// Text precedes the questions; may be empty.
	Text      string
	Questions []FormQuestion
}

// FormQuestion is one question of a form. A text of the person's own always answers it, unless Takes says otherwise.
type FormQuestion struct {
	// Header is a word or two that name it.
	Header, Text string
	Options      []FormOption
	// Multiple says that several options may be chosen.
	Multiple bool
	// Takes is what an answer must be, which Text says in words; nil is an option or a text.
	Takes *FormTakes
}

// FormOption is an answer that the asker proposes.
type FormOption struct {
	Label string
	// Description is what choosing it means; may be empty.
	Description string
}

// FormReply is a person's answer to one question: the numbers of options, from 1, or a text of the person's own, or both.
type FormReply struct {
	Choices []int
	Text    string
}

// MaxAnswerBytes bounds the texts of an answer to a form together.
const MaxAnswerBytes = 64 << 10

// Line is the form in one sentence.
func (f *Form) Line() string {
	if len(f.Questions) == 0 {
		return f.Text
	}
	line := f.Questions[0].Text
	if more := len(f.Questions) - 1; more > 0 {
		line += fmt.Sprintf(" (and %d more)", more)
	}
	return line
}

// Digest is the SHA-256 of the form and what it is asked for: two forms have it only if they are shown the same.
func (f *Form) Digest(callID, key string) string {
	h := sha256.New()
	put := func(texts ...string) {
		for _, text := range texts {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
			h.Write([]byte(text))
		}
	}
	put("form", callID, key, f.From, f.Text)
	for _, q := range f.Questions {
		put("question", q.Header, q.Text, fmt.Sprint(q.Multiple))
		if q.Takes != nil {
			put("takes", q.Takes.line())
		}
		for _, o := range q.Options {
			put("option", o.Label, o.Description)
		}
	}
	return string(h.Sum(nil))
}

// Check refuses replies that do not answer the form.
func (f *Form) Check(replies []FormReply) error {
	bad := func(format string, args ...any) error { return Errorf(KindInvalid, "BAD_ANSWER", format, args...) }
	if len(replies) != len(f.Questions) {
		return bad("the form has %d questions, the answer has %d replies: answer each", len(f.Questions), len(replies))
	}
	size := 0
	for i, r := range replies {
		size += len(r.Text)
		if err := f.Questions[i].Check(r); err != nil {
			return bad("question %d %v", i+1, err)
		}
	}
	if size > MaxAnswerBytes {
		return Errorf(KindExhausted, "ANSWER_TOO_LARGE", "the answer has %d bytes; the limit is %d: put long text into a file and name it", size, MaxAnswerBytes)
	}
	return nil
}

// Check refuses a reply that does not answer the question. The error follows "question 1".
func (q *FormQuestion) Check(r FormReply) error {
	if q.Takes != nil {
		if q.LeftOut(r) {
			return nil
		}
		if err := q.Takes.check(r); err != nil {
			return err
		}
	}
	switch {
	case len(r.Choices) == 0 && strings.TrimSpace(r.Text) == "":
		return errors.New("has no answer: choose an option, or write a text")
	case len(r.Choices) > 1 && !q.Multiple:
		return errors.New("takes one choice: leave out the others")
	}
	for at, n := range r.Choices {
		if n < 1 || n > len(q.Options) {
			return fmt.Errorf("has no option %d: it has %d", n, len(q.Options))
		}
		if slices.Contains(r.Choices[:at], n) {
			return fmt.Errorf("has the choice %d twice: leave one out", n)
		}
	}
	return nil
}

// Says is the reply to a question in words: the labels of the choices, and the text.
func (f *Form) Says(r FormReply, question int) string {
	var said []string
	for _, n := range r.Choices {
		if question < len(f.Questions) && n >= 1 && n <= len(f.Questions[question].Options) {
			said = append(said, f.Questions[question].Options[n-1].Label)
		}
	}
	if r.Text != "" {
		said = append(said, r.Text)
	}
	return strings.Join(said, ", ")
}

// Told are the questions with their replies, for the model.
func (f *Form) Told(replies []FormReply) string {
	var b strings.Builder
	for i, r := range replies {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\nAnswer: %s\n", f.Questions[i].Text, f.Says(r, i))
	}
	return b.String()
}

// maxSaid bounds the words of Said, in bytes.
const maxSaid = 200

// Said are all replies in words, cut for people: an answer's Reason.
func (f *Form) Said(replies []FormReply) string {
	said := make([]string, len(replies))
	for i, r := range replies {
		said[i] = f.Says(r, i)
	}
	all := strings.Join(said, "; ")
	if len(all) > maxSaid {
		all = strings.ToValidUTF8(all[:maxSaid], "") + "…"
	}
	return all
}

// How says how a form was answered, and by whom: "answered by ann: SQLite".
func (r *ApprovalResolved) How() string {
	how := "declined"
	switch {
	case r.Withdrawn:
		how = "withdrawn"
	case r.Dismissed:
		how = "dismissed"
	case r.Approved:
		how = "answered"
	}
	if r.By != "" {
		how += " by " + r.By
	}
	if r.Reason != "" {
		how += ": " + r.Reason
	}
	return how
}
