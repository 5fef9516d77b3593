package web

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The limits of bearers that podd does not know.
const (
	maxBad = 10
	badFor = time.Minute
	// maxKnown bounds how many known bearers and how many addresses are remembered.
	maxKnown = 1024
)

// bearers remembers which bearers podd gave out or accepted, as hashes, and who sent others. It only
// protects podd from floods: podd itself checks each bearer.
type bearers struct {
	mu   sync.Mutex
	good map[[sha256.Size]byte]bool
	bad  map[string]*tries
}

// tries are the bad bearers of an address since a time.
type tries struct {
	since time.Time
	count int
}

func newBearers() *bearers {
	return &bearers{good: map[[sha256.Size]byte]bool{}, bad: map[string]*tries{}}
}

// given is the bearer of a request.
type given struct {
	of   *bearers
	hash [sha256.Size]byte
	// address sent it; counted has it among the bad ones until podd accepts it.
	address string
	counted *tries
	once    sync.Once
}

// check refuses a request without a bearer, and one of an address that sent too many bad ones,
// unless podd gave out its bearer or accepted it before: others at the same address do not lock
// it out. Who is refused with an older bearer, as after a restart of podd web, logs in again.
func (b *bearers) check(r *http.Request) (*given, *refusal) {
	bearer, ok := strings.CutPrefix(only(r.Header, "Authorization"), "Bearer ")
	if !ok || bearer == "" {
		return nil, refuse(http.StatusUnauthorized, "unauthenticated", "this call needs the bearer of a paired browser")
	}
	g := &given{of: b, hash: hashOf(bearer), address: address(r)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.good[g.hash] {
		return g, nil
	}
	t := b.bad[g.address]
	if t == nil || time.Since(t.since) >= badFor {
		if len(b.bad) >= maxKnown {
			clear(b.bad)
		}
		t = &tries{since: time.Now()}
		b.bad[g.address] = t
	}
	if t.count >= maxBad {
		return nil, refuse(http.StatusTooManyRequests, "resource_exhausted", "too many bearers from this address were wrong: log in again, or wait a minute")
	}
	// It counts until podd has answered, so that many at once are no way around the limit.
	t.count++
	g.counted = t
	return g, nil
}

// judged records podd's first answer to a call with the bearer.
func (g *given) judged(err error) {
	if g == nil {
		return
	}
	g.once.Do(func() {
		b := g.of
		b.mu.Lock()
		defer b.mu.Unlock()
		code := status.Code(err)
		if code == codes.Unauthenticated {
			delete(b.good, g.hash)
			return
		}
		if g.counted != nil {
			g.counted.count--
		}
		switch code {
		case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
			return
		}
		b.remember(g.hash)
	})
}

// keep remembers a bearer that podd gives out.
func (b *bearers) keep(hash [sha256.Size]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remember(hash)
}

// remember is keep for who holds the lock.
func (b *bearers) remember(hash [sha256.Size]byte) {
	if len(b.good) >= maxKnown {
		clear(b.good)
	}
	b.good[hash] = true
}

func hashOf(bearer string) [sha256.Size]byte { return sha256.Sum256([]byte(bearer)) }

// givenKey is the key of a call's *given.
type givenKey struct{}

func withGiven(ctx context.Context, g *given) context.Context {
	return context.WithValue(ctx, givenKey{}, g)
}

func givenOf(ctx context.Context) *given {
	g, _ := ctx.Value(givenKey{}).(*given)
	return g
}
