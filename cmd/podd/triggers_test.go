package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// Clients fire triggers again and again until podd answers, while podd is killed at any moment. Each event that was answered
// has one fire, one submit and one turn, and no other event has. PODD_TRIGGER_KILLS is how often podd is killed.
func TestKillWhileTriggersFire(t *testing.T) {
	kills, pods := 6, 3
	if more, err := strconv.Atoi(os.Getenv("PODD_TRIGGER_KILLS")); err == nil {
		kills, pods = more, 1+more/6
	}
	const perPod, perTrigger = 5, 6 // podd submits six fires of a trigger a minute.
	state := stateDir(t)
	url := model(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) })
	p := startPodd(t, state, url)
	setTriggers(t, p.client(), pods, perPod)

	// The clients share the connection of each podd; a closed channel says that there is a new one.
	var mu sync.Mutex
	now := p.client()
	current := func() *client.Client {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	var clients sync.WaitGroup
	fired := make(chan struct{}, pods*perPod*perTrigger)
	for pod := range pods {
		for trigger := range perPod {
			clients.Go(func() {
				for event := range perTrigger {
					fireUntilAnswered(t, current, fmt.Sprintf("pod-%d", pod), fmt.Sprintf("t-%d", trigger), fmt.Sprint(event))
					fired <- struct{}{}
				}
			})
		}
	}
	answered := make(chan struct{})
	go func() {
		clients.Wait()
		close(answered)
	}()
	for range kills {
		for range rand.N(2*cap(fired)/(kills+1) + 1) { // Some progress before each kill.
			select {
			case <-fired:
			case <-answered:
			}
		}
		p.signal(syscall.SIGKILL)
		p.wait()
		p = startPodd(t, state, url)
		mu.Lock()
		now = p.client()
		mu.Unlock()
	}
	<-answered
	for pod := range pods {
		for trigger := range perPod {
			checkFires(t, p.client(), fmt.Sprintf("pod-%d", pod), fmt.Sprintf("t-%d", trigger), perTrigger)
		}
	}
}

func setTriggers(t *testing.T, c *client.Client, pods, perPod int) {
	t.Helper()
	for pod := range pods {
		name := fmt.Sprintf("pod-%d", pod)
		if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: name, Spec: &poddv1.PodSpec{Dir: t.TempDir()}}); err != nil {
			t.Fatal(err)
		}
		for trigger := range perPod {
			if _, err := c.Triggers().SetTrigger(t.Context(), &poddv1.SetTriggerRequest{
				Pod: name, Name: fmt.Sprintf("t-%d", trigger), Spec: &poddv1.TriggerSpec{Event: true, Webhook: true, Prompt: "work"},
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fireUntilAnswered fires a trigger, and again as long as podd does not answer.
func fireUntilAnswered(t *testing.T, current func() *client.Client, pod, trigger, id string) {
	for t.Context().Err() == nil {
		_, err := current().Triggers().FireTrigger(t.Context(), &poddv1.FireTriggerRequest{Pod: pod, Name: trigger, Id: id})
		if err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond) // For the next podd.
	}
}

// checkFires waits until each event of a trigger has its turn, and finds no other fire, submit or turn of the trigger.
func checkFires(t *testing.T, c *client.Client, pod, trigger string, events int) {
	t.Helper()
	var all []*poddv1.Receipt
	for {
		resp, err := c.Triggers().ListReceipts(t.Context(), &poddv1.ListReceiptsRequest{Pod: pod, Name: trigger})
		if err != nil {
			t.Fatal(err)
		}
		all = resp.GetReceipts()
		ended := 0
		for _, r := range all {
			if r.GetOutcome() != "" { // podd gives a turn up that it was killed in again and again.
				ended++
			}
		}
		if ended >= events {
			break
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%d of %d events of %s/%s have a turn: %v", ended, events, pod, trigger, all)
		case <-time.After(50 * time.Millisecond):
		}
	}
	ids, turns := make(map[string]bool), make(map[int64]bool)
	for _, r := range all {
		ids[r.GetEventId()], turns[r.GetTurn()] = true, true
	}
	if len(all) != events || len(ids) != events || len(turns) != events {
		t.Errorf("%d events of %s/%s have %d receipts of %d events with %d turns: %v", events, pod, trigger, len(all), len(ids), len(turns), all)
	}
}
