package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"podd/pkg/item"
	"podd/pkg/store"
)

const crashPods = 8

// After each of many SIGKILLs on one database, acknowledged entries exist, each log has
// no gap and its entries are in the order in which they were written, and the counts of
// the inbox are right.
func TestCrashLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podd.db")
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := map[string]int{}
	for round := range crashRounds(t) {
		kill(t, path, random.IntN(400), acknowledged)
		if err := afterCrash(t.Context(), path, acknowledged); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if len(acknowledged) != crashPods {
		t.Errorf("only %d pods wrote anything", len(acknowledged))
	}
}

// crashRounds is the number of crashes.
func crashRounds(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("PODD_CRASH_ROUNDS")); err == nil {
		return n
	}
	if testing.Short() {
		return 3
	}
	return 10
}

// kill lets a helper write until it has acknowledged the given number of further entries,
// kills it, and records the last acknowledged sequence of each pod.
func kill(t *testing.T, path string, lines int, acknowledged map[string]int) {
	t.Helper()
	cmd := helper(t, "append", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for n := 0; scanner.Scan(); n++ {
		var pod string
		var seq int
		if _, err := fmt.Sscanf(scanner.Text(), "ack %s %d", &pod, &seq); err != nil {
			t.Fatalf("the helper says %q", scanner.Text())
		}
		acknowledged[pod] = max(acknowledged[pod], seq)
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the helper ended by itself")
	}
}

// helperAppend appends to all pods at once for ever: a submit, then the note that removes
// it from the inbox.
func helperAppend(ctx context.Context, path string) error {
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		return err
	}
	errs := make(chan error, crashPods)
	var stdout sync.Mutex
	for n := range crashPods {
		go func() {
			errs <- appendForEver(ctx, s, fmt.Sprintf("p%d", n), func(line string) {
				stdout.Lock()
				defer stdout.Unlock()
				fmt.Println(line)
			})
		}()
	}
	return <-errs
}

func appendForEver(ctx context.Context, s store.Store, pod string, say func(string)) error {
	err := s.CreatePod(ctx, item.Pod{ID: pod, Name: pod})
	if err != nil && item.ReasonOf(err) != store.ReasonPodExists {
		return err
	}
	epoch, err := s.Claim(ctx, pod)
	if err != nil {
		return err
	}
	record, err := s.Pod(ctx, pod)
	if err != nil {
		return err
	}
	for seq := record.Last + 1; ; seq++ {
		out, err := s.Append(ctx, crashBatch(pod, epoch, seq))
		if err != nil {
			return err
		}
		if len(out.Records) != 1 || out.Records[0].Seq != seq {
			return fmt.Errorf("pod %s: the records are %v, want seq %d", pod, out.Records, seq)
		}
		say(fmt.Sprintf("ack %s %d", pod, seq))
	}
}

func crashBatch(pod string, epoch store.Epoch, seq item.Seq) store.Batch {
	b := store.Batch{Pod: pod, Epoch: epoch, Entries: notes(fmt.Sprintf("%s %d", pod, seq))}
	if seq%2 == 0 {
		b.Dequeue = []item.Seq{seq - 1}
		return b
	}
	id := fmt.Sprintf("r%d", seq)
	b.Entries[0].Kind = item.Submitted{RequestID: id, Text: fmt.Sprintf("%s %d", pod, seq)}
	b.Admit = &store.Request{ID: id}
	b.Enqueue = true
	return b
}

// afterCrash checks the database of a killed process.
func afterCrash(ctx context.Context, path string, acknowledged map[string]int) (err error) {
	s, err := store.OpenBolt(store.BoltConfig{Path: path})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if found := s.Inconsistencies(); len(found) > 0 {
		return fmt.Errorf("inconsistent database: %w", errors.Join(found...))
	}
	for pod, last := range acknowledged {
		if err := podAfterCrash(ctx, s, pod, item.Seq(last)); err != nil {
			return fmt.Errorf("pod %s: %w", pod, err)
		}
	}
	return nil
}

func podAfterCrash(ctx context.Context, s store.Store, pod string, acknowledged item.Seq) error {
	record, err := s.Pod(ctx, pod)
	if err != nil {
		return err
	}
	if record.Last < acknowledged {
		return fmt.Errorf("the log ends at %d, but %d was acknowledged", record.Last, acknowledged)
	}
	for next := item.Seq(1); next <= record.Last; {
		page, err := s.Read(ctx, pod, next-1, 0)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := crashRecord(pod, r, next); err != nil {
				return err
			}
			next++
		}
	}
	inbox, err := s.Inbox(ctx, pod)
	if err != nil {
		return err
	}
	if want := int(record.Last % 2); len(inbox) != want || record.Queued != want {
		return fmt.Errorf("%d submits wait and the record says %d, want %d", len(inbox), record.Queued, want)
	}
	return nil
}

// crashRecord checks that a record is what crashBatch wrote.
func crashRecord(pod string, r store.Record, want item.Seq) error {
	e, err := r.Decode()
	if err != nil {
		return err
	}
	text := ""
	switch kind := e.Kind.(type) {
	case item.Note:
		text = kind.Text
	case item.Submitted:
		text = kind.Text
	}
	if r.Seq != want || e.Seq != want || text != fmt.Sprintf("%s %d", pod, want) {
		return fmt.Errorf("record %d is %#v, want entry %d", r.Seq, e, want)
	}
	return nil
}
