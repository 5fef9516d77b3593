package main

import (
	"context"
	"fmt"
	"os/exec"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	poddv1 "podd/proto/podd/v1"
)

// host has the pods.
type host struct {
	store    *store
	ctx      context.Context
	shell    string
	newModel func() model
	// running are the pods' goroutines.
	running sync.WaitGroup

	mu   sync.Mutex
	pods map[string]*pod
}

// load finds the pods of the database. Conversations are read when they are needed.
func (h *host) load() error {
	records, err := h.store.specs()
	for name, spec := range records {
		h.pods[name] = &pod{host: h, name: name, spec: spec}
	}
	return err
}

// pod is one conversation. The fields before mu belong to its goroutine.
type pod struct {
	host  *host
	name  string
	spec  *poddv1.PodSpec
	model model
	turn  int64
	inbox chan submit

	mu   sync.Mutex
	seq  int64
	live bool
	subs map[*subscriber]bool
}

// submit is one input; seq receives its sequence in the log.
type submit struct {
	text string
	seq  chan submitted
}

type submitted struct {
	seq int64
	err error
}

// start starts the pod's goroutine, once.
func (p *pod) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		return nil
	}
	p.model = p.host.newModel()
	p.inbox = make(chan submit, 1)
	if err := p.replay(); err != nil {
		return err
	}
	p.live = true
	p.host.running.Go(p.run)
	return nil
}

// replay reads the log into the conversation.
func (p *pod) replay() error {
	for {
		records, err := p.host.store.entries(p.name, p.seq)
		if err != nil || len(records) == 0 {
			return err
		}
		for _, record := range records {
			e := &poddv1.Entry{}
			if err := proto.Unmarshal(record, e); err != nil {
				return err
			}
			p.seq, p.turn = e.GetSeq(), max(p.turn, e.GetTurn())
			p.remember(e.GetItem())
		}
	}
}

// remember adds an item to the conversation.
func (p *pod) remember(it *poddv1.Item) {
	switch v := it.GetKind().(type) {
	case *poddv1.Item_UserMessage:
		p.model.user(v.UserMessage.GetText())
	case *poddv1.Item_AssistantMessage:
		p.model.assistant(answer{text: v.AssistantMessage.GetText()})
	case *poddv1.Item_ToolCall:
		c := v.ToolCall
		p.model.assistant(answer{calls: []call{{c.GetCallId(), c.GetName(), c.GetArguments()}}})
	case *poddv1.Item_ToolResult:
		p.model.result(v.ToolResult.GetCallId(), v.ToolResult.GetContent())
	}
}

func (p *pod) run() {
	for {
		select {
		case <-p.host.ctx.Done():
			return
		case s := <-p.inbox:
			seq, err := p.append(&poddv1.Entry{Kind: &poddv1.Entry_Submitted{Submitted: &poddv1.Submitted{Text: s.text}}})
			s.seq <- submitted{seq, err}
			if err == nil {
				p.submit(s.text)
			}
		}
	}
}

// submit runs a turn.
func (p *pod) submit(text string) {
	p.turn++
	end := &poddv1.TurnEnded{Outcome: poddv1.Outcome_OUTCOME_FINISHED}
	if err := p.steps(text, end); err != nil {
		end.Outcome, end.Cause = poddv1.Outcome_OUTCOME_FAILED, err.Error()
		_, _ = p.append(ended(end))
	}
}

func ended(end *poddv1.TurnEnded) *poddv1.Entry {
	return &poddv1.Entry{Kind: &poddv1.Entry_TurnEnded{TurnEnded: end}}
}

func itemEntry(it *poddv1.Item) *poddv1.Entry {
	return &poddv1.Entry{Kind: &poddv1.Entry_Item{Item: it}}
}

func (p *pod) steps(text string, end *poddv1.TurnEnded) error {
	_, err := p.append(
		&poddv1.Entry{Kind: &poddv1.Entry_TurnStarted{TurnStarted: &poddv1.TurnStarted{}}},
		itemEntry(&poddv1.Item{Kind: &poddv1.Item_UserMessage{UserMessage: &poddv1.UserMessage{Text: text}}}))
	if err != nil {
		return err
	}
	for {
		block := fmt.Sprint(p.turn, "/", end.Steps)
		a, err := p.model.ask(p.host.ctx, func(text string) { p.publish(block, text) })
		if err != nil {
			return err
		}
		end.Steps++
		var entries []*poddv1.Entry
		if a.text != "" {
			entries = append(entries, itemEntry(&poddv1.Item{Kind: &poddv1.Item_AssistantMessage{AssistantMessage: &poddv1.AssistantMessage{Text: a.text}}}))
		}
		for _, c := range a.calls {
			entries = append(entries,
				itemEntry(&poddv1.Item{Kind: &poddv1.Item_ToolCall{ToolCall: &poddv1.ToolCall{CallId: c.id, Name: c.name, Arguments: c.arguments}}}),
				&poddv1.Entry{Kind: &poddv1.Entry_ToolStarted{ToolStarted: &poddv1.ToolStarted{CallId: c.id, Tool: c.name, Arguments: c.arguments}}})
		}
		if len(a.calls) == 0 {
			_, err := p.append(append(entries, ended(end))...)
			return err
		}
		// A call is on disk before it runs.
		if _, err := p.append(entries...); err != nil {
			return err
		}
		for _, c := range a.calls {
			end.ToolCalls++
			if _, err := p.append(itemEntry(&poddv1.Item{Kind: &poddv1.Item_ToolResult{ToolResult: p.exec(c)}})); err != nil {
				return err
			}
		}
	}
}

// exec runs a command.
func (p *pod) exec(c call) *poddv1.ToolResult {
	cmd := exec.CommandContext(p.host.ctx, p.host.shell, "-c", c.command())
	cmd.Dir = p.spec.GetDir()
	output, err := cmd.CombinedOutput()
	return &poddv1.ToolResult{CallId: c.id, Tool: c.name, Content: string(output), IsError: err != nil}
}

// append writes entries to disk and then adds them to the conversation, wakes the
// subscribers and returns the last sequence.
func (p *pod) append(entries ...*poddv1.Entry) (int64, error) {
	seq := p.seq
	var keys, vals [][]byte
	for _, e := range entries {
		seq++
		e.Seq, e.Turn, e.Time = seq, p.turn, timestamppb.Now()
		val, err := proto.Marshal(e)
		if err != nil {
			return 0, err
		}
		keys, vals = append(keys, entryKey(p.name, seq)), append(vals, val)
	}
	if err := p.host.store.put(entriesBucket, keys, vals); err != nil {
		return 0, err
	}
	for _, e := range entries {
		p.remember(e.GetItem())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq = seq
	for s := range p.subs {
		s.signal()
	}
	return seq, nil
}
