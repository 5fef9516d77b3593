package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"podd/internal/testing/logs"
	"podd/internal/testing/pgtest"
)

// Config says what to run.
type Config struct {
	// Command is the podd to test.
	Command Command
	// Kills is the least number of times that SIGKILL must end podd, in all rounds together.
	Kills int
	// Seed is that of the first random round; each later one uses the next number.
	Seed uint64
	// Only runs one part: random, points, faults, matrix, files, checkouts, effects or cuts; empty runs all.
	Only string
	// Builds, if set, replace each other this many times, instead of all else.
	Builds   Builds
	Upgrades int
	// Postgres keeps the pods in a PostgreSQL database. Without points and faults, which are
	// of a file; instead the server ends too, and its connections.
	Postgres bool
	// Short skips most rounds.
	Short bool
	// Dir contains the rounds; one that fails stays there.
	Dir string
	// Out receives the table and the violations.
	Out io.Writer
}

// killsOfRound is how often a random round ends podd.
const killsOfRound = 12

// runner runs the rounds of a Config.
type runner struct {
	Config
	// server is nil for a store in a file.
	server *pgtest.Server
	names  []string
	parts  []*Tally
}

// Run runs the rounds and prints the table. It returns an error when it found a
// violation, or could not run the rounds.
func Run(ctx context.Context, c Config) error {
	rn := &runner{Config: c}
	err := rn.run(ctx)
	table(c.Out, rn.names, rn.parts)
	sum := &Tally{}
	for _, t := range rn.parts {
		sum.merge(t)
	}
	if wrong := len(sum.Failures()); wrong > 0 {
		err = errors.Join(fmt.Errorf("%d findings", wrong), err)
	}
	return err
}

func (rn *runner) run(ctx context.Context) error {
	if rn.Upgrades > 0 {
		return rn.part(ctx, "upgrades", rn.upgradeRounds)
	}
	if rn.Postgres {
		return rn.runOnDatabase(ctx)
	}
	if err := straceMissing(rn.Dir); err != nil {
		if !rn.Short {
			return err
		}
		fmt.Fprintf(rn.Out, "only random kills: %v\n", err)
		return errors.Join(rn.part(ctx, "random", rn.randomRounds), rn.part(ctx, "files", rn.fileRounds), rn.part(ctx, "checkouts", rn.checkoutRounds))
	}
	return errors.Join(
		rn.part(ctx, "matrix", rn.matrixRounds),
		rn.part(ctx, "points", rn.pointRounds),
		rn.part(ctx, "faults", rn.faultRounds),
		rn.part(ctx, "random", rn.randomRounds),
		rn.part(ctx, "files", rn.fileRounds),
		rn.part(ctx, "checkouts", rn.checkoutRounds),
		rn.part(ctx, "effects", rn.effectRounds),
		rn.part(ctx, "cuts", rn.cutRounds),
	)
}

// runOnDatabase runs what concerns a database.
func (rn *runner) runOnDatabase(ctx context.Context) error {
	s, end, err := server(ctx)
	if err != nil {
		return err
	}
	defer end()
	rn.server = s
	return errors.Join(rn.part(ctx, "matrix", rn.matrixRounds), rn.part(ctx, "random", rn.randomRounds), rn.part(ctx, "files", rn.fileRounds))
}

// part runs the rounds of one kind.
func (rn *runner) part(ctx context.Context, name string, rounds func(context.Context, *Tally) error) error {
	if rn.Only != "" && rn.Only != name {
		return nil
	}
	t := &Tally{}
	rn.names, rn.parts = append(rn.names, name), append(rn.parts, t)
	return rounds(ctx, t)
}

// kills is how often podd was killed.
func (rn *runner) kills() int {
	n := 0
	for _, t := range rn.parts {
		n += t.Kills
	}
	return n
}

func (rn *runner) randomRounds(ctx context.Context, t *Tally) error {
	for seed := rn.Seed; ; seed++ {
		left := rn.Kills - rn.kills()
		if left <= 0 {
			return nil
		}
		s := settings{api: apis[seed%3], asks: seed/3%2 == 0, letters: true}
		before := rn.kills()
		err := rn.round(ctx, t, fmt.Sprintf("random-%d", seed), s, seed, func(r *round) error {
			return randomRound(r, min(left, killsOfRound))
		})
		if err != nil {
			return err
		}
		if rn.kills() == before {
			// The next round would make as little progress.
			return fmt.Errorf("no podd was killed in round random-%d", seed)
		}
	}
}

// mostMessages is how long conversations get before the model needs a compaction.
const mostMessages = 24

// round runs one round, adds it to the tally, and keeps its directory if it found a
// violation. An error means that further rounds make no sense.
func (rn *runner) round(ctx context.Context, t *Tally, name string, s settings, seed uint64, run func(*round) error) error {
	dir := filepath.Join(rn.Dir, name)
	var db *database
	if rn.server != nil {
		var err error
		if db, err = newDatabase(ctx, rn.server, dir, name); err != nil {
			return err
		}
		defer func() { _ = db.close(ctx) }()
		s.store = db.url
	}
	most := roundTime
	if rn.Upgrades > 0 {
		most = upgradeTime
	}
	r, err := newRound(ctx, rn.Command, dir, s, seed, mostMessages, most)
	if err != nil {
		return err
	}
	r.db = db
	err = run(r)
	r.close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errStuck) {
		r.tally.Other.add("%v", err)
	}
	for _, text := range logs.Check(ctx, dir) {
		r.tally.Broken.add("%s", text)
	}
	t.merge(r.tally)
	if wrong := r.tally.Failures(); len(wrong) > 0 {
		fmt.Fprintf(rn.Out, "FAIL %s (seed %d), kept in %s\n", name, seed, dir)
		for _, text := range wrong {
			fmt.Fprintf(rn.Out, "  %.600s\n", text)
		}
		return nil
	}
	return os.RemoveAll(dir)
}
