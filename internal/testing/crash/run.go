package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Config says what to run.
type Config struct {
	// Command is the podd.
	Command Command
	// Kills is how often SIGKILL must end podd at least, in all rounds together.
	Kills int
	// Seed is that of the first random round; the next ones count on from it.
	Seed uint64
	// Only runs one part: random, points, faults or matrix; empty runs all.
	Only string
	// Short leaves out most rounds.
	Short bool
	// Dir is where rounds are; the one that fails stays there.
	Dir string
	// Out gets the table, and what was wrong.
	Out io.Writer
}

// killsOfRound is how often a random round ends podd.
const killsOfRound = 12

// runner runs the rounds of a Config.
type runner struct {
	Config
	names []string
	parts []*Tally
}

// Run runs the rounds and prints the table. The error says that something was wrong, or
// that the rounds could not be run.
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
	if err := straceMissing(rn.Dir); err != nil {
		if !rn.Short {
			return err
		}
		fmt.Fprintf(rn.Out, "only random kills: %v\n", err)
		return rn.part(ctx, "random", rn.randomRounds)
	}
	return errors.Join(
		rn.part(ctx, "matrix", rn.matrixRounds),
		rn.part(ctx, "points", rn.pointRounds),
		rn.part(ctx, "faults", rn.faultRounds),
		rn.part(ctx, "random", rn.randomRounds),
	)
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

// kills is how often podd was killed so far.
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
		s := settings{api: []string{"chat", "responses"}[seed%2], asks: seed/2%2 == 0}
		before := rn.kills()
		err := rn.round(ctx, t, fmt.Sprintf("random-%d", seed), s, seed, func(r *round) error {
			return randomRound(r, min(left, killsOfRound))
		})
		if err != nil {
			return err
		}
		if rn.kills() == before {
			// The next one would come to as little, for ever.
			return fmt.Errorf("no podd was killed in round random-%d", seed)
		}
	}
}

// mostMessages is how long conversations get before the model wants them compacted.
const mostMessages = 24

// round runs one round, adds it to the tally, and keeps its directory when something was
// wrong. The error is one after which no other round makes sense.
func (rn *runner) round(ctx context.Context, t *Tally, name string, s settings, seed uint64, run func(*round) error) error {
	dir := filepath.Join(rn.Dir, name)
	r, err := newRound(ctx, rn.Command, dir, s, seed, mostMessages)
	if err != nil {
		return err
	}
	err = run(r)
	r.close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errStuck) {
		r.tally.Other.add("%v", err)
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
