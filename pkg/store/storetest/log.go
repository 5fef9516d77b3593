package storetest

import (
	"errors"
	"strings"

	"podd/pkg/item"
	"podd/pkg/store"
)

// Sequences begin at 1 without a gap, whatever the sizes of the batches, and Read returns
// the same ones as Append.
func sequencesAreDense(f *fixture) {
	p := f.pod("p")
	want := []item.Entry{}
	for n := range 20 {
		var entries []item.Entry
		for range n % 4 {
			entries = append(entries, note(len(want)+len(entries)))
		}
		out := p.append(entries...)
		next := numbered(item.Seq(len(want)+1), entries...)
		equal(f, "returned records", decode(f, out.Records), next)
		want = append(want, next...)
	}
	equal(f, "log", p.log(), want)
	got := p.record()
	equal(f, "ends", [2]item.Seq{got.First, got.Last}, [2]item.Seq{1, item.Seq(len(want))})
}

// Each kind of entry reads as it was written.
func entriesComeBack(f *fixture) {
	p := f.pod("p")
	usage := item.Usage{Input: 10, Output: 2, Requests: 1}
	kinds := []item.Kind{
		item.Submitted{RequestID: "r", Mode: item.ModeSteer, Text: "@a", Segments: []item.Segment{item.FileRef{Path: "a"}}, Items: []item.Item{item.SystemMessage{Origin: item.OriginFileRef, Text: "[File: a]\nb"}}},
		item.Promoted{RequestIDs: []string{"r"}},
		item.TurnStarted{RequestIDs: []string{"r", "s"}},
		item.Setup{Model: "m", API: "chat", Tools: []item.ToolSpec{{Name: "t", Description: "d", Schema: "{}"}}, Renderer: 1},
		item.ItemAdded{Item: item.UserMessage{Text: "hello\x1b[31m\n"}},
		item.ItemAdded{Item: item.ToolCall{CallID: "c", Name: "t", Arguments: "{"}},
		item.ToolStarted{CallID: "c", Tool: "t", Arguments: "{}"},
		item.ItemAdded{Item: item.ToolResult{CallID: "c", Tool: "t", Output: item.Output{Summary: "s", Content: strings.Repeat("x", 10_000)}, DurationMS: 5}},
		item.RequestUsage{Usage: usage, Measured: true, Model: "m", Step: 1},
		item.Prune{Seqs: []item.Seq{3, 4}, Policy: "economic"},
		item.Compaction{Summary: item.UserMessage{Text: "so far"}, UpTo: 3},
		item.ApprovalRequested{CallID: "c", Digest: "d", Question: "run it?"},
		item.ApprovalResolved{CallID: "c", Approved: true, By: "me"},
		item.Rewind{To: 2},
		item.Note{Text: "n"},
		item.Recovered{Reason: "restart", CallIDs: []string{"c"}},
		item.Checkpoint{Dir: "/w", Commit: "b", Parent: "a", By: item.ByPerson, Changed: 2, LeftOut: 1, Partial: true},
		item.Restore{After: 1, Ended: true, Changed: 2, Kept: []string{"/w/a"}},
		item.WingEntry{Wing: "notes", Name: "note", Line: "a note", Data: `{"a":1}`},
		item.TurnEnded{Outcome: item.OutcomeFinished, Usage: usage, Steps: 1, ToolCalls: 1},
	}
	var entries []item.Entry
	for i, kind := range kinds {
		entries = append(entries, item.Entry{Time: at(i), Turn: int64(i % 2), Kind: kind})
	}
	p.append(entries...)
	equal(f, "log", p.log(), numbered(1, entries...))
}

// Read returns the entries above a sequence, at most limit. At the end of the log the
// page is empty; a sequence above the end is an error that names the last one.
func readRanges(f *fixture) {
	p := f.pod("p")
	read := func(after item.Seq, limit int) []item.Seq {
		f.Helper()
		page, err := f.s.Read(f.Context(), "p", after, limit)
		f.must(err)
		return seqs(page)
	}
	beyond := func(after item.Seq, last string) {
		f.Helper()
		_, err := f.s.Read(f.Context(), "p", after, 1)
		f.refused(err, item.KindOutOfRange, store.ReasonBeyondEnd)
		if e, ok := errors.AsType[*item.Error](err); ok {
			equal(f, "last_seq", e.Meta["last_seq"], last)
		}
	}
	equal(f, "empty log", read(0, 10), []item.Seq{})
	beyond(1, "0")
	p.append(note(1), note(2), note(3), note(4), note(5))
	equal(f, "all", read(0, 0), []item.Seq{1, 2, 3, 4, 5})
	equal(f, "a page", read(0, 2), []item.Seq{1, 2})
	equal(f, "the next", read(2, 2), []item.Seq{3, 4})
	equal(f, "the last", read(4, 2), []item.Seq{5})
	equal(f, "the end", read(5, 2), []item.Seq{})
	beyond(6, "5")
	beyond(1<<62, "5")
	_, err := f.s.Read(f.Context(), "p", -1, 1)
	f.refused(err, item.KindInvalid, store.ReasonBadRange)
}

// One Read returns at most ReadBytes, but at least one record, so that a reader makes
// progress whatever the size of the next record.
func readIsBounded(f *fixture) {
	p := f.pod("p")
	sizes := []int{store.ReadBytes / 2, store.ReadBytes / 3, store.ReadBytes / 3, 2 * store.ReadBytes, 10, 10}
	for i, size := range sizes {
		p.append(item.Entry{Time: at(i), Kind: item.Note{Text: strings.Repeat("x", size)}})
	}
	var pages [][]item.Seq
	for after := item.Seq(0); after < item.Seq(len(sizes)); {
		page, err := f.s.Read(f.Context(), "p", after, 100)
		f.must(err)
		if len(page) == 0 {
			f.Fatalf("no record after %d", after)
		}
		pages = append(pages, seqs(page))
		after = page[len(page)-1].Seq
	}
	equal(f, "pages", pages, [][]item.Seq{{1, 2}, {3}, {4}, {5, 6}})
}

// Only the last claim may append. Claims count from 1; no writer can append before the
// first, and a refused append writes nothing.
func epochsFence(f *fixture) {
	f.must(f.s.CreatePod(f.Context(), item.Pod{ID: "p", Name: "p"}))
	p := &owned{f: f, id: "p"}
	entries := []item.Entry{note(1)}
	for _, epoch := range []store.Epoch{0, 1} {
		_, err := f.s.Append(f.Context(), store.Batch{Pod: "p", Epoch: epoch, Entries: entries})
		f.refused(err, item.KindPrecondition, store.ReasonStaleEpoch)
	}
	first := f.claim("p")
	equal(f, "first epoch", first.epoch, 1)
	first.append(note(1))
	second := f.claim("p")
	equal(f, "second epoch", second.epoch, 2)
	for _, epoch := range []store.Epoch{1, 3, -1} {
		_, err := p.try(store.Batch{Epoch: epoch, Entries: entries})
		f.refused(err, item.KindPrecondition, store.ReasonStaleEpoch)
	}
	second.append(note(2))
	equal(f, "log", p.log(), numbered(1, note(1), note(2)))
	f.reopen()
	equal(f, "third epoch, after reopening", f.claim("p").epoch, 3)
}

// A scan passes the records that a log's parts have, the oldest first, and no others.
func scansPassWhatIsThere(f *fixture) {
	p := f.pod("p")
	p.notes(1, 3)
	big := item.Entry{Time: at(4), Kind: item.Note{Text: strings.Repeat("x", store.ScanBytes)}}
	p.append(big, note(5))
	f.must(f.s.Fork(f.Context(), "p", 4, item.Pod{ID: "fork", Name: "fork", CreatedAt: at(0)}))
	f.claim("fork").append(note(6), note(7))
	scan := func(pod string) (got []item.Seq) {
		f.Helper()
		parts, err := f.s.Parts(f.Context(), pod)
		f.must(err)
		for _, part := range parts {
			for part.To >= part.From {
				found, next, err := f.s.Scan(f.Context(), part, func([]byte) bool { return true })
				f.must(err)
				if next <= part.From || next > part.To+1 {
					f.Fatalf("a scan of %+v goes on at %d", part, next)
				}
				got, part.From = append(got, seqs(found)...), next
			}
		}
		return got
	}
	equal(f, "log", scan("p"), []item.Seq{1, 2, 3, 4, 5})
	equal(f, "fork", scan("fork"), []item.Seq{1, 2, 3, 4, 5, 6})
	p.purge(3, 0)
	equal(f, "purged", scan("p"), []item.Seq{4, 5})
	f.must(f.s.DeletePod(f.Context(), "p"))
	equal(f, "fork of a deleted pod", scan("fork"), []item.Seq{1, 2, 3, 4, 5, 6})
	_, err := f.s.Parts(f.Context(), "p")
	f.refused(err, item.KindNotFound, store.ReasonPodNotFound)
	found, _, err := f.s.Scan(f.Context(), store.Part{Pod: "fork", Owner: "fork", From: 1, To: 9}, func(entry []byte) bool {
		e, err := store.Record{Entry: entry}.Decode()
		f.must(err)
		return e.Seq == 5
	})
	f.must(err)
	equal(f, "wanted", seqs(found), []item.Seq{5})
}
