// Package sessions reads the sessions that other agents stored: messages, calls and results, without reasoning and without
// what sub-agents said. It holds one session in memory, whose file has at most maxFile bytes, and trusts nothing in it.
package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"podd/pkg/item"
)

// The bounds of a session.
const (
	maxFile  = 256 << 20
	maxItems = 100_000
	// maxText is how much of a text is kept.
	maxText = 1 << 20
	// maxImages is how many bytes of pictures an item keeps.
	maxImages = 8 << 20
)

// Session is what a file says.
type Session struct {
	Agent, ID, File string
	// Dir is where the agent worked.
	Dir   string
	Title string
	// Time is that of the last item.
	Time time.Time
	// Sub says that it is a sub-agent's.
	Sub   bool
	Items []Item
	// Unread counts lines that are no JSON.
	Unread int
}

// Item is an item of the conversation. The content of a result is all of it. A system message is a summary, with which the
// agent went on in place of the items before it.
type Item struct {
	item.Item
	// Record is what the file calls its record.
	Record string
	Time   time.Time
	Images [][]byte
	// Synthetic is a message of the user that the agent wrote, Joined one that came while the agent worked.
	Synthetic, Joined bool
	// Keeps is, of a summary, the record of the first item before it that the agent still sent.
	Keeps string
}

// quoted is a directory as a part of a glob.
func quoted(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// idOf is the id of a session by the name of its file.
func idOf(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if rest, ok := strings.CutPrefix(name, "rollout-"); ok && len(rest) > uuidLen {
		return rest[len(rest)-uuidLen:]
	}
	if _, id, ok := strings.Cut(name, "_"); ok {
		return id
	}
	return name
}

const uuidLen = 36

// dirOf is where a session worked, by the beginning of its file; empty if that does not say.
func dirOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, maxText))
	for range 100 {
		var head struct {
			Cwd     string
			Payload struct{ Cwd string }
		}
		if err := d.Decode(&head); err != nil && !isType(err) {
			return ""
		}
		if dir := cmp.Or(head.Cwd, head.Payload.Cwd); dir != "" {
			return dir
		}
	}
	return ""
}

// isType says that a value is JSON of another form.
func isType(err error) bool {
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok
}

// Read reads the session in a file of an agent. The error is one sentence.
func Read(name, path string) (*Session, error) {
	a, ok := agents[name]
	if !ok {
		return nil, fmt.Errorf("no agent is called %s: use %s", name, strings.Join(Agents(), ", "))
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Session{Agent: name, File: path, ID: idOf(path)}
	if err := a.read(f, s); err != nil {
		return nil, err
	}
	s.Unread = f.unread
	if len(s.Items) == 0 {
		return nil, fmt.Errorf("%s has no message of a session of %s", path, name)
	}
	if len(s.Items) > maxItems {
		return nil, fmt.Errorf("%s has %d messages, calls and results: podctl imports at most %d", path, len(s.Items), maxItems)
	}
	for _, it := range s.Items {
		if it.Time.After(s.Time) {
			s.Time = it.Time
		}
	}
	s.Title = title(s)
	return s, nil
}

// title is what people call the session: what the agent says, or the first line that the person typed.
func title(s *Session) string {
	for i := 0; i < len(s.Items) && s.Title == ""; i++ {
		if m, ok := s.Items[i].Item.(item.UserMessage); ok && !s.Items[i].Synthetic && !strings.HasPrefix(m.Text, "<") {
			s.Title, _, _ = strings.Cut(strings.TrimSpace(m.Text), "\n")
		}
	}
	return strings.TrimSpace(cut(strings.ToValidUTF8(s.Title, "?"), 200))
}

// Messages counts what the person and the model said.
func (s *Session) Messages() (n int) {
	for _, it := range s.Items {
		switch it.Item.(type) {
		case item.UserMessage, item.AssistantMessage:
			if !it.Synthetic {
				n++
			}
		}
	}
	return n
}

// add adds an item that says something.
func (s *Session) add(it Item) {
	says := len(it.Images) > 0
	switch k := it.Item.(type) {
	case item.UserMessage:
		k.Text = bounded(k.Text, &says)
		it.Item = k
	case item.AssistantMessage:
		k.Text = bounded(k.Text, &says)
		it.Item = k
	case item.SystemMessage:
		k.Text = bounded(k.Text, &says)
		it.Item = k
	case item.ToolCall:
		k.Arguments, says = arguments(k.Arguments), true
		it.Item = k
	case item.ToolResult:
		k.Content = bounded(k.Content, &says)
		it.Item, says = k, true
	}
	if !says {
		return
	}
	size := 0
	it.Images = slices.DeleteFunc(it.Images, func(data []byte) bool {
		size += len(data)
		return size > maxImages
	})
	s.Items = append(s.Items, it)
}

// summary is a summary of the items before it.
func summary(text string) item.Item {
	return item.SystemMessage{Origin: item.OriginCompaction, Text: text}
}

// arguments are those of a call as JSON that is not too long.
func arguments(text string) string {
	if len(text) > maxText {
		return fmt.Sprintf(`{"left_out":"%d bytes"}`, len(text))
	}
	if strings.TrimSpace(text) == "" || text == "null" {
		return "{}"
	}
	return strings.ToValidUTF8(text, "?")
}

// bounded is a text that is not too long; says tells that it has a word.
func bounded(text string, says *bool) string {
	*says = *says || strings.TrimSpace(text) != ""
	if len(text) <= maxText {
		return text
	}
	kept := cut(text, maxText)
	return fmt.Sprintf("%s\n[%d more bytes were left out]", kept, len(text)-len(kept))
}

// cut is the beginning of a text, without a part of a rune.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// file is a file of an agent.
type file struct {
	*os.File
	unread int
}

func open(path string) (*file, error) {
	// Opening a pipe would wait for its other end.
	info, err := os.Stat(path)
	if err != nil {
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s has %d MiB: podctl imports sessions up to %d MiB", path, info.Size()>>20, maxFile>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the session: %w", err)
	}
	return &file{File: f}, nil
}
