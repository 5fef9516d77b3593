package main

import (
	"context"
	"fmt"
	"time"
)

// leastStreamed is how many tokens a measurement has at least: a single short answer takes a few
// milliseconds, and as long again whenever the kernel gives the processor to another process.
const leastStreamed = 20_000

// measureStream runs turns of one long answer with a client that follows every
// fragment.
func measureStream(ctx context.Context, r *rig) error {
	return r.each(r.compared(), func(s *subject) error {
		for _, length := range streamed {
			var all cost
			n, text := 0, 0
			for ; n < leastStreamed; n += length.tokens {
				c, came, err := s.streamOf(ctx, length.tokens)
				if err != nil {
					return err
				}
				all.wall += c.wall
				all.cpu += c.cpu
				text += came
			}
			// Text that was not sent before its entry came is not sent as a fragment.
			if text < n*len("word ")/2 {
				return fmt.Errorf("of %d tokens only %d bytes came as fragments", n, text)
			}
			r.results.add(length.speed, s, float64(n)/all.wall.Seconds())
			r.results.add(length.cpu, s, float64(all.cpu)/float64(time.Microsecond)/float64(n))
		}
		return nil
	})
}

// streamOf runs a turn with one answer of n tokens in a pod that has had a short one. text is how many
// bytes of it came as fragments.
func (s *subject) streamOf(ctx context.Context, n int) (c cost, text int, err error) {
	session, err := s.open(ctx)
	if err != nil {
		return c, 0, err
	}
	defer session.close()
	if _, err := session.turn(ctx, say); err != nil {
		return c, 0, err
	}
	session.text = 0
	c, err = session.costOf(ctx, tokens(n))
	return c, session.text, err
}
