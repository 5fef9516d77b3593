package mcp

import (
	"strings"
	"sync"

	"podd/pkg/tool"
)

// maxTail bounds the kept end of a server's standard error, in bytes.
const maxTail = 4 << 10

// tail keeps the end of a server's standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// add adds text, however much there is.
func (t *tail) add(more []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, more[max(0, len(more)-maxTail):]...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-maxTail):]...)
}

// all is the kept text.
func (t *tail) all() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return tool.Repair(string(t.text))
}

// last is the last non-empty line, shortened for a sentence and after ": "; "" if there is
// no such line.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.all()), "\n")
	return colon(lines[len(lines)-1])
}

// colon is text after ": ", to end a sentence with; "" for empty text.
func colon(text string) string {
	const most = 200
	text = tool.Bound(strings.TrimSpace(text))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	if text == "" {
		return ""
	}
	return ": " + text
}
