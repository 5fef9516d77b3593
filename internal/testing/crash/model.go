package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"podd/internal/questions"
	"podd/pkg/llm/scripted"
)

// model is the endpoint of a round. It remembers the calls that it made.
type model struct {
	server *scripted.Server
	// gate is closed to release stalled answers.
	gate chan struct{}
	// most is how many messages a request may have; more exceed the window.
	most int

	mu     sync.Mutex
	number int
	calls  map[string]madeCall
	// stalled counts the requests that wait at the gate, by their kind.
	stalled map[string]int
}

// madeCall is a call as the model made it.
type madeCall struct {
	action
	tool, arguments string
	// task is the prompt of a sub-pod.
	task string
	// number is that of the call, uses are the earlier calls whose files it takes.
	number int
	uses   []string
}

// Pace of an answer: the pause between words.
const pace = 2 * time.Millisecond

func newModel(most int) (*model, error) {
	m := &model{most: most, gate: make(chan struct{}), calls: make(map[string]madeCall), stalled: make(map[string]int)}
	var err error
	m.server, err = scripted.Serve(scripted.Config{Handler: m.reply})
	return m, err
}

// summaryMark is a part of the request for a summary.
const summaryMark = "summary that replaces the conversation"

// reply answers one request.
func (m *model) reply(_ context.Context, r scripted.Request) scripted.Reply {
	last := r.Messages[len(r.Messages)-1]
	if strings.Contains(last.Text, summaryMark) {
		return scripted.Reply{Delay: pace, Parts: []scripted.Part{m.stall("compaction"), scripted.Text("It was long, and went well.")}}
	}
	at := -1
	var work job
	for i, msg := range r.Messages {
		if j, ok := parseJob(msg.Text); ok && msg.Role == "user" {
			work, at = j, i
		}
	}
	if m.most > 0 && len(r.Messages) > m.most {
		return scripted.Fail(400, "context_length_exceeded", "This model's maximum context length is exceeded.", 0)
	}
	if at < 0 {
		// The prompt became part of a summary.
		return scripted.Say(scripted.Text("There is nothing left to do."))
	}
	step := 0
	var wrote []string
	for _, msg := range r.Messages[at:] {
		if msg.Role != "assistant" {
			continue
		}
		step++
		for _, c := range msg.Calls {
			if m.made(c.ID).verb == "write" {
				wrote = append(wrote, c.ID)
			}
		}
	}
	return m.step(work, step, wrote)
}

// step is the answer of a job's step. wrote are the calls of its earlier steps that wrote a file.
func (m *model) step(work job, step int, wrote []string) scripted.Reply {
	if step >= len(work.steps) {
		return scripted.Reply{Delay: pace, Parts: []scripted.Part{scripted.Text(work.answer())}}
	}
	reply := scripted.Reply{Delay: pace, Parts: []scripted.Part{scripted.Text("I go on with it.")}}
	for _, a := range work.steps[step] {
		if a.verb == "stall" {
			reply.Parts = append(reply.Parts, m.stall("stream"), scripted.Text(" And on."))
			continue
		}
		reply.Parts = append(reply.Parts, m.call(a, wrote))
	}
	return reply
}

// call makes a call with a new id, whether or not the same step was requested before:
// podd must not run one call twice.
func (m *model) call(a action, wrote []string) scripted.Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.number++
	id := fmt.Sprintf("c%d", m.number)
	c := madeCall{action: a, number: m.number}
	if a.verb == "spawn" || a.verb == "begin" {
		c.task = a.spawned(m.number)
	}
	if a.verb == "patch" && len(wrote) > 1 {
		c.uses = wrote[:2]
	}
	var arguments map[string]any
	c.tool, arguments = c.request(id)
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // It consists of strings and numbers only.
	}
	c.arguments = string(text)
	m.calls[id] = c
	return scripted.Call{ID: id, Name: c.tool, Arguments: c.arguments}
}

// request is the tool of a call, and its arguments.
func (c madeCall) request(id string) (tool string, arguments map[string]any) {
	switch c.verb {
	case "write":
		return "write_file", map[string]any{"path": "made-" + id, "content": id}
	case "over":
		return "write_file", map[string]any{"path": c.shared("over"), "content": id}
	case "fix":
		return "edit_file", map[string]any{"path": c.shared("fixed"), "old": lastLine, "new": id + "\n" + lastLine}
	case "patch":
		return "apply_patch", map[string]any{"input": c.patch(id)}
	case "look", "pay":
		return "mcp__till__" + c.verb, map[string]any{"call": id}
	case "show":
		return "read_file", map[string]any{"path": c.shared("over")}
	case "read":
		return "read_file", map[string]any{"path": readFile}
	case "back":
		return "shell", map[string]any{"command": c.command(id), "background": true, "terminal": true, "quiet": true}
	case "later":
		return "shell", map[string]any{"command": c.command(id), "background": true, "quiet": true}
	case "type":
		return "job", map[string]any{"action": "write", "id": "1", "input": id + "\n", "until": "^answered$", "wait_seconds": 300}
	case "question":
		return questions.Name, map[string]any{"questions": []any{map[string]any{"question": "What is said to " + id + "?", "header": "word"}}}
	case "send":
		return "send_message", map[string]any{"to": fmt.Sprintf("p%d", c.number%randomPods), "text": letterText + id}
	case "spawn":
		return "spawn_pod", map[string]any{"task": c.task}
	case "begin":
		return "spawn_pod", map[string]any{"task": c.task, "background": true}
	case "wait":
		return "wait_for", map[string]any{"max_seconds": 10}
	}
	return "shell", map[string]any{"command": c.command(id), "timeout_seconds": 300}
}

// made is a call as it was made.
func (m *model) made(id string) madeCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[id]
}

// stall waits for the gate and counts the waiting request.
func (m *model) stall(what string) scripted.Part {
	select {
	case <-m.gate:
		return scripted.Text("")
	default:
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stalled[what]++
	return scripted.Wait(m.gate)
}

func (m *model) hasStalled(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stalled[what] > 0
}

// illFormed says what is wrong with the requests received.
func (m *model) illFormed(api string) []string {
	var wrong []string
	for i, body := range m.server.Requests() {
		if err := checkRequest(api, body, m.knows); err != nil {
			wrong = append(wrong, fmt.Sprintf("request %d: %v", i+1, err))
		}
	}
	return wrong
}

// knows says whether the model made such a call.
func (m *model) knows(id, tool, arguments string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.calls[id]
	switch {
	case !ok:
		return fmt.Errorf("the call %q was never made", id)
	case c.tool != tool || c.arguments != arguments:
		return fmt.Errorf("the call %q was %s(%s) and came back as %s(%s)", id, c.tool, c.arguments, tool, arguments)
	}
	return nil
}
