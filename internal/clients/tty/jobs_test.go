package tty_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/clients/tty"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestJob is the process that TestStops stops.
func TestJob(t *testing.T) {
	what := os.Getenv("JOB")
	if what == "" {
		t.Skip("TestStops runs it")
	}
	jobs := tty.NewJobs()
	defer jobs.Close()
	said := bufio.NewScanner(os.Stdin)
	stop := func() error { return tty.Stop(t.Context()) }
	if what == "away" { // Such as an editor.
		stop = func() error {
			fmt.Println("away")
			said.Scan()
			return nil
		}
	}
	if err := jobs.Away(stop).Run(); err != nil {
		t.Fatal(err)
	}
	fmt.Println("back")
	fmt.Println(<-jobs == syscall.SIGTSTP) // The view has the signals again.
}

// A process stops by itself, or by a signal while its editor has the terminal, and goes on.
func TestStops(t *testing.T) {
	for _, what := range []string{"stop", "away"} {
		c := exec.Command(os.Args[0], "-test.run=^TestJob$")
		c.Env = append(os.Environ(), "JOB="+what)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // As a shell does.
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		says := func(want string) {
			t.Helper()
			if !said.Scan() || said.Text() != want {
				t.Fatalf("%s: it says %q, want %q", what, said.Text(), want)
			}
		}
		signals := func(s syscall.Signal) {
			t.Helper()
			if err := syscall.Kill(c.Process.Pid, s); err != nil {
				t.Fatal(err)
			}
		}
		if what == "away" {
			says("away")
			signals(syscall.SIGTSTP)
		}
		var state syscall.WaitStatus
		if _, err := syscall.Wait4(c.Process.Pid, &state, syscall.WUNTRACED, nil); err != nil || !state.Stopped() {
			t.Fatalf("%s: it is in state %v: %v", what, state, err)
		}
		signals(syscall.SIGCONT)
		if what == "away" {
			fmt.Fprintln(in)
		}
		says("back")
		signals(syscall.SIGTSTP)
		says("true")
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
