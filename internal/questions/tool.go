package questions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// Name is the tool's name.
const Name = tool.AskUser

const description = `Ask the person you work for, and wait for the answer. ` +
	`Only for a decision that is theirs and that you cannot find out; not for permission to use a tool.`

const (
	maxQuestions = 4
	maxOptions   = 6
	maxHeader    = 12
	// maxText and maxLabel bound the texts of a question, in bytes.
	maxText, maxLabel = 2000, 200
)

type arguments struct {
	Questions []question `json:"questions" jsonschema:"1 to 4"`
}

type question struct {
	Question string   `json:"question"`
	Header   string   `json:"header" jsonschema:"at most 12 characters"`
	Options  []option `json:"options,omitempty" jsonschema:"up to 6, the best first; a text of their own is always possible"`
	Multiple bool     `json:"multiple,omitempty"`
}

type option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

func (a *arguments) check() error {
	if n := len(a.Questions); n == 0 || n > maxQuestions {
		return fmt.Errorf("questions has %d entries: ask 1 to %d questions in one call", n, maxQuestions)
	}
	for i, q := range a.Questions {
		at := fmt.Sprintf("questions[%d]", i)
		switch {
		case strings.TrimSpace(q.Question) == "":
			return errors.New(at + ".question is empty")
		case len(q.Question) > maxText:
			return fmt.Errorf("%s.question has %d bytes, the limit is %d: shorten it", at, len(q.Question), maxText)
		case utf8.RuneCountInString(q.Header) > maxHeader:
			return fmt.Errorf("%s.header has more than %d characters: shorten it", at, maxHeader)
		case len(q.Options) > maxOptions:
			return fmt.Errorf("%s.options has %d entries, the limit is %d: leave some out", at, len(q.Options), maxOptions)
		case q.Multiple && len(q.Options) == 0:
			return errors.New(at + ".multiple needs options")
		}
		for j, o := range q.Options {
			switch {
			case strings.TrimSpace(o.Label) == "":
				return fmt.Errorf("%s.options[%d].label is empty", at, j)
			case len(o.Label) > maxLabel || len(o.Description) > maxText:
				return fmt.Errorf("%s.options[%d] is too long: a label has at most %d bytes, a description %d", at, j, maxLabel, maxText)
			}
		}
	}
	return nil
}

// Tool makes ask_user.
func Tool() tool.Tool {
	return tool.New(Name, description, run, tool.Validate((*arguments).check), tool.Confined[arguments](), tool.Recovers(again))
}

// again finds the answer of a call that an earlier podd started, or waits on for it.
func again(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, item.Recovery, error) {
	out, err := run(ctx, call, args)
	return out, item.RecoveryFound, err
}

func run(ctx context.Context, call *tool.Invocation, args arguments) (tool.Output, error) {
	f := args.form()
	r, err := call.Ask(ctx, "1", f)
	switch {
	case errors.Is(err, tool.ErrGoesOn):
		return tool.Output{}, err
	case err != nil:
		return tool.Error("%s: not answered: %v", Name, err), nil
	}
	return output(f, r), nil
}

func (a *arguments) form() item.Form {
	var f item.Form
	for _, q := range a.Questions {
		asked := item.FormQuestion{Header: q.Header, Text: q.Question, Multiple: q.Multiple}
		for _, o := range q.Options {
			asked.Options = append(asked.Options, item.FormOption(o))
		}
		f.Questions = append(f.Questions, asked)
	}
	return f
}

// maxSticky is the longest answer that stays in the requests for ever, in bytes.
const maxSticky = 4 << 10

// output is the result of an answered call.
func output(f item.Form, r item.ApprovalResolved) tool.Output {
	switch {
	case r.Withdrawn:
		return tool.Error("%s: not answered: the question %s", Name, r.Reason)
	case r.Dismissed:
		return tool.FromString(Name + ": " + r.By + " leaves it to you: decide yourself, and say what you decided" + because(r.Reason))
	case !r.Approved:
		return tool.Error("%s: %s declines to answer%s; do not ask this again", Name, r.By, because(r.Reason))
	}
	told := f.Told(r.Replies)
	return tool.Output{Summary: tool.Bound(Name + ": " + r.How()), Content: told, Kind: item.OutputTask, Sticky: len(told) <= maxSticky}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
