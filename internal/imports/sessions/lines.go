package sessions

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// lines passes the values of a file that has one a line, with their numbers. Lines that are no JSON are counted; the last one
// may be cut, because the agent was writing it.
func lines[T any](f *file, each func(n int, value *T)) error {
	r := bufio.NewReaderSize(io.LimitReader(f.File, maxFile), 1<<20)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("cannot read %s: %w", f.Name(), err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			value := new(T)
			switch bad := json.Unmarshal(line, value); {
			case bad == nil || isType(bad):
				each(n, value)
			case err == nil:
				f.unread++
			}
		}
		if err != nil {
			return nil
		}
	}
}

// part is a part of a message, in the forms of all agents.
type part struct {
	Type, Text string
	ID, Name   string
	Input      json.RawMessage // The arguments of a call of claude.
	Arguments  json.RawMessage // The same of pi.
	ToolUseID  string          `json:"tool_use_id"`
	Content    json.RawMessage // Of a result of claude.
	IsError    bool            `json:"is_error"`
	Source     struct{ Data string }
	Data       string          // A picture of pi.
	ImageURL   json.RawMessage `json:"image_url"`
}

// parts are those of a content, which may be a text alone.
func parts(content json.RawMessage) (list []part) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []part{{Type: "text", Text: text}}
	}
	if err := json.Unmarshal(content, &list); err != nil && !isType(err) {
		return nil
	}
	return list
}

// texts are the texts and the pictures of a content.
func texts(content json.RawMessage) (text string, images [][]byte) {
	var all []string
	for _, p := range parts(content) {
		switch p.Type {
		case "text", "input_text", "output_text":
			all = append(all, p.Text)
		case "image", "input_image":
			if data := p.picture(); data != nil {
				images = append(images, data)
			} else {
				all = append(all, "["+p.Type+" that was left out]")
			}
		case "document":
			all = append(all, "["+p.Type+" that was left out]")
		}
	}
	return strings.Join(all, "\n"), images
}

// picture are the bytes of a picture.
func (p part) picture() []byte {
	if data := decoded(p.Source.Data + p.Data); data != nil {
		return data
	}
	var url string
	if json.Unmarshal(p.ImageURL, &url) != nil {
		return nil
	}
	return dataURL(url)
}

// dataURL are the bytes of a data: URL; nil for any other.
func dataURL(url string) []byte {
	if _, data, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(url, "data:") {
		return decoded(data)
	}
	return nil
}

func decoded(data string) []byte {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return nil
	}
	return raw
}

// parsed is a time of a file; zero if it is none.
func parsed(text string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t
}

// millis is a time in milliseconds.
func millis(n float64) time.Time {
	if n <= 0 || n > 1<<52 {
		return time.Time{}
	}
	return time.UnixMilli(int64(n)).UTC()
}
