package encode

import (
	"strings"

	"podd/pkg/item"
)

// Runs knows which items become one message of the user's role in Chat Completions. Templates
// want the roles to alternate, so a message with an image is a list of parts from its start.
type Runs struct {
	fileRefRole string
	noImages    bool
}

// RunsOf are those of a setup.
func RunsOf(s item.Setup) Runs { return Runs{fileRefRole: s.FileRefRole, noImages: s.NoImages} }

// pictured says whether an image of the item is sent.
func (r Runs) pictured(it item.Item) bool {
	if _, ok := it.(item.ToolResult); ok || r.noImages {
		return false
	}
	return len(item.ImagesOf(it)) > 0
}

// Joins says whether an item is a part of a message of the user's.
func (r Runs) Joins(it item.Item) bool {
	switch it := it.(type) {
	case item.UserMessage:
		return true
	case item.SystemMessage:
		return !it.FromFiles() || r.fileRefRole != "system" || r.pictured(it)
	}
	return false
}

// Ahead says whether the message that begins with these items, or goes on with them, gets an
// image.
func (r Runs) Ahead(items []item.Item) bool {
	for _, it := range items {
		if !r.Joins(it) {
			return false
		}
		if r.pictured(it) {
			return true
		}
	}
	return false
}

// around says whether the message that is open before the n-th item has an image.
func (r Runs) around(items []item.Item, n int) bool {
	start := n
	for start > 0 && r.Joins(items[start-1]) {
		start--
	}
	return r.Ahead(items[start:])
}

// StepLen counts the leading items that are from one model answer.
func StepLen(items []item.Item) int {
	for i, it := range items {
		switch it.(type) {
		case item.AssistantMessage, item.Reasoning, item.ToolCall:
		default:
			return i
		}
	}
	return len(items)
}

// Spoken are the items of an answer up to its last word or call. APIs refuse reasoning that
// nothing follows, as an answer has that was cut within it.
func Spoken(items []item.Item) []item.Item {
	for len(items) > 0 && !Speaks(items[len(items)-1]) {
		items = items[:len(items)-1]
	}
	return items
}

// Speaks says whether an item of an answer can be its last: it is a call, or text that is
// not blank.
func Speaks(it item.Item) bool {
	switch v := it.(type) {
	case item.AssistantMessage:
		return strings.TrimSpace(v.Text) != ""
	case item.ToolCall:
		return true
	}
	return false
}

// ResultsLen counts the leading results.
func ResultsLen(items []item.Item) int {
	for i, it := range items {
		if _, ok := it.(item.ToolResult); !ok {
			return i
		}
	}
	return len(items)
}
