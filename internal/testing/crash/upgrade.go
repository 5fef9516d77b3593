package crash

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	poddv1 "podd/proto/podd/v1"
)

// Builds are the directories with podd, podd-launch and podctl of two builds, of which one replaces
// the other.
type Builds struct{ Older, Newer string }

const (
	// upgradePods is how many pods work during upgrades, upgradesOfRound how many there are in a round.
	upgradePods, upgradesOfRound = 30, 10
	// upgradeTime bounds a round: one that takes longer is stuck.
	upgradeTime = 15 * time.Minute
	// holdEach is how many upgrades there are for each in whose middle a command runs on: podd waits for
	// it for 10 seconds.
	holdEach = 4
)

// upgradeRounds replace podd while pods work, and start it again as a service manager does.
func (rn *runner) upgradeRounds(ctx context.Context, t *Tally) error {
	for seed := rn.Seed; t.Ends < rn.Upgrades; seed++ {
		left, before := rn.Upgrades-t.Ends, t.Ends
		s := settings{api: apis[seed%3], asks: seed/3%2 == 0}
		err := rn.round(ctx, t, fmt.Sprintf("upgrades-%d", seed), s, seed, func(r *round) error {
			u := &upgrade{round: r, Builds: rn.Builds, now: rn.Builds.Older}
			u.mixed, u.unasked = u.Older != u.Newer, !u.asks(u.Older)
			return u.run(min(left, upgradesOfRound))
		})
		if err != nil {
			return err
		}
		if t.Ends == before {
			return fmt.Errorf("no podd was replaced in round upgrades-%d", seed)
		}
	}
	return nil
}

// upgrade is a round whose podd is replaced.
type upgrade struct {
	*round
	Builds
	// now is the build that is installed.
	now string
	// held is a pod whose command and job run on while podd is replaced, if podd leaves them: both
	// builds do if leaves.
	held   *pod
	leaves bool
	// tails are the podctl that follow pods, until untail ends them.
	tails  []*tail
	untail context.CancelFunc
	tailed sync.WaitGroup
	// count numbers the jobs that podctl submits.
	count int
}

func (u *upgrade) run(times int) error {
	listener, err := u.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := u.install(); err != nil {
		return err
	}
	for i := range upgradePods {
		if _, err := u.addPod(fmt.Sprintf("p%d", i)); err != nil {
			return err
		}
	}
	if u.held, err = u.addPod("held"); err != nil {
		return err
	}
	if err := u.up(); err != nil {
		return err
	}
	if err := u.createAll(); err != nil {
		return err
	}
	u.follow()
	u.tail()
	defer u.tailed.Wait()
	defer u.untail()
	u.serveApprovals()
	close(u.model.gate) // Release stalled answers.
	if err := u.hold(); err != nil {
		return err
	}
	if err := u.replacements(times); err != nil {
		return err
	}
	if err := u.lastJobs(); err != nil {
		return err
	}
	if err := u.compareTails(); err != nil {
		return err
	}
	if err := u.finish(); err != nil {
		return err
	}
	return u.down()
}

// replacements replaces podd again and again while all pods work.
func (u *upgrade) replacements(times int) error {
	working, enough := context.WithCancel(u.ctx)
	defer enough()
	var hands sync.WaitGroup
	for _, p := range u.all()[:upgradePods] {
		h := &hand{scene: u.scene, client: u.client, ctx: working, pod: p, random: newRandom(u.random.Uint64())}
		hands.Go(h.work)
	}
	for n := range times {
		pause(u.ctx, time.Duration(u.random.IntN(2000))*time.Millisecond)
		replace := u.replace
		if u.leaves && n%holdEach == holdEach/2 {
			replace = u.replaceAmidCommand
		}
		if err := replace(); err != nil {
			return err
		}
		if err := u.crossed(); err != nil {
			return err
		}
	}
	enough()
	hands.Wait()
	return nil
}

// listen takes podd's socket, as systemd does, and passes it to each podd.
func (u *upgrade) listen() (*net.UnixListener, error) {
	path := filepath.Join(u.dir, "s", "podd.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	file, err := l.File()
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	u.command = Command{
		Argv:  []string{"/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, filepath.Join(u.dir, "bin", "podd"), "serve"},
		Env:   append([]string{"LISTEN_FDS=1"}, u.command.Env...),
		Files: []*os.File{file},
	}
	return l, nil
}

// install puts the programs of the build in place as package managers do: each as a new file under
// the old name.
func (u *upgrade) install() error {
	bin := filepath.Join(u.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	for _, program := range []string{"podd", "podd-launch", "podctl"} {
		data, err := os.ReadFile(filepath.Join(u.now, program))
		if err != nil {
			return err
		}
		to := filepath.Join(bin, program)
		if err := os.WriteFile(to+".new", data, 0o755); err != nil { //nolint:gosec // It is a program.
			return err
		}
		if err := os.Rename(to+".new", to); err != nil {
			return err
		}
	}
	return nil
}

// hold gives a pod a job that runs during all upgrades, if both builds leave jobs running.
func (u *upgrade) hold() error {
	older, err := u.restartSignal(u.Older)
	if err != nil {
		return err
	}
	newer, err := u.restartSignal(u.Newer)
	if err != nil {
		return err
	}
	if u.leaves = older == syscall.SIGUSR1 && newer == syscall.SIGUSR1; !u.leaves {
		return nil
	}
	if err := u.backgroundJob(u.held); err != nil {
		return err
	}
	return os.Remove(filepath.Join(u.held.dir, gateFile))
}

// restartSignal is how a service manager ends the podd of a build that starts again at once, as the
// unit says which that podd installs.
func (u *upgrade) restartSignal(build string) (syscall.Signal, error) {
	cmd := exec.CommandContext(u.ctx, filepath.Join(build, "podd"), "service", "install", "--dry-run")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir}
	unit, err := cmd.Output()
	if bytes.Contains(unit, []byte("\nRestartKillSignal=SIGUSR1\n")) {
		return syscall.SIGUSR1, err
	}
	return syscall.SIGTERM, err
}

// asks says whether models can ask a question in a build.
func (u *upgrade) asks(build string) bool {
	cmd := exec.CommandContext(u.ctx, filepath.Join(build, "podctl"), "answer", "--help")
	cmd.Env = []string{"HOME=" + u.dir}
	help, _ := cmd.CombinedOutput() // A podctl without the verb says so.
	return bytes.Contains(help, []byte("podctl answer"))
}

// replaceAmidCommand replaces podd while a command runs that does not end before the next podd is
// there. Its result must be found, and the job must run on.
func (u *upgrade) replaceAmidCommand() error {
	gate := filepath.Join(u.held.dir, gateFile)
	before, err := countLines(filepath.Join(u.held.dir, ranFile))
	if err != nil {
		return err
	}
	u.count++
	if !u.held.submits.submit(u.ctx, fmt.Sprintf("job-%d: hold", podctlJobs+u.count)) {
		return u.stuck()
	}
	runs := func() bool {
		now, err := countLines(filepath.Join(u.held.dir, ranFile))
		return err != nil || len(now) > len(before)
	}
	if !await(u.ctx, runs) {
		return u.stuck()
	}
	if err := u.replace(); err != nil {
		return err
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		return err
	}
	if !await(u.ctx, func() bool { now := u.state(u.held); return now != nil && resting(now) }) {
		return u.stuck()
	}
	if jobs := u.state(u.held).GetJobs(); jobs != 1 {
		u.tally.Other.add("a job ran when podd was replaced, and %d run now", jobs)
	}
	return os.Remove(gate)
}

// replace installs the other build and restarts podd. Between the two the old podd works on without
// its files.
func (u *upgrade) replace() error {
	restart, err := u.restartSignal(u.now)
	if err != nil {
		return err
	}
	copies, err := u.copies()
	if err != nil {
		return err
	}
	// The older podd opens no database of a newer schema.
	if u.now = u.Newer; u.tally.Ends%2 == 1 && len(copies) == 0 {
		u.now = u.Older
	}
	if err := u.install(); err != nil {
		return err
	}
	pause(u.ctx, time.Duration(u.random.IntN(500))*time.Millisecond)
	if u.podd.over() {
		u.tally.Other.add("podd ended by itself: %v", u.podd.cmd.ProcessState)
	} else {
		u.podd.signal(restart)
		u.drained()
	}
	return u.up()
}

// copies are those that podd made of databases of an older schema, the oldest first.
func (u *upgrade) copies() ([]string, error) {
	return filepath.Glob(filepath.Join(u.dir, "s", "snapshots", "podd-*-schema*.db"))
}

// down goes back to the older podd once all work is done, as docs/releases.md says. It must
// know all pods and go on with them.
func (u *upgrade) down() error {
	copies, err := u.copies()
	if err != nil {
		return err
	}
	if len(copies) > 0 {
		if err := os.Rename(copies[0], filepath.Join(u.dir, "s", "podd.db")); err != nil {
			return err
		}
	}
	u.now = u.Older
	if err := u.install(); err != nil {
		return err
	}
	if err := u.up(); err != nil {
		return err
	}
	for _, p := range u.all() {
		now := u.state(p)
		if now == nil {
			if len(copies) == 0 || !p.isFork { // It was made before the first replacement.
				u.tally.Lost.add("the older podd does not know %s", p.name)
			}
			continue
		}
		if now.GetState() == poddv1.PodState_POD_STATE_PAUSED { // As it was when the copy was made.
			if _, err := u.client.Pods().Resume(u.ctx, &poddv1.ResumeRequest{Pod: p.name}); err != nil {
				return err
			}
		}
		p.submits.submit(u.ctx, "job-99998: shell/5/0")
	}
	if err := u.settle(); err != nil {
		return err
	}
	u.terminate(false)
	u.tally.Ends-- // It counts replacements.
	return u.nothingRuns()
}
