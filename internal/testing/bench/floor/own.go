package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// own keeps the bytes of each message and appends to them; it reads the stream line by
// line.
type own struct {
	client  *http.Client
	address string
	body    []byte
}

const (
	ownHead = `{"model":"bench","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"shell","description":"Run a command.","parameters":` +
		toolSchema + `}}],"messages":[{"role":"system","content":"` + instructions + `"}`
	ownTail = `]}`
)

func ownModel(baseURL string) func() model {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
	return func() model {
		return &own{client: client, address: baseURL + "/chat/completions", body: []byte(ownHead)}
	}
}

// message appends a message of JSON.
func (o *own) message(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	o.body = append(append(o.body, ','), text...)
}

func (o *own) user(text string) { o.message(map[string]string{"role": "user", "content": text}) }

func (o *own) result(callID, text string) {
	o.message(map[string]string{"role": "tool", "tool_call_id": callID, "content": text})
}

func (o *own) assistant(a answer) {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type toolCall struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	m := struct {
		Role    string     `json:"role"`
		Content string     `json:"content,omitempty"`
		Calls   []toolCall `json:"tool_calls,omitempty"`
	}{Role: "assistant", Content: a.text}
	for _, c := range a.calls {
		m.Calls = append(m.Calls, toolCall{c.id, "function", function{c.name, c.arguments}})
	}
	o.message(m)
}

func (o *own) ask(ctx context.Context, delta func(string)) (a answer, err error) {
	body := append(o.body[:len(o.body):len(o.body)], ownTail...)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.address, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := o.client.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("the endpoint answered %s", resp.Status)
	}
	var text strings.Builder
	lines := bufio.NewReaderSize(resp.Body, 32<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			a.text = text.String()
			return a, nil
		}
		if err != nil {
			return a, err
		}
		data, found := bytes.CutPrefix(line, []byte("data: "))
		if !found || data[0] == '[' {
			continue
		}
		parts := gjson.GetManyBytes(data, "choices.0.delta.content", "choices.0.delta.tool_calls")
		if parts[0].Type == gjson.String {
			text.WriteString(parts[0].String())
			delta(parts[0].String())
		}
		for _, part := range parts[1].Array() {
			a.add(int(part.Get("index").Int()), part.Get("id").String(), part.Get("function.name").String(), part.Get("function.arguments").String())
		}
	}
}
