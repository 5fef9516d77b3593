package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// reading is what a client read of a pod's log at one moment between two times: the appends of
// clients, in order.
type reading struct {
	from, until time.Time
	keys        []string
}

// readPause is the pause between two readings of a pod.
const readPause = 150 * time.Millisecond

// read reads the log of a pod again and again, each time at another node.
func (f *fleet) read(ctx context.Context, p *pod) {
	for n := p.n; pause(ctx, readPause); n++ {
		at := reading{from: time.Now()}
		log, err := readLog(ctx, f.at(n), p.name)
		if err != nil {
			continue
		}
		at.until, at.keys = time.Now(), appends(log)
		f.mu.Lock()
		f.readings[p.name] = append(f.readings[p.name], at)
		f.mu.Unlock()
	}
}

func readLog(ctx context.Context, c *client.Client, pod string) (log []*poddv1.Entry, err error) {
	stream, err := c.Pods().Stream(ctx, &poddv1.StreamRequest{Pod: pod})
	for err == nil {
		var m *poddv1.StreamResponse
		if m, err = stream.Recv(); err == nil && m.GetEntry() != nil {
			log = append(log, m.GetEntry())
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return log, err
}

// appends are what clients may have appended to a log: submits and notes. A rewind may store a
// note again.
func appends(log []*poddv1.Entry) (keys []string) {
	seen := map[string]bool{}
	for _, e := range log {
		key := ""
		switch k := e.GetKind().(type) {
		case *poddv1.Entry_Submitted:
			key = k.Submitted.GetRequestId()
		case *poddv1.Entry_Note:
			key = k.Note.GetText()
		}
		if key != "" && !seen[key] {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	return keys
}

// write is an append that a client asked for. until is zero if no answer came.
type write struct {
	key         string
	from, until time.Time
}

// histories checks the history of each pod.
func (f *fleet) histories(i *inspection) error {
	for _, p := range f.all() {
		if p.isFork {
			continue // It begins with the log of another.
		}
		log, err := i.log(p.name)
		if err != nil {
			return err
		}
		writes := p.submits.writes()
		f.mu.Lock()
		readings := f.readings[p.name]
		f.mu.Unlock()
		f.tally.Histories += len(writes) + len(readings)
		if wrong := checkHistory(writes, readings, appends(log)); wrong != "" {
			f.finding("%s: %s", p.name, wrong)
		}
	}
	return nil
}

// checkHistory says what is wrong with the history of a pod, whose log has these appends at the
// end; empty if there is one order of all writes and readings that each client may have seen.
func checkHistory(writes []write, readings []reading, final []string) string {
	known := map[string]bool{}
	for _, w := range writes {
		known[w.key] = true
	}
	strange := func(key string) bool { return !known[key] }
	final = slices.DeleteFunc(slices.Clone(final), strange)
	var ops []porcupine.Operation
	for _, w := range writes {
		at := slices.Index(final, w.key)
		until := int64(math.MaxInt64)
		switch {
		case !w.until.IsZero():
			until = w.until.UnixNano()
		case at < 0:
			continue // It was not done, and nobody was told that it was.
		}
		ops = append(ops, porcupine.Operation{Input: step{write: true, at: at}, Call: w.from.UnixNano(), Return: until})
	}
	for _, r := range readings {
		keys := slices.DeleteFunc(slices.Clone(r.keys), strange)
		if len(keys) > len(final) || !slices.Equal(keys, final[:len(keys)]) {
			return fmt.Sprintf("at %s a client read %q, which is not how the log begins: %q", r.until, keys, final)
		}
		ops = append(ops, porcupine.Operation{Input: step{at: len(keys)}, Call: r.from.UnixNano(), Return: r.until.UnixNano()})
	}
	if result := porcupine.CheckOperationsTimeout(logModel, ops, time.Minute); result != porcupine.Ok {
		return fmt.Sprintf("the history of %d writes and %d readings has no order: %s", len(writes), len(readings), result)
	}
	return ""
}

// step is a write of the append number at, or a reading of so many.
type step struct {
	write bool
	at    int
}

// logModel has as its state how many appends the log has. The last log says their order.
var logModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		n, s := state.(int), input.(step)
		if s.write {
			return n == s.at, n + 1
		}
		return n == s.at, n
	},
}
