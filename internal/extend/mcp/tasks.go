package mcp

import (
	"bytes"
	"encoding/json"
	"sync"
)

// tasks knows which tools a server runs as tasks alone: a call of them is refused. The
// protocol's library drops that part of a tool, so it is read off the messages themselves.
type tasks struct {
	mu   sync.Mutex
	must map[string]bool
}

// see looks at a message of the server's.
func (t *tasks) see(message []byte) {
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

// only says whether a tool is run as a task alone.
func (t *tasks) only(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.must[name]
}

// messages finds the messages in the body of an answer: the whole, or the data of each
// event of a stream.
type messages struct {
	stream bool
	see    func(message []byte)
	read   []byte
}

// write takes what was read of the body, end that this was the last of it.
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
