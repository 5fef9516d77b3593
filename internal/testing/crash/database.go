package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"podd/internal/testing/pgtest"
)

// database is the PostgreSQL database of a round, behind a proxy that breaks connections.
type database struct {
	server *pgtest.Server
	proxy  *pgtest.Proxy
	name   string
	url    string
}

// server starts a PostgreSQL for all rounds.
func server(ctx context.Context) (s *pgtest.Server, end func(), err error) {
	// The user of the server must be able to enter it, and a socket's path has to be short.
	dir, err := os.MkdirTemp("", "podd-pg")
	if err != nil {
		return nil, nil, err
	}
	s, err = pgtest.Start(ctx, dir)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, func() {
		s.Stop(true)
		_ = os.RemoveAll(dir)
	}, nil
}

// newDatabase makes an empty database; its proxy listens in dir.
func newDatabase(ctx context.Context, s *pgtest.Server, dir, name string) (*database, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := s.Run(ctx, fmt.Sprintf("CREATE DATABASE %q", name)); err != nil {
		return nil, err
	}
	p, err := s.NewProxy(dir, nil)
	if err != nil {
		return nil, err
	}
	return &database{server: s, proxy: p, name: name, url: strings.Replace(p.URL(), "/postgres?", "/"+name+"?", 1)}, nil
}

// close removes the database: after a crash, a server syncs the files of all.
func (d *database) close(ctx context.Context) error {
	d.proxy.Close()
	return d.server.Run(context.WithoutCancel(ctx), fmt.Sprintf("DROP DATABASE %q WITH (FORCE)", d.name))
}

// stop ends the server as a crash would, and starts it again after a while.
func (d *database) stop(ctx context.Context, during func(), random *rand.Rand) error {
	d.server.Stop(true)
	during()
	pause(ctx, time.Duration(random.IntN(300))*time.Millisecond)
	return d.server.Up(context.WithoutCancel(ctx))
}

// cut breaks connections at random for a while, in both directions.
func (d *database) cut(ctx context.Context, during func(), random *rand.Rand) {
	var mu sync.Mutex
	own := newRandom(random.Uint64())
	d.proxy.Cut(func(bool) bool {
		mu.Lock()
		defer mu.Unlock()
		return own.IntN(12) == 0
	})
	during()
	pause(ctx, time.Duration(100+random.IntN(400))*time.Millisecond)
	d.proxy.Cut(nil)
}

// databaseEnds are the ends of a matrix on PostgreSQL: of podd, of the server, and of both.
var databaseEnds = []string{"SIGTERM", "SIGKILL", "SIGTERM-twice", "SIGABRT", "database-stops", "database-cuts", "both-end"}

// endDatabase ends the server, its connections, or podd with the server. podd has to go on by
// itself when the server answers.
func (c *cell) endDatabase(how string) error {
	c.submitLate()
	c.tally.Ends++
	switch how {
	case "database-stops":
		return c.db.stop(c.ctx, c.openGates, c.random)
	case "database-cuts":
		c.db.cut(c.ctx, c.openGates, c.random)
	default:
		return c.db.stop(c.ctx, c.kill, c.random)
	}
	return nil
}

// randomDatabaseEnd does the same in the middle of random work.
func randomDatabaseEnd(r *round) error {
	r.tally.Ends++
	switch r.random.IntN(3) {
	case 0:
		return r.db.stop(r.ctx, r.kill, r.random)
	case 1:
		return r.db.stop(r.ctx, func() {}, r.random)
	}
	r.db.cut(r.ctx, func() {}, r.random)
	return nil
}
