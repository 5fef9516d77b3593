package scripted

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"podd/pkg/item"
)

// maxLine bounds a line of a script.
const maxLine = 1 << 20

// Parse reads a script. Its errors name the line.
func Parse(r io.Reader) (*Script, error) {
	p := parser{script: &Script{}}
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		p.line++
		p.at = p.line
		if err := p.readLine(strings.TrimRight(in.Text(), " \t\r")); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.at, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line+1, err)
	}
	if err := p.flush(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.at, err)
	}
	s := p.script
	if len(s.steps) == 0 && len(s.branches) == 0 && s.otherwise == nil {
		return nil, errors.New("the script has no step")
	}
	return s, nil
}

// parser has the open parts: the list that gets steps, the step that gets lines, and the
// part that "| " lines continue.
type parser struct {
	script *Script
	// line is the number of the last line read, at that of the line that an error is about.
	line, at int

	list *[]step
	step *step

	pending     []string
	pendingLine int
	finish      func(text string) error
}

// readLine reads one line.
func (p *parser) readLine(line string) error {
	if line == "|" || strings.HasPrefix(line, "| ") {
		if p.finish == nil {
			return errors.New(`a line that begins with "| " goes on with text, reasoning, call or rawcall; none is before it`)
		}
		p.pending = append(p.pending, strings.TrimPrefix(strings.TrimPrefix(line, "|"), " "))
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	if line == "" || line[0] == '#' {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "model", "delay":
		return p.setting(word, rest)
	case "step", "on", "otherwise":
		return p.section(word, rest)
	}
	if p.step == nil {
		return fmt.Errorf("%q stands outside of a step; begin one with: step", word)
	}
	return p.directive(word, rest)
}

// flush ends the part that "| " lines may continue.
func (p *parser) flush() error {
	if p.finish == nil {
		return nil
	}
	finish, text := p.finish, strings.Join(p.pending, "\n")
	p.finish, p.pending = nil, nil
	if err := finish(text); err != nil {
		p.at = p.pendingLine
		return err
	}
	return nil
}

// collect gathers text that "| " lines may continue.
func (p *parser) collect(first string, finish func(string) error) {
	p.finish, p.pendingLine, p.pending = finish, p.line, nil
	if first != "" {
		p.pending = []string{first}
	}
}

func (p *parser) setting(word, rest string) error {
	switch {
	case p.step != nil || p.list != nil:
		return fmt.Errorf("%s stands before the first step", word)
	case rest == "":
		return fmt.Errorf("%s needs a value", word)
	case word == "model":
		name, more, ok := strings.Cut(rest, " ")
		if ok && json.Unmarshal([]byte(more), new(map[string]any)) != nil {
			return errors.New("what a list says of a model must be a JSON object")
		}
		p.script.models, p.script.said = append(p.script.models, name), append(p.script.said, more)
		return nil
	}
	d, err := duration(rest)
	p.script.delay = d
	return err
}

func (p *parser) section(word, rest string) error {
	if p.script.otherwise != nil && word != "otherwise" {
		return fmt.Errorf("otherwise is the last answer; no %s may follow it", word)
	}
	switch word {
	case "on":
		text, err := quoted(rest)
		if err != nil {
			return err
		}
		p.script.branches = append(p.script.branches, branch{text: text})
		p.list, p.step = &p.script.branches[len(p.script.branches)-1].steps, nil
		return nil
	case "otherwise":
		if p.script.otherwise != nil {
			return fmt.Errorf("otherwise stands twice; the first is in line %d", p.script.otherwise.line)
		}
		p.script.otherwise = &step{line: p.line}
		p.step = p.script.otherwise
	case "step":
		if p.list == nil {
			p.list = &p.script.steps
		}
		*p.list = append(*p.list, step{line: p.line})
		p.step = &(*p.list)[len(*p.list)-1]
	}
	if rest != "" {
		return fmt.Errorf("%s takes nothing on its line, not %q", word, rest)
	}
	return nil
}

// directive reads a line of a step.
func (p *parser) directive(word, rest string) error {
	switch word {
	case "text":
		p.collect(rest, func(s string) error { p.part(Text(s), 0); return nil })
	case "reasoning":
		p.collect(rest, func(s string) error { p.part(Reasoning(s), 0); return nil })
	case "call", "rawcall":
		return p.call(word, rest)
	case "pause":
		d, err := duration(rest)
		if err != nil {
			return err
		}
		p.part(Pause(d), 0)
	case "cut", "reset", "stall":
		times, text, err := options(rest).times()
		if err != nil {
			return err
		}
		if text != "" {
			return fmt.Errorf("%s takes times=N alone, not %q", word, text)
		}
		p.part(map[string]Part{"cut": Cut{}, "reset": Reset{}, "stall": Stall{}}[word], times)
	case "expect":
		return p.expect(rest)
	default:
		return p.outcome(word, rest)
	}
	return nil
}

// part adds a part to the step.
func (p *parser) part(piece Part, times int) {
	p.step.parts = append(p.step.parts, part{piece, times})
}

func (p *parser) call(word, rest string) error {
	name, args, _ := strings.Cut(rest, " ")
	if name == "" {
		return fmt.Errorf("%s needs the name of a tool", word)
	}
	p.collect(strings.TrimSpace(args), func(s string) error {
		if word == "call" && s == "" {
			s = "{}"
		}
		if word == "call" && !isObject(s) {
			return fmt.Errorf("the arguments of %s are not a JSON object; correct them or write rawcall", name)
		}
		p.part(Call{Name: name, Arguments: s}, 0)
		return nil
	})
	return nil
}

func (p *parser) expect(rest string) error {
	what, text, _ := strings.Cut(rest, " ")
	if what != "user" && what != "tool" && what != "system" && what != "body" {
		return fmt.Errorf("expect knows user, tool, system and body, not %q", what)
	}
	text, err := quoted(strings.TrimSpace(text))
	p.step.expects = append(p.step.expects, expect{p.line, what, text})
	return err
}

// outcome reads the lines that say how a step ends.
func (p *parser) outcome(word, rest string) error {
	st := p.step
	switch word {
	case "fail":
		reply, times, err := parseFail(rest)
		st.fault = &fault{reply, times}
		return err
	case "html":
		times, _, err := options(rest).times()
		st.fault = &fault{HTML(), times}
		return err
	case "stop":
		if rest != "length" && rest != "filter" {
			return fmt.Errorf("stop knows length and filter, not %q", rest)
		}
		st.stop = rest
		return nil
	case "usage":
		return st.parseUsage(rest)
	}
	return fmt.Errorf("%q is not known; see the documentation of scripts", word)
}

// parseFail reads: STATUS [code=C] [retry-after=SECONDS] [times=N] TEXT.
func parseFail(rest string) (Reply, int, error) {
	first, rest, _ := strings.Cut(rest, " ")
	status, err := strconv.Atoi(first)
	if err != nil || status < 400 || status > 599 {
		return Reply{}, 0, fmt.Errorf("fail needs a status from 400 to 599, not %q", first)
	}
	opt := options(rest)
	code, opt := opt.cut("code")
	wait, opt := opt.cut("retry-after")
	seconds := 0
	if wait != "" {
		if seconds, err = strconv.Atoi(wait); err != nil || seconds < 0 {
			return Reply{}, 0, fmt.Errorf("retry-after is a number of seconds, not %q", wait)
		}
	}
	times, text, err := opt.times()
	return Fail(status, code, text, time.Duration(seconds)*time.Second), times, err
}

func (st *step) parseUsage(rest string) error {
	if rest == "none" {
		st.noUsage = true
		return nil
	}
	u := item.Usage{Requests: 1}
	fields := map[string]*int64{"input": &u.Input, "cached": &u.CachedInput, "output": &u.Output, "reasoning": &u.Reasoning}
	for _, word := range strings.Fields(rest) {
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if fields[name] == nil || err != nil || n < 0 {
			return fmt.Errorf("usage knows input, cached, output and reasoning with a number, not %q", word)
		}
		*fields[name] = n
	}
	st.usage = &u
	return nil
}

// options is the rest of a line with name=value words before its text.
type options string

// cut removes one option from the words at the front.
func (o options) cut(name string) (value string, rest options) {
	words := strings.Fields(string(o))
	for i, w := range words {
		key, v, ok := strings.Cut(w, "=")
		if !ok {
			break
		}
		if key == name {
			return v, options(strings.Join(append(words[:i:i], words[i+1:]...), " "))
		}
	}
	return "", o
}

// times reads times=N, 1 if it is missing, and returns the remaining text.
func (o options) times() (int, string, error) {
	value, rest := o.cut("times")
	if value == "" {
		return 1, strings.TrimSpace(string(rest)), nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, "", fmt.Errorf("times is a number, 0 for always, not %q", value)
	}
	return n, string(rest), nil
}

func quoted(s string) (string, error) {
	text, err := strconv.Unquote(s)
	if err != nil || text == "" {
		return "", fmt.Errorf(`a text in quotes must stand here, like "this", not %q`, s)
	}
	return text, nil
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("a duration must stand here, like 15ms, not %q", s)
	}
	return d, nil
}

func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}
