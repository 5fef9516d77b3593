package worker

import (
	"fmt"
	"strings"

	"podd/pkg/item"
	"podd/pkg/llm"
)

// maxAnswer bounds one answer, in bytes, with everything that goes back to the endpoint:
// an endpoint that never stops must not fill the memory, and each item has to fit one
// entry of the log.
const maxAnswer = 4 << 20

// timeline collects the events of one answer into items and shows each fragment live as
// it comes.
type timeline struct {
	turn int64
	step int
	// live shows a fragment; nil for an answer that is not shown.
	live func(item.Delta)
	// named is the tool that an unfinished call is of; see tool.Registry. Nil means the name.
	named  func(name, arguments string) string
	blocks []*block
	size   int
	end    *llm.End
}

// block is the part of a block that has arrived.
type block struct {
	llm.BlockStart
	id string
	// tool is what live fragments of a call name; empty until it is known.
	tool   string
	text   strings.Builder
	opaque item.Opaque
}

// deltaKinds says what a fragment of each kind of block is.
var deltaKinds = map[llm.BlockKind]item.DeltaKind{
	llm.BlockText:      item.DeltaText,
	llm.BlockReasoning: item.DeltaReasoning,
	llm.BlockToolCall:  item.DeltaToolArguments,
}

// add adds the next event. Its error says that the model broke the order of events.
func (tl *timeline) add(ev llm.Event) error {
	switch ev := ev.(type) {
	case llm.BlockStart:
		if _, known := deltaKinds[ev.Kind]; !known || ev.Block != len(tl.blocks) {
			return tl.broken("block %d of kind %q after %d blocks", ev.Block, ev.Kind, len(tl.blocks))
		}
		b := &block{BlockStart: ev, id: fmt.Sprintf("turn%d.step%d.%d", tl.turn, tl.step, ev.Block)}
		tl.blocks = append(tl.blocks, b)
		tl.size += len(ev.CallID) + len(ev.Name)
		if ev.Kind == llm.BlockToolCall {
			tl.show(b, "")
		}
	case llm.BlockDelta:
		b, err := tl.block(ev.Block)
		if err != nil {
			return err
		}
		if err := tl.grow(len(ev.Text)); err != nil {
			return err
		}
		b.text.WriteString(ev.Text)
		tl.show(b, ev.Text)
	case llm.BlockEnd:
		b, err := tl.block(ev.Block)
		if err != nil {
			return err
		}
		b.opaque = ev.Opaque
		// The end is near, and says what the answer cost.
		tl.size += len(ev.Opaque.JSON)
		if ev.Text != "" {
			tl.size += len(ev.Text) - b.text.Len()
			b.text.Reset()
			b.text.WriteString(ev.Text)
		}
	case llm.End:
		tl.end = &ev
		if err := tl.grow(len(ev.Model) + len(ev.ResponseID)); err != nil {
			ev.Model, ev.ResponseID = "", ""
			return err
		}
	}
	return nil
}

// grow makes room for n more bytes.
func (tl *timeline) grow(n int) error {
	if tl.size += n; tl.size > maxAnswer {
		return &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf(
			"the model's answer exceeds %d bytes, so podd discards it", maxAnswer)}
	}
	return nil
}

func (tl *timeline) block(n int) (*block, error) {
	if n < 0 || n >= len(tl.blocks) {
		return nil, tl.broken("a fragment of block %d before its start", n)
	}
	return tl.blocks[n], nil
}

func (tl *timeline) broken(format string, args ...any) error {
	return &llm.Error{Class: llm.ClassProtocol, Message: "the model's answer is out of order: " + fmt.Sprintf(format, args...)}
}

func (tl *timeline) show(b *block, text string) {
	if tl.live == nil {
		return
	}
	if b.tool == "" {
		b.tool = b.Name
		if tl.named != nil {
			b.tool = tl.named(b.Name, b.text.String())
		}
	}
	tl.live(item.Delta{
		Turn: tl.turn, Step: tl.step, Block: b.id,
		Kind: deltaKinds[b.Kind], CallID: b.CallID, Tool: b.tool, Text: text,
	})
}

// blockIDs names the live blocks of the answer.
func (tl *timeline) blockIDs() []string {
	ids := make([]string, len(tl.blocks))
	for i, b := range tl.blocks {
		ids[i] = b.id
	}
	return ids
}

// items are the finished items, in the order in which their blocks began, without empty
// blocks. model is the requested one: it marks what only that model can read.
func (tl *timeline) items(model item.ModelRef) []item.Item {
	var items []item.Item
	for _, b := range tl.blocks {
		text := b.text.String()
		if b.opaque != (item.Opaque{}) {
			b.opaque.Endpoint, b.opaque.Model = model.Endpoint, model.Model
		}
		switch {
		case b.Kind == llm.BlockToolCall:
			items = append(items, item.ToolCall{CallID: b.CallID, Name: b.Name, Arguments: text, Opaque: b.opaque})
		case text == "" && b.opaque == item.Opaque{}:
		case b.Kind == llm.BlockReasoning:
			items = append(items, item.Reasoning{Text: text, Opaque: b.opaque})
		default:
			items = append(items, item.AssistantMessage{Text: text, Opaque: b.opaque})
		}
	}
	return items
}

// spoken is the text of the assistant's messages.
func (tl *timeline) spoken() string {
	var parts []string
	for _, b := range tl.blocks {
		if b.Kind == llm.BlockText && b.text.Len() > 0 {
			parts = append(parts, b.text.String())
		}
	}
	return strings.Join(parts, "\n\n")
}
