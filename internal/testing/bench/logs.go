package main

import (
	"context"
	"fmt"
	"time"

	"podd/pkg/item"
	"podd/pkg/store"
	"podd/pkg/wire"
)

// The logs that are searched: how many bytes of entries, of how many pods, over how many days.
const (
	logBytes = 1 << 30
	logPods  = 200
	logDays  = 60
)

// planted is at the end of some prompts, and nowhere else.
const (
	planted      = "Zanzibar Quokka"
	plantedTimes = 5
)

// logs writes logs that repeat a turn with texts of their own. A few pods work at a time.
func (w writer) logs(ctx context.Context, turn []item.Entry) error {
	const beside = 8
	made, err := newTexts()
	if err != nil {
		return err
	}
	pods := map[int]*logPod{}
	begin := time.Now().AddDate(0, 0, -logDays)
	for written := 0; written < logBytes; {
		n := written*(logPods-beside)/logBytes + made.random.IntN(beside)
		if pods[n] == nil {
			b, err := w.create(ctx, nameOfLog(n))
			if err != nil {
				return err
			}
			pods[n] = &logPod{Batch: b}
		}
		at := begin.Add(time.Duration(float64(logDays*24*time.Hour) * float64(written) / logBytes))
		entries, size, err := pods[n].turns(made, turn, at)
		if err != nil {
			return err
		}
		// The same number of times in every part.
		if part := logBytes / plantedTimes; written/part < (written+size)/part {
			s := entries[0].Kind.(item.Submitted)
			s.Text += planted
			entries[0].Kind = s
		}
		if err := pods[n].append(ctx, w, entries); err != nil {
			return err
		}
		written += size
	}
	return nil
}

// logPod is a pod with such a log.
type logPod struct {
	store.Batch
	turn int64
}

func nameOfLog(n int) string { return fmt.Sprintf("logs-%03d", n) }

// turns are the next entries, and how long they are.
func (p *logPod) turns(made *texts, turn []item.Entry, at time.Time) (entries []item.Entry, size int, err error) {
	const enough = 256 << 10
	for size < enough {
		p.turn++
		next := repeatTurn(turn, p.turn)
		made.fill(next)
		for i := range next {
			next[i].Time = at.Add(time.Duration(len(entries)+i) * time.Millisecond)
			encoded, err := wire.EncodeEntry(next[i])
			if err != nil {
				return nil, 0, err
			}
			size += len(encoded)
		}
		entries = append(entries, next...)
	}
	return entries, size, nil
}

func (p *logPod) append(ctx context.Context, w writer, entries []item.Entry) error {
	b := p.Batch
	b.Entries = entries
	b.Status = &item.PodStatus{State: item.StateIdle, Turn: p.turn, LastActivity: entries[len(entries)-1].Time}
	_, err := w.store.Append(ctx, b)
	return err
}
