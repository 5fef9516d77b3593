package mcp

import (
	"bytes"
	"encoding/json"
	"sync"
)

// tasks knows which tools a server runs only as tasks; their calls are refused. The
// protocol's library drops that part of a tool, so tasks reads it from the messages.
type tasks struct {
	mu   sync.Mutex
	must map[string]bool
}

// inspect reads a message from the server.
func (t *tasks) inspect(message []byte) {
	if !bytes.Contains(message, []byte(`"taskSupport"`)) {
		return
	}
	var listed struct {
		Result struct {
			Tools []struct {
				Name      string `json:"name"`
				Execution struct {
					TaskSupport string `json:"taskSupport"`
				} `json:"execution"`
			} `json:"tools"`
		} `json:"result"`
	}
	if json.Unmarshal(message, &listed) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tool := range listed.Result.Tools {
		if t.must == nil {
			t.must = map[string]bool{}
		}
		t.must[tool.Name] = tool.Execution.TaskSupport == "required"
	}
}

// only says whether a tool runs only as a task.
func (t *tasks) only(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.must[name]
}

// messages finds the messages in the body of an answer: the whole body, or the data of each
// event of a stream.
type messages struct {
	stream bool
	see    func(message []byte)
	read   []byte
}

// write takes a part of the body; end says that it was the last one.
func (m *messages) write(p []byte, end bool) {
	m.read = append(m.read, p...)
	if !m.stream {
		if end {
			m.see(m.read)
		}
		return
	}
	for {
		line, rest, found := bytes.Cut(m.read, []byte("\n"))
		if !found {
			break
		}
		m.read = rest
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			m.see(data)
		}
	}
	if len(m.read) > maxFrame {
		m.read = nil
	}
}
