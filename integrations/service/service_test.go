//go:build integrations && linux

package service

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// podd runs as a service of a real user manager. The test installs it before and after
// the manager starts, installs it again, starts it by a client, updates it and kills it
// in the middle of a turn, and removes it.
func TestService(t *testing.T) {
	if !alone(t) {
		return
	}
	u := newHome(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if len(r.Results()) == 0 {
			return scripted.Say(scripted.Call{Name: "shell", Arguments: `{"command":"echo $$ >> ran; while [ ! -e gate ]; do sleep 0.02; done; rm gate; echo through"}`})
		}
		return scripted.Say(scripted.Text("the answer to " + r.LastUser()))
	})
	units := filepath.Join(u.dir, ".config", "systemd", "user")

	u.fails([]string{"not installed as a service: run podd service install"}, "podd", "service", "status")
	u.fails([]string{"not installed as a service: run podd service install"}, "podd", "service", "restart")
	u.run([]string{
		"wrote " + units + "/podd.socket", "wrote " + units + "/podd.service", "Nothing was started", "systemctl --user enable --now podd.socket podd.service",
		"podd &", "loginctl enable-linger",
	}, "podd", "service", "install")
	u.run([]string{"unchanged " + units + "/podd.socket", "unchanged " + units + "/podd.service"}, "podd", "service", "install")
	u.fails([]string{"no service manager is running for you here"}, "podd", "service", "status")

	u.login()
	u.run([]string{"podd is running", "podd service restart"}, "podd", "service", "install")
	u.run([]string{"enabled", "active (running)", "answers at /run/user/podd/podd.sock", "off"}, "podd", "service", "status")
	u.hardened()
	pid := u.property("MainPID")
	u.run([]string{"unchanged " + units + "/podd.service"}, "podd", "service", "install")
	if now := u.property("MainPID"); now != pid {
		t.Errorf("podd was restarted without a change, pid %s and %s", pid, now)
	}
	for path, want := range map[string]os.FileMode{"/run/user/podd": 0o700, "/run/user/podd/podd.sock": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}

	u.update()
	u.killed()

	u.run(nil, "systemctl", "--user", "stop", "podd.service")
	u.run([]string{"p "}, "podctl", "list")
	if u.property("ActiveState") != "active" {
		t.Error("a client did not start podd")
	}

	u.run([]string{"removed " + units + "/podd.socket", "pods and their logs stay in " + u.dir + "/.local/state/podd"}, "podd", "service", "uninstall")
	u.run([]string{"podd is not installed"}, "podd", "service", "uninstall")
	left, _ := u.try("find", units, "-name", "podd*")
	if u.property("ActiveState") != "inactive" || left != "" {
		t.Errorf("what is left: %s", left)
	}
	if _, err := os.Stat("/run/user/podd/podd.sock"); err == nil {
		t.Error("the socket is left behind")
	}
	u.byHand()
}

// The sandbox works despite the limits of the unit.
func (u *home) hardened() {
	u.t.Helper()
	status, err := os.ReadFile("/proc/" + u.property("MainPID") + "/status")
	if err != nil {
		u.t.Fatal(err)
	}
	u.says(string(status), "NoNewPrivs:\t1", "Seccomp:\t2")
	u.run([]string{"sandbox: bwrap: shell commands run inside"}, "podctl", "status")
}

// A new podd replaces the old one in the middle of a turn: its command runs on, the turn
// continues, and a following client sees each entry once.
func (u *home) update() {
	u.t.Helper()
	u.run(nil, "podctl", "create", "p", "--dir", u.work)
	ctx, stop := context.WithCancel(u.t.Context())
	defer stop()
	tail := u.command(ctx, "podctl", "tail", "p", "-f", "-o", "json", "--after", "0")
	var seen rig.Buffer
	tail.Stdout, tail.Stderr = &seen, u.t.Output()
	if err := tail.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.run(nil, "podctl", "submit", "-p", "p", "the update")
	u.ran(1)

	u.put("podd")
	u.run([]string{"podd was restarted"}, "podd", "service", "restart")
	u.open()
	rig.Await(u.t, "the end of the turn", func() bool { return strings.Contains(seen.String(), `"turn_ended"`) })
	stop()
	_ = tail.Wait()
	u.says(seen.String(), "the answer to the update", "through", `"OUTCOME_FINISHED"`, `"recovered"`)
	next := 1
	for line := range strings.Lines(seen.String()) {
		_, rest, ok := strings.Cut(strings.ReplaceAll(line, " ", ""), `{"entry":{"seq":"`)
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(rest, `"`)
		if number != strconv.Itoa(next) {
			u.t.Errorf("entry %s where %d belongs", number, next)
		}
		next++
	}
	if next < 5 {
		u.t.Errorf("the client saw %d entries:\n%s", next-1, seen.String())
	}
}

// systemd restarts a killed podd, which finds the command still running.
func (u *home) killed() {
	u.t.Helper()
	u.run(nil, "podctl", "submit", "-p", "p", "the kill")
	u.ran(2)
	before := u.property("MainPID")
	pid, err := strconv.Atoi(before)
	if err != nil {
		u.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		u.t.Fatal(err)
	}
	rig.Await(u.t, "the next podd", func() bool {
		now := u.property("MainPID")
		return now != before && now != "0" && u.property("ActiveState") == "active"
	})
	u.open()
	rig.Await(u.t, "the answer", func() bool {
		out, _ := u.try("podctl", "tail", "p", "--after", "0")
		return strings.Contains(out, "the answer to the kill")
	})
	u.ran(2)
}

// byHand: if podd runs and is not a service, install does not start a second one.
func (u *home) byHand() {
	u.t.Helper()
	podd := u.command(u.t.Context(), "podd", "--log-format", "text")
	var log rig.Buffer
	podd.Stderr = &log
	if err := podd.Start(); err != nil {
		u.t.Fatal(err)
	}
	rig.Await(u.t, "podd", func() bool { return strings.Contains(log.String(), "podd ready") })
	u.fails([]string{"another podd (pid " + strconv.Itoa(podd.Process.Pid) + ") is using the state directory", "run podd service install again"}, "podd", "service", "install")
	_ = podd.Process.Signal(syscall.SIGTERM)
	if err := podd.Wait(); err != nil {
		u.t.Errorf("%v\n%s", err, log.String())
	}
	u.run([]string{"podd is running"}, "podd", "service", "install")
	u.run(nil, "podd", "service", "uninstall")
}

// open lets the waiting command end.
func (u *home) open() {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.work, "gate"), nil, 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// ran waits until n commands have begun.
func (u *home) ran(n int) {
	u.t.Helper()
	var pids []byte
	rig.Await(u.t, "command "+strconv.Itoa(n), func() bool {
		pids, _ = os.ReadFile(filepath.Join(u.work, "ran"))
		return bytes.Count(pids, []byte("\n")) >= n
	})
	if bytes.Count(pids, []byte("\n")) != n {
		u.t.Errorf("the command ran too often: %q", pids)
	}
}
