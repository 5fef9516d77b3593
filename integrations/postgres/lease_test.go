//go:build integrations

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/pkg/llm/scripted"
)

// stamping is a model whose only call writes the time of CLOCK_BOOTTIME to leader every 10 ms, and
// has a daemon do so in daemon, until one of them sees the file stop.
func stamping(_ context.Context, r scripted.Request) scripted.Reply {
	if r.Steps() > 0 {
		return scripted.Say(scripted.Text("done"))
	}
	arguments, _ := json.Marshal(map[string]any{"timeout_seconds": 600, "command": `trap "" TERM
loop='while ! [ -e stop ] && read -r up rest </proc/uptime && echo $up >>$0; do sleep 0.01; done'
(setsid env -i sh -c "$loop" daemon >/dev/null 2>&1 &)
sh -c "$loop" leader`})
	return scripted.Say(scripted.Call{ID: "stamps", Name: "shell", Arguments: string(arguments)})
}

// stamps is a command of a pod.
type stamps struct {
	t     *testing.T
	files []string
}

// stampsOf awaits the command in the directory of a pod.
func stampsOf(t *testing.T, dir string) stamps {
	t.Helper()
	s := stamps{t, []string{filepath.Join(dir, "leader"), filepath.Join(dir, "daemon")}}
	s.goOn()
	return s
}

// all are the whole stamps in a file.
func (s stamps) all(file string) []string {
	text, _ := os.ReadFile(file)
	lines := strings.Split(string(text), "\n")
	return lines[:len(lines)-1]
}

// goOn waits until each file gets more stamps.
func (s stamps) goOn() {
	s.t.Helper()
	for _, file := range s.files {
		before := len(s.all(file))
		rig.Await(s.t, "a stamp in "+filepath.Base(file), func() bool { return len(s.all(file)) > before })
	}
}

// last is the last stamp of all, as the time of a clock.
func (s stamps) last() time.Time {
	s.t.Helper()
	now := time.Now()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		s.t.Fatal(err)
	}
	up, _, _ := strings.Cut(string(text), " ")
	boot := now.Add(-s.seconds(up)) // Not late if the machine is busy meanwhile.
	var last time.Time
	for _, file := range s.files {
		all := s.all(file)
		if at := boot.Add(s.seconds(all[len(all)-1])); at.After(last) {
			last = at
		}
	}
	return last
}

// seconds is a time of /proc/uptime.
func (s stamps) seconds(text string) time.Duration {
	s.t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Duration(n * float64(time.Second))
}

// endedBefore checks that the last stamp is older than the entry with which another node went on
// with the pod.
func (s stamps) endedBefore(at *rig.World, pod string) {
	s.t.Helper()
	for _, e := range entries(s.t, at, pod) {
		if e["recovered"] == nil {
			continue
		}
		began, err := time.Parse(time.RFC3339Nano, fmt.Sprint(e["time"]))
		if err != nil {
			s.t.Fatal(err)
		}
		if last := s.last(); !last.Before(began) {
			s.t.Errorf("the last stamp is %v after the next node began", last.Sub(began))
		} else {
			s.t.Logf("the last stamp is %v before the next node began", began.Sub(last))
		}
		return
	}
	s.t.Error("no node went on with the pod")
}

// shimOf is the process that starts the commands of a podd.
func shimOf(t *testing.T, w *rig.World) int {
	t.Helper()
	var status struct{ PID json.Number }
	if err := json.Unmarshal([]byte(w.Podctl("status", "-o", "json")), &status); err != nil {
		t.Fatal(err)
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		name, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); strings.HasSuffix(name, "(podd-shim") && len(f) > 1 && f[1] == status.PID.String() {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	t.Fatalf("podd %s has no shim", status.PID)
	return 0
}

// Whatever happens to the owner of a movable pod, its command and all that it started have ended
// before another node goes on with the pod. The command of a pod that only its node has goes on.
func TestNodesEndCommandsByLease(t *testing.T) {
	for name, harm := range map[string]func(n1 *rig.World, shim int){
		"podd stops":          func(n1 *rig.World, _ int) { n1.Signal(syscall.SIGSTOP) },
		"podd is killed":      func(n1 *rig.World, _ int) { n1.Kill() },
		"its shim is stopped": func(_ *rig.World, shim int) { _ = syscall.Kill(shim, syscall.SIGSTOP) },
		"both are killed": func(n1 *rig.World, shim int) {
			_ = syscall.Kill(shim, syscall.SIGKILL)
			n1.Kill()
		},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeam(t, stamping)
			n1, n2 := tm.nodes["n1"], tm.nodes["n2"]
			dir := tm.pod("moves")
			n1.Podctl("create", "stays", "--dir", n1.Workspace)
			n1.Podctl("submit", "-p", "moves", "go")
			n1.Podctl("submit", "-p", "stays", "go")
			moves, stays := stampsOf(t, dir), stampsOf(t, n1.Workspace)
			shim, frozen := shimOf(t, n1), name == "podd stops"
			t.Cleanup(func() {
				if frozen {
					n1.Signal(syscall.SIGCONT)
				}
				_ = syscall.Kill(shim, syscall.SIGCONT)
				_ = os.WriteFile(filepath.Join(n1.Workspace, "stop"), nil, 0o600)
			})
			harm(n1, shim)
			if name == "its shim is stopped" {
				// podd keeps the lease, until the database does not answer.
				tm.server.Stop(true)
				rig.Await(t, "the end of the command", func() bool { return time.Since(moves.last()) > 2*time.Second })
				stays.goOn()
				if err := tm.server.Up(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				tm.taken("moves")
				stays.goOn()
			}
			rig.Await(t, "the end of the turn", func() bool {
				out, err := n2.Command("podctl", "tail", "moves", "--after", "0", "-o", "json").Output()
				return err == nil && strings.Contains(string(out), `"turn_ended":`)
			})
			if log := n2.Podctl("tail", "moves", "--after", "0", "-o", "json"); !strings.Contains(log, "may have taken effect") {
				t.Errorf("the log does not say what is known of the command:\n%s", log)
			}
			if name != "its shim is stopped" {
				moves.endedBefore(n2, "moves")
				if frozen {
					frozen = false
					n1.Signal(syscall.SIGCONT)
					ends(t, n1)
				}
				return
			}
			if log := n2.Podctl("tail", "moves", "--after", "0", "-o", "json"); !strings.Contains(log, "this node lost its lease in the database") {
				t.Errorf("the log does not say why the command ended:\n%s", log)
			}
		})
	}
}

// A node whose pods were taken over while its commands could not be ended ends them before it is
// ready again.
func TestNodesEndCommandsAtStart(t *testing.T) {
	tm := newTeam(t, stamping)
	n1 := tm.nodes["n1"]
	dir := tm.pod("moves")
	n1.Podctl("submit", "-p", "moves", "go")
	moves := stampsOf(t, dir)
	shim := shimOf(t, n1)
	if err := syscall.Kill(shim, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(shim, syscall.SIGKILL) })
	n1.Kill()
	tm.taken("moves")
	moves.goOn() // Nothing on that machine could end it.
	n1.Start()
	ready := time.Now()
	if last := moves.last(); last.After(ready) {
		t.Errorf("a stamp is %v after podd was ready", last.Sub(ready))
	}
	for _, file := range moves.files {
		before := len(moves.all(file))
		n1.Podctl("status")
		if after := len(moves.all(file)); after != before {
			t.Errorf("%s gets stamps", filepath.Base(file))
		}
	}
}
