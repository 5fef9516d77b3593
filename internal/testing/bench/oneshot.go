package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// measureOneShot runs the command lines as a person would, and /bin/true between them,
// whose time is the machine's.
func measureOneShot(ctx context.Context, r *rig) error {
	const again = 5
	pods := map[*subject]string{}
	for _, s := range r.compared() {
		session, err := s.open(ctx)
		if err != nil {
			return err
		}
		defer session.close()
		if _, err := session.turn(ctx, say); err != nil {
			return err
		}
		pods[s] = session.pod
	}
	var nothing []float64
	took := map[*subject][]float64{}
	err := r.each(r.compared(), func(s *subject) error {
		for range again {
			base, err := timed(exec.CommandContext(ctx, "/bin/true"))
			if err != nil {
				return err
			}
			argv := []string{r.bin("floorctl"), "-socket", s.socket(), "-pod", pods[s], say}
			if s == r.podd {
				argv = []string{r.bin("podctl"), "--state-dir", s.state(), "submit", "-f", "-p", pods[s], say}
			}
			wall, err := timed(exec.CommandContext(ctx, argv[0], argv[1:]...))
			if err != nil {
				return err
			}
			nothing = append(nothing, milliseconds(base))
			took[s] = append(took[s], milliseconds(wall))
		}
		return nil
	})
	for _, s := range r.compared() {
		if err == nil {
			r.results.add(rowOneShot, s, median(took[s])-median(nothing))
		}
	}
	return err
}

func timed(cmd *exec.Cmd) (time.Duration, error) {
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}
	begun := time.Now()
	output, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", cmd.Path, err, output)
	}
	return time.Since(begun), nil
}
