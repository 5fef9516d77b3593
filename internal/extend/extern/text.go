package extern

import (
	"strings"

	"podd/pkg/item"
	"podd/pkg/tool"
)

// The limits of a command's texts, in bytes. Longer text is cut, with a marker.
const (
	// maxItemBytes is for an item that a command adds to the conversation.
	maxItemBytes = 64 << 10
	// maxFeedbackBytes is for standard error that goes to the model.
	maxFeedbackBytes = 16 << 10
	// maxReasonBytes is for a reason, which is stored in the log.
	maxReasonBytes = 4 << 10
)

// message is a text of a command as an item of the conversation.
func message(text string) item.Item {
	return item.SystemMessage{Origin: item.OriginInterceptor, Text: cut(text, maxItemBytes)}
}

// reason is a text of a command as the reason of a verdict.
func reason(text string) string { return cut(strings.TrimSpace(text), maxReasonBytes) }

// cut leaves out the middle of a text that is longer than most bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return tool.Repair(text)
	}
	// Cannot fail: the text fits the smallest limits.
	limits, err := tool.NewLimits(tool.LimitsConfig{
		Default: tool.Limit{MaxBytes: most, MaxLines: most}, MaxResultBytes: most + item.MaxSummaryBytes + 1,
	})
	if err != nil {
		return ""
	}
	return limits.Apply("", item.Output{Content: text}, nil).Content
}
