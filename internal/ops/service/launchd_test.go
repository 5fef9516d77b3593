package service

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// launchctl is one whose service is the process in the file pid. Its kickstart does nothing while that runs, as
// launchd's.
const launchctl = `#!/bin/sh
alive() { kill -0 "$(cat pid)" 2>/dev/null; }
case "$1 $2" in
boot*) if alive; then echo "$1 while podd runs"; else echo "$1"; fi >>booted ;;
"print "*/podd) alive && printf 'gui/0/podd = {\n\tstate = running\n\tpid = %s\n}\n' "$(cat pid)" ;;
kickstart*) alive || echo "started $2" >>started ;;
esac
`

// startPodd starts, in a directory that is in PATH with the launchctl above, what ends slowly after SIGUSR1 alone.
func startPodd(t *testing.T) (dir string, ended <-chan error) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "launchctl"), []byte(launchctl), 0o700); err != nil {
		t.Fatal(err)
	}
	podd := exec.Command("sh", "-c", `trap 'sleep 0.3; exit 0' USR1; echo $$ >pid.new; mv pid.new pid; echo >&3; while :; do sleep 0.1; done`)
	podd.Dir = dir
	ready, said, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	podd.ExtraFiles = []*os.File{said}
	if err := podd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = said.Close()
	t.Cleanup(func() { _ = podd.Process.Kill() })
	end := make(chan error, 1)
	go func() { end <- podd.Wait() }()
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir, end
}

// A changed agent replaces the loaded one after podd has ended as it does for a restart: bootout ends the commands of a
// podd that runs.
func TestLaunchdInstall(t *testing.T) {
	dir, ended := startPodd(t)
	l, plan := launchd{home: dir}, Plan{Program: "/usr/bin/podd"}
	if _, err := write([]File{{l.agent(), "<!-- " + marker + " -->"}}); err != nil {
		t.Fatal(err)
	}
	done, err := l.Install(t.Context(), plan, false)
	if err != nil || !done.Restarted || !done.Running {
		t.Errorf("installed: %+v, %v", done, err)
	}
	booted, err := os.ReadFile(filepath.Join(dir, "booted"))
	if err != nil || string(booted) != "bootout\nbootstrap\n" {
		t.Fatalf("launchctl did %q, %v", booted, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("podd ended: %v", err)
	}
}

// launchd starts podd again although its kickstart has no effect while the old podd drains, and one that does not run.
func TestLaunchdRestart(t *testing.T) {
	dir, ended := startPodd(t)
	for round := range 2 {
		if out, err := exec.Command("sh", "-c", launchd{}.Restart()).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		started, err := os.ReadFile(filepath.Join(dir, "started"))
		want := ""
		for range round + 1 {
			want += fmt.Sprintln("started", target())
		}
		if string(started) != want || err != nil {
			t.Errorf("launchd started podd: %q, %v, want %q", started, err, want)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("podd ended: %v", err)
	}
}
