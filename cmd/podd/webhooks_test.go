package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// listening is the argument for a podd that listens for webhooks.
func listening(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[triggers]\nlisten = \"127.0.0.1:0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--config", path}
}

// hook is where a trigger is fired, without the address of podd, and its secret.
type hook struct{ path, secret string }

// hooksOf are the webhooks of all triggers by POD/NAME; base is the address of podd.
func hooksOf(t *testing.T, c *client.Client) (base string, hooks map[string]hook) {
	t.Helper()
	all, err := c.Triggers().ListTriggers(t.Context(), &poddv1.ListTriggersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	hooks = make(map[string]hook)
	for _, one := range all.GetTriggers() {
		secret, err := c.Triggers().GetTriggerSecret(t.Context(), &poddv1.GetTriggerSecretRequest{Pod: one.GetPod(), Name: one.GetName()})
		if err != nil {
			t.Fatal(err)
		}
		address, path, _ := strings.Cut(one.GetUrl(), "/t/")
		base, hooks[one.GetPodName()+"/"+one.GetName()] = address, hook{"/t/" + path, secret.GetSecret()}
	}
	return base, hooks
}

// deliver sends a delivery once, with curl. The status is 000 without an answer.
func deliver(t *testing.T, base string, h hook, id, body string) (status string, answer map[string]any) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "curl", "-sS", "-w", "\n%{http_code} %header{retry-after}", "-H", "Authorization: Bearer "+h.secret,
		"-H", "Idempotency-Key: "+id, "--data-raw", body, base+h.path).Output()
	said, status, _ := strings.Cut(string(out), "\n\n")
	if err == nil {
		if err := json.Unmarshal([]byte(said), &answer); err != nil {
			t.Errorf("podd answers %q: %v", out, err)
		}
	}
	return strings.TrimSpace(status), answer
}

// A sender repeats each delivery until podd answers 2xx, while podd is killed at any moment: each has one receipt and one turn.
// PODD_WEBHOOK_KILLS is how often podd is killed.
func TestKillWhileWebhooksArrive(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("curl is not installed: make test installs it")
	}
	kills, pods := killsWanted("PODD_WEBHOOK_KILLS", 4, 2)
	const perPod, perTrigger = 3, 6 // podd submits six fires of a trigger a minute.
	state, config := stateDir(t), listening(t)
	url := model(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("done")) })
	p := startPodd(t, state, url, config...)
	setTriggers(t, p.client(), pods, perPod)
	base, hooks := hooksOf(t, p.client())
	var current atomic.Value // The address of each podd.
	current.Store(base)
	var jobs []func() bool
	for n := range perTrigger {
		for _, h := range hooks {
			jobs = append(jobs, func() bool {
				status, _ := deliver(t, current.Load().(string), h, fmt.Sprint(n), "body")
				return strings.HasPrefix(status, "2")
			})
		}
	}
	p = killMeanwhile(t, kills, p, func() *process {
		next := startPodd(t, state, url, config...)
		base, _ := hooksOf(t, next.client())
		current.Store(base)
		return next
	}, jobs)
	for name, h := range hooks {
		if status, answer := deliver(t, current.Load().(string), h, "0", "body"); status != "200" || answer["duplicate"] != true || answer["fire"] == nil {
			t.Errorf("the first delivery of %s once more: %s, %v", name, status, answer)
		}
		pod, trigger, _ := strings.Cut(name, "/")
		checkFires(t, p.client(), pod, trigger, perTrigger)
	}
}
