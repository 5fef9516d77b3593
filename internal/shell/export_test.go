package shell

import (
	"context"
	"os"
)

// Outcome is outcome for tests.
var Outcome = outcome

// Drained follows a file that is already written, to its end.
func Drained(file *os.File, header string, quota int64, keep int) (total, lines int64, dropped bool, tail string, err error) {
	c := newCapture(file, header, quota, 0, keep, nil)
	err = c.drain()
	return c.total, c.lines(), c.dropped, string(lastOf(c.tail, keep)), err
}

// WithoutSecrets is withoutSecrets for tests.
var WithoutSecrets = withoutSecrets

// StoreBehind stores the ends of jobs while another does and comes to no end.
func StoreBehind(ctx context.Context) error {
	jobs := &PodJobs{storing: make(chan struct{}, 1)}
	jobs.storing <- struct{}{}
	return (&Wing{}).store(ctx, nil, jobs)
}
