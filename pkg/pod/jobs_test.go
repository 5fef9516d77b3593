package pod_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"podd/pkg/item"
	"podd/pkg/llm/scripted"
)

// waiting is a job that prints its process and runs until a file exists.
func waiting(file string) scripted.Call {
	return background("echo $$ >pid-" + file + "; echo ready; until [ -e " + file + " ]; do sleep 0.01; done; echo over; exit 3")
}

// background is a call that starts a job.
func background(command string) scripted.Call {
	return scripted.Call{Name: "shell", Arguments: fmt.Sprintf(`{"command":%q,"background":true}`, command)}
}

func jobCall(arguments string) scripted.Call { return scripted.Call{Name: "job", Arguments: arguments} }

// A job outlives turns, and podd learns of its end after a restart. The state names the running
// jobs when they change, and each request extends the previous one.
func TestJobOverTurns(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		t.Run(api, func(t *testing.T) {
			h := newTold(t, api, steps(
				scripted.Say(waiting("go")), scripted.Say(scripted.Text("started")),
				scripted.Say(jobCall(`{"action":"read","id":"1","after":0,"until":"^ready$","wait_seconds":600}`)), scripted.Say(scripted.Text("read")),
				scripted.Say(scripted.Text("nothing new")),
				scripted.Say(scripted.Text("it ended")),
				scripted.Say(jobCall(`{"action":"read","id":"1","after":6}`)), scripted.Say(scripted.Text("read the end")),
			))
			h.run("start")
			h.run("read")
			h.run("and")
			h.write("go", "")
			h.await(func(p item.Pod) bool { return p.Status.Turn == 4 && p.Status.State == item.StateIdle })
			h.restart()
			h.run("read the end")
			requests := h.model.Requests()
			if len(requests) != 8 {
				t.Fatalf("%d requests", len(requests))
			}
			for i := 1; i < len(requests); i++ {
				if !bytes.HasPrefix(requests[i], bytes.TrimRight(requests[i-1], "\"]}")) {
					t.Errorf("request %d does not extend the one before:\n%s\n%s", i+1, requests[i-1], requests[i])
				}
			}
			const day, mode = "Today is Monday, 23 November 2026, time zone UTC (UTC+00:00).\n", "Mode: act.\n"
			want := []string{day + mode, day + "Running jobs: 1 (echo $$ >pid-go; echo ready; until [ -e go ]; do sleep 0.01;…).\n" + mode, day + mode}
			if got := states(h.log()); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("the states are %q, want %q", got, want)
			}
			for n, text := range map[int]string{2: "runs as job 1; ", 4: "job: 1 runs; 1 line, mark 6", 6: "The end of its output:", 8: "job: 1 has ended: exit 3"} {
				if !strings.Contains(string(requests[n-1]), text) {
					t.Errorf("request %d does not say %q:\n%s", n, text, requests[n-1])
				}
			}
		})
	}
}

// The ends of jobs start at most six turns an hour. Later ends wait, and share one turn.
func TestEndsOfJobsWakeSixTimesAnHour(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC).UnixNano())
	calls := make([]scripted.Part, 8)
	for i := range calls {
		calls[i] = waiting(fmt.Sprint("go-", i))
	}
	h := newHouse(t, func(_ context.Context, r scripted.Request) scripted.Reply {
		if r.Steps() == 0 {
			return scripted.Say(calls...)
		}
		return scripted.Say(scripted.Text("seen"))
	}, func(c *options) { c.workspaceConfig.Now = func() time.Time { return time.Unix(0, now.Load()).UTC() } })
	h.run("start")
	for i := range calls {
		h.write(fmt.Sprint("go-", i), "")
		turns := min(int64(i), 5) + 2
		h.await(func(p item.Pod) bool {
			return p.Status.Jobs == 7-i && p.Status.Turn == turns && p.Status.State != item.StateRunning
		})
	}
	p, err := h.host.Get(t.Context(), "p")
	if err != nil || p.Status.State != item.StateWaiting || !p.Status.WaitUntil.Equal(time.Unix(0, now.Load()).Add(time.Hour)) {
		t.Fatalf("after eight ends the pod is %+v, %v", p.Status, err)
	}
	now.Add(int64(time.Hour))
	h.restart()
	h.await(func(p item.Pod) bool { return p.Status.Turn == 8 && p.Status.State == item.StateIdle })
	if last := h.body(len(h.model.Requests())); strings.Count(last, "has ended: exit 3") != 8 {
		t.Errorf("the last request is %s", last)
	}
	if n := len(h.model.Requests()); n != 9 {
		t.Errorf("%d requests", n)
	}
}

// The cancel of the turn that started a job ends it, at once also in the middle of the turn.
// Jobs of earlier turns go on.
func TestCancelEndsTheJobsOfItsTurn(t *testing.T) {
	started := make(chan struct{}, 1)
	h := newHouse(t, func(ctx context.Context, r scripted.Request) scripted.Reply {
		switch r.Steps() {
		case 0, 2:
			return scripted.Say(waiting(fmt.Sprint("go-", r.Steps())))
		case 3:
			started <- struct{}{}
			<-ctx.Done()
		}
		return scripted.Say(scripted.Text("done"))
	})
	h.run("one")
	s := h.submit("two")
	<-started
	for h.read("pid-go-2") == "" && t.Context().Err() == nil { // The call does not wait for its job for long.
		runtime.Gosched()
	}
	if _, _, err := h.host.Cancel(t.Context(), "p", "enough"); err != nil {
		t.Fatal(err)
	}
	h.wantEnd(h.ended(s), item.OutcomeCancelled, "CANCELLED", "enough")
	h.await(func(p item.Pod) bool { return p.Status.Jobs == 1 })
	p, err := h.host.Get(t.Context(), "p")
	list := h.workspaces.Jobs().Of(p.ID).List()
	if err != nil || len(list) != 2 || list[0].State != item.JobRunning || list[1].State != item.JobEnded || !strings.Contains(list[1].Status, "the turn that started it was cancelled") {
		t.Errorf("the jobs are %+v, %v", list, err)
	}
	h.gone("pid-go-2")
	h.await(func(p item.Pod) bool { return p.Status.State == item.StateIdle })
	if p, err := h.host.Get(t.Context(), "p"); err != nil || p.Status.Turn != 2 {
		t.Errorf("the cancel started turn %d, %v", p.Status.Turn, err)
	}
}

// gone waits until the process has ended whose id is in a file.
func (h *house) gone(file string) {
	h.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(h.read(file)))
	if err != nil {
		h.t.Fatal(err)
	}
	for syscall.Kill(pid, 0) == nil && h.t.Context().Err() == nil {
		runtime.Gosched()
	}
}
