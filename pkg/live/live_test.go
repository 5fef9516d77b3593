package live_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"podd/pkg/item"
	"podd/pkg/live"
)

func text(block, s string) item.Delta {
	return item.Delta{Turn: 1, Step: 1, Block: block, Kind: item.DeltaText, Text: s}
}

func next(t *testing.T, r *live.Reader, cursor item.Seq) live.Update {
	t.Helper()
	u, err := r.Next(t.Context(), cursor)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A reader that attaches in the middle of an answer gets the text in flight once, and
// then only new text.
func TestAttachInTheMiddle(t *testing.T) {
	b := live.New(7)
	b.Publish(text("a", "Hel"))
	b.Publish(text("a", "lo"))
	r := b.Subscribe(true)
	defer r.Close()
	if u := next(t, r, 5); u.Head != 7 || u.InFlight != nil {
		t.Fatalf("before the log is read: %+v", u)
	}
	u := next(t, r, 7)
	if len(u.InFlight) != 1 || u.InFlight[0].Text != "Hello" {
		t.Fatalf("in flight: %+v", u)
	}
	b.Publish(text("a", ", "))
	b.Publish(text("a", "you"))
	u = next(t, r, 7)
	if len(u.Deltas) != 1 || u.Deltas[0].Text != ", you" || u.InFlight != nil {
		t.Fatalf("deltas: %+v", u)
	}
}

// A stored block is no longer in flight: its entry has it.
func TestStoredBlocksAreNotShown(t *testing.T) {
	b := live.New(0)
	r := b.Subscribe(true)
	defer r.Close()
	b.Publish(text("a", "gone"))
	b.Publish(text("b", "stays"))
	next(t, r, 0)
	b.Publish(text("a", " too"))
	b.Advance(1, "a")
	if u := next(t, r, 0); u.Head != 1 || u.Deltas != nil {
		t.Fatalf("the log comes first: %+v", u)
	}
	b.Publish(text("b", " here"))
	u := next(t, r, 1)
	if len(u.Deltas) != 1 || u.Deltas[0].Block != "b" || u.Deltas[0].Text != " here" {
		t.Fatalf("deltas: %+v", u)
	}
}

// A restart voids the step's blocks, and a reader gets it before any newer fragment.
func TestRestart(t *testing.T) {
	b := live.New(0)
	r := b.Subscribe(true)
	defer r.Close()
	b.Publish(text("a", "wrong"))
	next(t, r, 0)
	b.Publish(item.Delta{Turn: 1, Step: 1, Restarted: true, Text: "cut"})
	b.Publish(text("a", "right"))
	u := next(t, r, 0)
	if len(u.Deltas) != 2 || !u.Deltas[0].Restarted || u.Deltas[1].Text != "right" {
		t.Fatalf("deltas: %+v", u)
	}
}

func TestEnd(t *testing.T) {
	gone := errors.New("gone")
	b := live.New(3)
	r := b.Subscribe(true)
	defer r.Close()
	b.Close(gone)
	b.Close(errors.New("later"))
	if u, err := r.Next(t.Context(), 2); err != nil || u.Head != 3 {
		t.Fatalf("what is stored comes before the end: %+v, %v", u, err)
	}
	if _, err := r.Next(t.Context(), 3); !errors.Is(err, gone) {
		t.Fatalf("got %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	open := live.New(0).Subscribe(false)
	defer open.Close()
	if _, err := open.Next(ctx, 0); !errors.Is(err, gone) {
		t.Fatalf("got %v", err)
	}
}

// A block of any size costs at most MaxBlock, and a slow reader gets its newest text.
func TestLongBlocksLoseTheirOldestText(t *testing.T) {
	b := live.New(0)
	r := b.Subscribe(true)
	defer r.Close()
	piece := strings.Repeat("x", 1000)
	for range 5 * live.MaxBlock / len(piece) {
		b.Publish(text("a", piece))
	}
	b.Publish(text("a", "end"))
	u := next(t, r, 0)
	if got := u.InFlight[0].Text; len(got) > live.MaxBlock || !strings.HasSuffix(got, "xend") {
		t.Fatalf("%d bytes in flight, ending %q", len(got), got[len(got)-5:])
	}
	b.Publish(text("a", "!"))
	if u := next(t, r, 0); u.Deltas[0].Text != "!" {
		t.Fatalf("deltas: %d bytes", len(u.Deltas[0].Text))
	}
}

// A fragment may end in the middle of a rune; the text that a reader gets does not.
func TestRunesStayWhole(t *testing.T) {
	b := live.New(0)
	r := b.Subscribe(true)
	defer r.Close()
	b.Publish(text("a", "x\xe2\x82"))
	if u := next(t, r, 0); u.InFlight[0].Text != "x" {
		t.Fatalf("got %q", u.InFlight[0].Text)
	}
	b.Publish(text("a", "\xac\xff"))
	if u := next(t, r, 0); u.Deltas[0].Text != "\u20ac\xff" {
		t.Fatalf("got %q", u.Deltas[0].Text)
	}
}

// However publishing, storing and reading interleave: for each unfinished block the
// pieces that a reader gets add up to a prefix of the block's text, and to all of it once
// the reader has caught up.
func TestReaderSeesEachBlockWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := live.New(0)
		want := map[string]string{}
		got := map[string]string{}
		var head, cursor item.Seq
		r := b.Subscribe(true)
		defer r.Close()
		read := func() {
			for {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				u, err := r.Next(ctx, cursor)
				if err != nil {
					return
				}
				if u.Head > cursor {
					cursor = u.Head
					continue
				}
				for _, d := range u.InFlight {
					got[d.Block] = d.Text
				}
				for _, d := range u.Deltas {
					got[d.Block] += d.Text
				}
			}
		}
		block := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"publish": func(t *rapid.T) {
				d := text(block.Draw(t, "block"), rapid.StringN(0, 5, -1).Draw(t, "text"))
				want[d.Block] += d.Text
				b.Publish(d)
			},
			"store": func(t *rapid.T) {
				name := block.Draw(t, "block")
				head++
				b.Advance(head, name)
				delete(want, name)
				delete(got, name)
			},
			"read": func(*rapid.T) { read() },
		})
		read()
		for name, s := range want {
			if got[name] != s {
				t.Fatalf("block %s: got %q, want %q", name, got[name], s)
			}
		}
	})
}

// Many readers of different speeds: each sees the head, and none blocks the publisher.
func TestManyReaders(t *testing.T) {
	const entries = 200
	b := live.New(0)
	var wg sync.WaitGroup
	for i := range 20 {
		r := b.Subscribe(i%2 == 0)
		wg.Go(func() {
			defer r.Close()
			for cursor := item.Seq(0); cursor < entries; {
				u, err := r.Next(t.Context(), cursor)
				if err != nil {
					t.Error(err)
					return
				}
				cursor = max(cursor, u.Head)
			}
		})
	}
	stopped := b.Subscribe(true)
	defer stopped.Close()
	for seq := range entries {
		b.Publish(text(fmt.Sprint(seq), "x"))
		b.Advance(item.Seq(seq+1), fmt.Sprint(seq))
	}
	wg.Wait()
}

func BenchmarkPublish(b *testing.B) {
	for _, readers := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(readers), func(b *testing.B) {
			bc := live.New(0)
			ctx, cancel := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			for range readers {
				r := bc.Subscribe(true)
				wg.Go(func() {
					defer r.Close()
					for {
						if _, err := r.Next(ctx, 0); err != nil {
							return
						}
					}
				})
			}
			b.ReportAllocs()
			for b.Loop() {
				bc.Publish(text("a", "token "))
			}
			cancel()
			wg.Wait()
		})
	}
}

// A reader can read the log between a commit and its Advance. It then does not get the
// text of an entry that it already has.
func TestReaderAheadOfTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := live.New(1)
		r := b.Subscribe(true)
		defer r.Close()
		b.Publish(text("a", "stored"))
		got := make(chan live.Update, 1)
		go func() {
			u, err := r.Next(t.Context(), 2)
			if err != nil {
				t.Error(err)
			}
			got <- u
		}()
		synctest.Wait()
		select {
		case u := <-got:
			t.Fatalf("it was given %+v", u)
		default:
		}
		b.Advance(2, "a")
		b.Publish(text("b", "next"))
		if u := <-got; len(u.InFlight)+len(u.Deltas) != 1 || append(u.InFlight, u.Deltas...)[0].Text != "next" {
			t.Errorf("it was given %+v", u)
		}
	})
}
