package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"podd/internal/clients/cells"
	"podd/internal/clients/show"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Cursor is where a person is in a form that a client asks question by question.
type Cursor struct {
	// Question is the index of the question; Option is the number of the option under the cursor, or 0.
	Question, Option int
	// Marked are the numbers of the options that Space marked.
	Marked []int
}

// Press moves the cursor, or marks an option; false if the key does neither.
func (c *Cursor) Press(q item.FormQuestion, up, down, space bool) bool {
	n := len(q.Options)
	switch {
	case n == 0:
		return false
	case up && c.Option <= 1:
		c.Option = n
	case up:
		c.Option--
	case down:
		c.Option = c.Option%n + 1
	case space && q.Multiple && c.Option > 0:
		if i := slices.Index(c.Marked, c.Option); i >= 0 {
			c.Marked = slices.Delete(c.Marked, i, i+1)
		} else {
			c.Marked = append(c.Marked, c.Option)
		}
	default:
		return false
	}
	return true
}

// Chosen are the options that Enter takes: those marked, else the one under the cursor.
func (c *Cursor) Chosen() []int {
	if len(c.Marked) == 0 && c.Option > 0 {
		return []int{c.Option}
	}
	return slices.Sorted(slices.Values(c.Marked))
}

// indent precedes an option.
func (c *Cursor) indent(q item.FormQuestion, option int) string {
	if c == nil {
		return indent
	}
	mark := indent
	if option == c.Option {
		mark = "› "
	}
	switch {
	case !q.Multiple:
		return mark
	case slices.Contains(c.Marked, option):
		return mark + "[x] "
	}
	return mark + "[ ] "
}

// formLines show what a running call asks, with the numbers of the options: one question if there is a cursor, else all.
func formLines(a item.ApprovalRequested, columns int, at *Cursor) (lines []show.Line) {
	add := func(text, first string) {
		rest := strings.Repeat(" ", cells.Width(first))
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, show.Wrap(show.Plain(exactLine(line), show.Style{}), show.Plain(first, show.Style{}), show.Plain(rest, show.Style{}), columns)...)
			first = rest
		}
	}
	if a.Form.From != "" {
		add(a.Form.From+" asks:", "")
	}
	if a.Form.Text != "" {
		add(a.Form.Text, "")
	}
	for i, q := range a.Form.Questions {
		if at != nil && at.Question != i {
			continue
		}
		add(questionTitle(a.Form, i), "")
		for n, o := range q.Options {
			text := fmt.Sprintf("%d. %s", n+1, o.Label)
			if o.Description != "" {
				text += ": " + o.Description
			}
			add(text, at.indent(q, n+1))
		}
	}
	if !a.Expires.IsZero() {
		add("expires "+a.Expires.Local().Format(time.DateTime), "")
	}
	return lines
}

// questionTitle is a question with its header, and with its number if the form has several.
func questionTitle(f *item.Form, i int) string {
	q := f.Questions[i]
	title := q.Text
	if q.Header != "" {
		title = q.Header + ": " + title
	}
	if len(f.Questions) > 1 {
		title = fmt.Sprintf("Question %d, %s", i+1, title)
	}
	return title
}

// howToAnswer is a safe line with the commands that answer a form.
func (a Approval) howToAnswer() string {
	at := fmt.Sprintf("%s %d", sanitize.Line(a.Pod), a.Call)
	how := "podctl answer " + at
	if len(a.Form.Questions) == 1 && len(a.Form.Questions[0].Options) == 0 {
		how += " TEXT"
	} else if len(a.Form.Questions) == 1 {
		how += " --choice N, or with TEXT"
	} else {
		how += " --choice QUESTION:N --text QUESTION:TEXT"
	}
	return "answer with: " + how + "; podctl answer " + at + " --dismiss lets the model decide"
}

// Question is how a client asks question i of a form in one line.
func (a Approval) Question(i int) string {
	q := a.Form.Questions[i]
	how, alone := "a text", q.Takes != nil && q.Takes.Type == item.TakesOptions
	switch n := len(q.Options); {
	case n > 0 && q.Multiple && alone:
		how = fmt.Sprintf("[1-%d], several as in 1 2", n)
	case n > 0 && q.Multiple:
		how = fmt.Sprintf("[1-%d], several as in 1 2, or a text", n)
	case n > 0 && alone:
		how = fmt.Sprintf("[1-%d]", n)
	case n > 0:
		how = fmt.Sprintf("[1-%d] or a text", n)
	}
	name := "Answer"
	if all := len(a.Form.Questions); all > 1 {
		name = fmt.Sprintf("Answer to question %d of %d", i+1, all)
	}
	return fmt.Sprintf("%s: %s, [d] let the model decide, [Enter] later:", name, how)
}

// ParseReply reads what was typed as the answer to a question: numbers of options, or a text. A text that looks like a number, or like a
// key, is typed behind "o ".
func ParseReply(q item.FormQuestion, typed string) item.FormReply {
	typed = strings.TrimSpace(typed)
	if rest, ok := strings.CutPrefix(typed, "o "); ok {
		return item.FormReply{Text: strings.TrimSpace(rest)}
	}
	var r item.FormReply
	for word := range strings.FieldsFuncSeq(typed, func(c rune) bool { return c == ' ' || c == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(q.Options) {
			return item.FormReply{Text: typed}
		}
		if !slices.Contains(r.Choices, n) {
			r.Choices = append(r.Choices, n)
		}
	}
	return r
}
