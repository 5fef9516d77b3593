package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// killMeanwhile has jobs done, several at once, each again and again until it says that podd answered, and kills podd meanwhile,
// so often, at any moment. start starts the next podd.
func killMeanwhile(t *testing.T, kills int, p *process, start func() *process, jobs []func() (answered bool)) *process {
	t.Helper()
	todo, progress, ended := make(chan func() bool, len(jobs)), make(chan struct{}, len(jobs)), make(chan struct{})
	for _, job := range jobs {
		todo <- job
	}
	close(todo)
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for job := range todo {
				for !job() && t.Context().Err() == nil {
					time.Sleep(10 * time.Millisecond) // For the next podd.
				}
				progress <- struct{}{}
			}
		})
	}
	go func() {
		clients.Wait()
		close(ended)
	}()
	for range kills {
		for range rand.N(2*len(jobs)/(kills+1) + 1) { // Some progress before each kill.
			select {
			case <-progress:
			case <-ended:
			}
		}
		p.signal(syscall.SIGKILL)
		p.wait()
		p = start()
	}
	<-ended
	return p
}

// killsWanted is how often a test kills podd, which a variable of the environment may say, and how many pods it has then.
func killsWanted(variable string, kills, pods int) (int, int) {
	if more, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return more, 1 + more/6
	}
	return kills, pods
}

// What each pod of TestKillWhileTriggersFire has: triggers on events, each of which has six, for podd submits six fires of a
// trigger a minute, and triggers on a time. One pod more has a trigger on each minute and one on the ends of turns, for each of
// the first pods: it can have a hundred.
const (
	eventTriggers, perTrigger = 10, 6
	timeTriggers              = 5
	othersOf                  = 40
)

// Clients fire triggers again and again until podd answers, times come and turns end, while podd is killed at any moment. Each
// event that was answered has one fire, one submit and one turn, no other event has; each time and each end of a turn has one
// receipt. PODD_TRIGGER_KILLS is how often podd is killed; 1,000 kills have more than 10,000 fires.
func TestKillWhileTriggersFire(t *testing.T) {
	kills, pods := killsWanted("PODD_TRIGGER_KILLS", 6, 3)
	state := stateDir(t)
	url := model(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) })
	p := startPodd(t, state, url)
	setTriggers(t, p.client(), pods, eventTriggers)
	setTimes(t, p.client(), pods, kills)
	var current atomic.Pointer[client.Client] // The clients share the connection of each podd.
	current.Store(p.client())
	var jobs []func() bool
	for event := range perTrigger {
		for trigger := range eventTriggers {
			for pod := range pods {
				fire := &poddv1.FireTriggerRequest{Pod: podNamed(pod), Name: fmt.Sprintf("t-%d", trigger), Id: fmt.Sprint(event)}
				jobs = append(jobs, func() bool {
					_, err := current.Load().Triggers().FireTrigger(t.Context(), fire)
					return err == nil
				})
			}
		}
	}
	p = killMeanwhile(t, kills, p, func() *process {
		next := startPodd(t, state, url)
		current.Store(next.client())
		return next
	}, jobs)
	c, fires := p.client(), pods*(eventTriggers*perTrigger+timeTriggers)
	for pod := range pods {
		turns := make(map[int64]bool)
		for trigger := range eventTriggers {
			maps.Copy(turns, checkFires(t, c, podNamed(pod), fmt.Sprintf("t-%d", trigger), perTrigger))
		}
		for trigger := range timeTriggers {
			maps.Copy(turns, checkFires(t, c, podNamed(pod), fmt.Sprintf("at-%d", trigger), 1))
		}
		got, err := c.Pods().GetPod(t.Context(), &poddv1.GetPodRequest{Pod: podNamed(pod)})
		if err != nil {
			t.Fatal(err)
		}
		if had := int(got.GetPod().GetTurn()); had != len(turns) {
			t.Errorf("%s had %d turns, of which triggers have %d", podNamed(pod), had, len(turns))
		}
		if pod < othersOf {
			fires += checkMinutes(t, c, "others", fmt.Sprintf("minute-%d", pod)) + checkEnds(t, c, podNamed(pod), fmt.Sprintf("after-%d", pod), len(turns))
		}
	}
	t.Logf("%d fires under %d kills", fires, kills)
}

func podNamed(n int) string { return fmt.Sprintf("pod-%d", n) }

func setTriggers(t *testing.T, c *client.Client, pods, perPod int) {
	t.Helper()
	for pod := range pods {
		createPod(t, c, podNamed(pod))
		for trigger := range perPod {
			setTrigger(t, c, podNamed(pod), fmt.Sprintf("t-%d", trigger), &poddv1.TriggerSpec{Event: true, Webhook: true})
		}
	}
}

func createPod(t *testing.T, c *client.Client, name string) {
	t.Helper()
	if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: name, Spec: &poddv1.PodSpec{Dir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
}

func setTrigger(t *testing.T, c *client.Client, pod, name string, spec *poddv1.TriggerSpec) {
	t.Helper()
	spec.Prompt = "work"
	if _, err := c.Triggers().SetTrigger(t.Context(), &poddv1.SetTriggerRequest{Pod: pod, Name: name, Spec: spec}); err != nil {
		t.Fatal(err)
	}
}

// setTimes sets the other triggers of TestKillWhileTriggersFire. The times are within as many seconds as podd is killed.
func setTimes(t *testing.T, c *client.Client, pods, kills int) {
	t.Helper()
	createPod(t, c, "others")
	for pod := range pods {
		for trigger := range timeTriggers {
			at := time.Now().Add(2*time.Second + rand.N(time.Duration(kills)*time.Second))
			setTrigger(t, c, podNamed(pod), fmt.Sprintf("at-%d", trigger), &poddv1.TriggerSpec{At: timestamppb.New(at)})
		}
		if pod < othersOf {
			setTrigger(t, c, "others", fmt.Sprintf("minute-%d", pod), &poddv1.TriggerSpec{Cron: "* * * * *"})
			setTrigger(t, c, "others", fmt.Sprintf("after-%d", pod), &poddv1.TriggerSpec{After: podNamed(pod)})
		}
	}
}

// receiptsOf waits until enough receipts of a trigger are as wanted.
func receiptsOf(t *testing.T, c *client.Client, pod, trigger string, enough int, wanted func(*poddv1.Receipt) bool) []*poddv1.Receipt {
	t.Helper()
	for {
		resp, err := c.Triggers().ListReceipts(t.Context(), &poddv1.ListReceiptsRequest{Pod: pod, Name: trigger})
		if err != nil {
			t.Fatal(err)
		}
		good := 0
		for _, r := range resp.GetReceipts() {
			if wanted(r) {
				good++
			}
		}
		if good >= enough {
			return resp.GetReceipts()
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%d of %d receipts of %s/%s: %v", good, enough, pod, trigger, resp.GetReceipts())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// checkFires waits until each event of a trigger has its turn, and finds no other fire, submit or turn of the trigger. It
// returns the turns.
func checkFires(t *testing.T, c *client.Client, pod, trigger string, events int) map[int64]bool {
	t.Helper()
	// podd gives a turn up that it was killed in again and again: it has another outcome then.
	all := receiptsOf(t, c, pod, trigger, events, func(r *poddv1.Receipt) bool { return r.GetOutcome() != "" })
	ids, turns := make(map[string]bool), make(map[int64]bool)
	for n, r := range all {
		id := r.GetEventId()
		if id == "" {
			id = fmt.Sprint("no event ", n)
		}
		ids[id], turns[r.GetTurn()] = true, true
	}
	if len(all) != events || len(ids) != events || len(turns) != events {
		t.Errorf("%d events of %s/%s have %d receipts of %d events with %d turns: %v", events, pod, trigger, len(all), len(ids), len(turns), all)
	}
	return turns
}

// checkMinutes finds one receipt for each minute since a trigger was set, and returns how many fired.
func checkMinutes(t *testing.T, c *client.Client, pod, trigger string) (fired int) {
	t.Helper()
	list, err := c.Triggers().ListTriggers(t.Context(), &poddv1.ListTriggersRequest{Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	due := make(map[time.Time]int)
	for _, r := range receiptsOf(t, c, pod, trigger, 0, func(*poddv1.Receipt) bool { return true }) {
		if r.GetNumber() > 0 {
			fired++
		}
		for n := range r.GetCount() {
			due[r.GetFirstDue().AsTime().Add(time.Duration(n)*time.Minute)]++
		}
	}
	for _, one := range list.GetTriggers() {
		if one.GetName() != trigger {
			continue
		}
		for at := one.GetAdded().AsTime().Truncate(time.Minute).Add(time.Minute); at.Before(one.GetNext().AsTime()); at = at.Add(time.Minute) {
			if due[at] != 1 {
				t.Errorf("%s of %s/%s has %d receipts", at, pod, trigger, due[at])
			}
		}
	}
	return fired
}

// checkEnds waits until each end of a turn of a pod has a receipt of a trigger after it, finds no other, and returns how many
// fired.
func checkEnds(t *testing.T, c *client.Client, pod, trigger string, turns int) (fired int) {
	t.Helper()
	all := receiptsOf(t, c, "others", trigger, turns, func(*poddv1.Receipt) bool { return true })
	for _, r := range all {
		if r.GetNumber() > 0 {
			fired++
		}
	}
	if len(all) != turns {
		t.Errorf("%d turns of %s have %d receipts of %s: %v", turns, pod, len(all), trigger, all)
	}
	return fired
}
