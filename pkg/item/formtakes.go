package item

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// FormTakes is what an answer to a question must be.
type FormTakes struct {
	// Type is one of the constants below.
	Type string
	// Optional says that the question may be left out, with "-" or without any answer.
	Optional bool
	// Format and Pattern are those of JSON Schema, for a text; empty is any.
	Format, Pattern string
	// Min and Max bound a number, the characters of a text, or how many options are chosen; nil is no bound.
	Min, Max *float64
}

// The types of answers.
const (
	// TakesOptions is for options alone, without a text of the person's own.
	TakesOptions = "options"
	TakesText    = "text"
	TakesNumber  = "number"
	TakesInteger = "integer"
)

// LeftOut says whether a reply leaves out a question that may be left out.
func (q *FormQuestion) LeftOut(r FormReply) bool {
	text := strings.TrimSpace(r.Text)
	return q.Takes != nil && q.Takes.Optional && len(r.Choices) == 0 && (text == "" || text == "-")
}

// line tells any two apart.
func (t *FormTakes) line() string {
	bound := func(n *float64) string {
		if n == nil {
			return "-"
		}
		return strconv.FormatFloat(*n, 'g', -1, 64)
	}
	return fmt.Sprintf("%q %t %q %q %s %s", t.Type, t.Optional, t.Format, t.Pattern, bound(t.Min), bound(t.Max))
}

// check refuses a reply that is of another kind. The error follows "question 1".
func (t *FormTakes) check(r FormReply) error {
	if t.Type == TakesOptions {
		switch n := len(r.Choices); {
		case strings.TrimSpace(r.Text) != "":
			return errors.New("takes its options alone: answer with their numbers")
		case n == 0:
			return errors.New("has no answer: choose an option")
		default:
			return t.within(float64(n), "takes %s %s options")
		}
	}
	text := strings.TrimSpace(r.Text)
	if text == "" {
		return errors.New("has no answer: write one")
	}
	if t.Type == TakesText {
		return t.checkText(r.Text)
	}
	n, err := strconv.ParseFloat(text, 64)
	bad := err != nil || math.IsNaN(n) || math.IsInf(n, 0)
	switch {
	case t.Type == TakesInteger && (bad || n != math.Trunc(n) || math.Abs(n) > 1<<53):
		return fmt.Errorf("takes a whole number, not %q", excerpt(text))
	case bad:
		return fmt.Errorf("takes a number, not %q", excerpt(text))
	}
	return t.within(n, "takes a number of %s %s")
}

// within refuses a number out of bounds; refused has verbs for "at least" and the bound.
func (t *FormTakes) within(n float64, refused string) error {
	bound := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case t.Min != nil && n < *t.Min:
		return fmt.Errorf(refused, "at least", bound(*t.Min))
	case t.Max != nil && n > *t.Max:
		return fmt.Errorf(refused, "at most", bound(*t.Max))
	}
	return nil
}

func (t *FormTakes) checkText(text string) error {
	if err := t.within(float64(utf8.RuneCountInString(text)), "takes a text of %s %s characters"); err != nil {
		return err
	}
	if t.Pattern != "" {
		if fits, err := regexp.MatchString(t.Pattern, text); err != nil || !fits {
			return fmt.Errorf("takes a text that matches %s", excerpt(t.Pattern))
		}
	}
	var ok bool
	var want string
	switch t.Format {
	case "email":
		name, host, found := strings.Cut(text, "@")
		ok, want = found && name != "" && host != "" && !strings.ContainsAny(text, " \t\r\n") && !strings.Contains(host, "@"), "an address such as ada@example.com"
	case "uri":
		u, err := url.Parse(text)
		ok, want = err == nil && u.Scheme != "", "a URL such as https://example.com"
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		ok, want = err == nil, "a date such as 2026-01-31"
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		ok, want = err == nil, "a time such as 2026-01-31T12:00:00Z"
	default:
		return nil
	}
	if !ok {
		return fmt.Errorf("takes %s, not %q", want, excerpt(text))
	}
	return nil
}

// excerpt is the beginning of a text, for an error.
func excerpt(text string) string {
	const most = 40
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
