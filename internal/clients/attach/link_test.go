package attach

import (
	"context"
	"errors"
	"slices"
	"testing"

	"podd/internal/clients/desk"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// drained is a view without podd, and what runs its functions until all that it began has ended.
func drained(t *testing.T) (a *app, wait func()) {
	ctx, fail := context.WithCancelCause(t.Context())
	t.Cleanup(func() { fail(nil) })
	a = newApp(ctx, fail, Config{Desk: desk.Defaults(), Env: noEnv}, &poddv1.Pod{Name: "p"})
	return a, func() {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			a.work.Wait()
		}()
		for {
			select {
			case f := <-a.do:
				f()
			case <-ended:
				for len(a.do) > 0 {
					a.drain() // Which stops after a while.
				}
				return
			}
		}
	}
}

// podd gets what a person sends in the order in which it was sent, however long each takes, and
// the answers come back in that order.
func TestSendsInOrder(t *testing.T) {
	a, wait := drained(t)
	var got, done []int
	want := make([]int, 200)
	release := make(chan struct{})
	for i := range want {
		want[i] = i
		a.send(func(context.Context) error {
			<-release
			got = append(got, i) // One at a time.
			return nil
		}, func(error) { done = append(done, i) })
	}
	close(release)
	wait()
	if !slices.Equal(got, want) || !slices.Equal(done, want) || a.last != nil {
		t.Errorf("podd got %v, the view %v", got, done)
	}
}

// What was sent after something that podd may not have is not sent: it would be in another order.
// It comes back into the draft, unless a person has begun another one. A refusal is an answer.
func TestNothingOvertakesWhatIsLost(t *testing.T) {
	a, wait := drained(t)
	sends := func(prompts ...string) (got []string) {
		for _, text := range prompts {
			a.send(func(context.Context) error {
				switch text {
				case "lost":
					return item.Errorf(item.KindUnavailable, "", "podd is away")
				case "refused":
					return errors.New("no")
				}
				got = append(got, text)
				return nil
			}, func(err error) {
				if err != nil {
					a.prompt.giveBack(*written(text))
				}
			})
		}
		wait()
		return got
	}
	if got := sends("one", "refused", "two", "lost", "three", "four"); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("podd got %q", got)
	}
	if want := "refused\n\nlost\n\nthree\n\nfour"; a.prompt.draft.whole() != want {
		t.Errorf("the draft is %q, want %q", a.prompt.draft.whole(), want)
	}
	a.prompt.draft = *written("new")
	if got := sends("five", "lost", "six"); !slices.Equal(got, []string{"five"}) || a.prompt.draft.whole() != "new" {
		t.Errorf("podd got %q, the draft is %q", got, a.prompt.draft.whole())
	}
}
