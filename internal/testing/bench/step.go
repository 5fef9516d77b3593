package main

import (
	"context"
	"time"
)

// steps are the lengths of the turns whose difference is the cost of a step.
var steps = []int{5, 50, 200}

// cost is what a turn used.
type cost struct {
	wall, cpu time.Duration
}

// measureStep runs turns of 5, 50 and 200 tool calls. The cost of a step is that of 45
// further ones divided by 45, so it does not include a turn's own.
func measureStep(ctx context.Context, r *rig) error {
	subjects := append(r.compared(), r.bwrap, r.landlock)
	for _, s := range subjects {
		if _, err := s.freshTurn(ctx, loop(5)); err != nil {
			return err
		}
	}
	return r.each(subjects, func(s *subject) error {
		var costs []cost
		for _, n := range steps {
			c, err := s.costOfTurn(ctx, loop(n))
			if err != nil {
				return err
			}
			costs = append(costs, c)
		}
		wall := perStep(costs[1].wall-costs[0].wall, steps[1]-steps[0])
		used := perStep(costs[1].cpu-costs[0].cpu, steps[1]-steps[0])
		if rows, ok := map[*subject]confinedRow{r.bwrap: rowsBwrap, r.landlock: rowsLandlock}[s]; ok {
			r.results.add(rows.wall, r.podd, wall)
			r.results.add(rows.cpu, r.podd, used)
			return nil
		}
		r.results.add(rowStepWall, s, wall)
		r.results.add(rowStepCPU, s, used)
		r.results.add(rowGrowth, s, perStep(costs[2].wall-costs[1].wall, steps[2]-steps[1])/wall)
		return nil
	})
}

func perStep(d time.Duration, steps int) float64 { return milliseconds(d) / float64(steps) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// costOfTurn runs a turn of a new pod.
func (s *subject) costOfTurn(ctx context.Context, prompt string) (c cost, err error) {
	session, err := s.open(ctx)
	if err != nil {
		return c, err
	}
	defer session.close()
	return session.costOf(ctx, prompt)
}

// costOf runs a turn.
func (s *session) costOf(ctx context.Context, prompt string) (c cost, err error) {
	before, err := cpu(s.subject.pid)
	if err != nil {
		return c, err
	}
	if c.wall, err = s.turn(ctx, prompt); err != nil {
		return c, err
	}
	after, err := cpu(s.subject.pid)
	c.cpu = after - before
	return c, err
}
