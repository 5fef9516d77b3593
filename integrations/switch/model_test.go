//go:build integrations && switch

package switches

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"podd/pkg/llm/scripted"
)

// An order is what a prompt wants of the model:
//
//	SAY text    answer it
//	RUN command call the shell, then answer the first line of its output
//	USE tool    call the tool whose name ends so, then answer the first line of its output
//	SEES a+b    answer whether the request has ab
//	PRINT       answer the orders of the conversation so far
var order = regexp.MustCompile(`(?m)^(SAY|RUN|USE|SEES|PRINT)\b ?(.*)$`)

// answer follows the last order of the last message of a person.
func answer(_ context.Context, r scripted.Request) scripted.Reply {
	last := len(r.Messages) - 1
	for ; last >= 0; last-- {
		if r.Messages[last].Role == "user" && order.MatchString(r.Messages[last].Text) {
			break
		}
	}
	if last < 0 {
		return scripted.Say(scripted.Text("no order"))
	}
	found := order.FindAllStringSubmatch(r.Messages[last].Text, -1)
	verb, rest := found[len(found)-1][1], strings.TrimSpace(found[len(found)-1][2])
	if i := slices.IndexFunc(r.Messages[last:], func(m scripted.Message) bool { return m.Role == "tool" }); i >= 0 {
		return scripted.Say(scripted.Text("it says: " + firstLine(r.Messages[last+i].Text)))
	}
	switch verb {
	case "RUN":
		name, arguments := shellCall(r.Tools, rest)
		return scripted.Say(scripted.Call{Name: name, Arguments: arguments})
	case "USE":
		name, arguments, _ := strings.Cut(rest, " ")
		i := slices.IndexFunc(r.Tools, func(tool string) bool { return strings.HasSuffix(tool, name) })
		if i < 0 {
			return scripted.Say(scripted.Text("there is no such tool"))
		}
		return scripted.Say(scripted.Call{Name: r.Tools[i], Arguments: arguments})
	case "SEES":
		a, b, _ := strings.Cut(rest, "+")
		if bytes.Contains(r.Body, []byte(a+b)) {
			return scripted.Say(scripted.Text("it is there"))
		}
		return scripted.Say(scripted.Text("it is missing"))
	case "PRINT":
		var all []string
		for _, m := range r.Messages {
			if m.Role == "user" {
				all = append(all, order.FindAllString(m.Text, -1)...)
			}
		}
		return scripted.Say(scripted.Text(strings.Join(all, "; ")))
	}
	if slices.Contains(r.Tools, "StructuredOutput") && json.Valid([]byte(rest)) {
		return scripted.Say(scripted.Call{Name: "StructuredOutput", Arguments: rest})
	}
	return scripted.Say(scripted.Text(rest))
}

// shellCall is a call of the shell, as the program that offers these tools names it.
func shellCall(tools []string, command string) (name, arguments string) {
	for name, field := range map[string]string{"Bash": "command", "exec_command": "cmd", "shell": "command"} {
		if slices.Contains(tools, name) {
			text, _ := json.Marshal(map[string]string{field: command})
			return name, string(text)
		}
	}
	return "shell", `{}`
}

// firstLine is the first line of a result that a program wrote, not the harness around it.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "made ") || strings.Contains(line, "refused") || strings.Contains(line, "denied") {
			return line
		}
	}
	return strings.ReplaceAll(text, "\n", " | ")
}

// lenient hands requests on without the fields that the scripted model, which is as strict as the endpoints' references,
// does not know.
func lenient(t *testing.T, model string) string {
	known := []string{"model", "max_tokens", "system", "messages", "tools", "stream", "tool_choice", "thinking", "input", "instructions",
		"store", "reasoning", "include", "parallel_tool_calls", "text", "temperature"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusOK)
			return
		}
		var request map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for key := range request {
			if !slices.Contains(known, key) {
				delete(request, key)
			}
		}
		if text, ok := request["messages"]; ok {
			request["messages"] = blocks(text)
		}
		body, _ := json.Marshal(request)
		to, err := http.NewRequestWithContext(r.Context(), http.MethodPost, strings.TrimSuffix(model, "/v1")+r.URL.Path, bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		to.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
		resp, err := http.DefaultClient.Do(to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return s.URL
}

// blocks has each text of messages as a block, and messages of one role in a row as one: the API takes both, and the scripted model
// only that.
func blocks(messages json.RawMessage) json.RawMessage {
	type message struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	var list []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(messages, &list) != nil {
		return messages
	}
	var joined []message
	for _, m := range list {
		var text string
		var content []json.RawMessage
		if json.Unmarshal(m.Content, &text) == nil {
			block, _ := json.Marshal(map[string]string{"type": "text", "text": text})
			content = []json.RawMessage{block}
		} else if json.Unmarshal(m.Content, &content) != nil {
			return messages
		}
		if n := len(joined); n > 0 && joined[n-1].Role == m.Role {
			joined[n-1].Content = append(joined[n-1].Content, content...)
			continue
		}
		joined = append(joined, message{m.Role, content})
	}
	changed, _ := json.Marshal(joined)
	return changed
}
