package mcp

import (
	"bytes"
	"encoding/json"
	"sync"
)

// tasks knows which tools a server runs only as tasks; their calls are refused. The
// protocol's library drops that part of a tool, so tasks reads it from the result.
type tasks struct {
	mu   sync.Mutex
	must map[string]bool
}

// inspect reads a list of tools.
func (t *tasks) inspect(result []byte) {
	if !bytes.Contains(result, []byte(`"taskSupport"`)) {
		return
	}
	var listed struct {
		Tools []struct {
			Name      string `json:"name"`
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			} `json:"execution"`
		} `json:"tools"`
	}
	if json.Unmarshal(result, &listed) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tool := range listed.Tools {
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
