//go:build integrations

// Package web tests the page of podd web in Chromium, against a real podd.
package web

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/integrations/rig"
	"podd/pkg/client"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

const answer = "The **tokenizer** drops a newline.\n\n## What changed\n\n1. `lexer.go` keeps it.\n\n| file | lines |\n|---|---:|\n" +
	"| lexer.go | 12 |\n\n```go\nreturn l.scan()\n```\n\nSee [the page](https://example.com/spec).\n"

// model runs the command after "run", patches by the text after "patch", asks the questions after "ask" and twice after "asks", says the text after "say", and answers "slow" and
// "quick" word by word.
func model(_ context.Context, r scripted.Request) scripted.Reply {
	verb, rest, _ := strings.Cut(r.LastUser(), " ")
	call := func(tool, name string) scripted.Reply {
		arguments, _ := json.Marshal(map[string]string{name: rest})
		return scripted.Say(scripted.Reasoning("A call does it."), scripted.Text("I do that."), scripted.Call{Name: tool, Arguments: string(arguments)})
	}
	switch {
	case len(r.Results()) > 0:
		return scripted.Say(scripted.Text(answer))
	case verb == "run":
		return call("shell", "command")
	case verb == "ask":
		return scripted.Say(scripted.Call{Name: "ask_user", Arguments: rest})
	case verb == "asks":
		return scripted.Say(scripted.Call{ID: "a1", Name: "ask_user", Arguments: rest}, scripted.Call{ID: "a2", Name: "ask_user", Arguments: rest})
	case verb == "patch":
		return call("apply_patch", "input")
	case verb == "slow", verb == "quick":
		var reply scripted.Reply
		for _, word := range strings.SplitAfter(strings.Repeat(answer, 5), " ") {
			reply.Parts = append(reply.Parts, scripted.Text(word))
		}
		reply.Delay = map[string]time.Duration{"slow": 100 * time.Millisecond, "quick": 8 * time.Millisecond}[verb]
		return reply
	}
	return scripted.Say(scripted.Text(rest))
}

// served is a podd with podd web, and its client.
func served(t *testing.T) (*rig.World, *client.Client) {
	t.Helper()
	w := rig.Prepare(t, model)
	w.Configure("model = \"demo\"\n[models.demo]\nwindow = 200000\n[prices.demo]\ninput = 3.0\noutput = 15.0\n")
	w.Start()
	server := w.Command("podd", "web", "--listen", "127.0.0.1:0")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Cancel()
		_ = server.Wait()
	})
	c, err := client.New(client.Config{Socket: w.Socket(), StateDir: w.StateDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return w, c
}

// paired starts a pairing, and lets the browser in that shows the number: the test writes what the page shows into a file.
// It returns the page's address with the code.
func paired(t *testing.T, w *rig.World, c *client.Client) string {
	t.Helper()
	rig.Await(t, "podd web", func() bool {
		devices, err := c.Web().ListDevices(t.Context(), &poddv1.ListDevicesRequest{})
		return err == nil && devices.GetOrigin() != ""
	})
	stream, err := c.Web().StartPairing(t.Context(), &poddv1.StartPairingRequest{Scope: poddv1.DeviceScope_DEVICE_SCOPE_CONTROL})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		if next, err := stream.Recv(); err != nil || next.GetBrowser() == nil {
			return
		}
		shown := filepath.Join(w.Workspace, "number")
		for {
			number, err := os.ReadFile(shown)
			if err == nil && len(number) == 6 {
				_, err = c.Web().AnswerPairing(t.Context(), &poddv1.AnswerPairingRequest{Code: first.GetCode().GetCode(), Number: string(number), Accept: true})
				if err != nil {
					t.Errorf("the number of the page, %s: %v", number, err)
				}
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return fmt.Sprintf("%s/#pair=%s", first.GetCode().GetOrigin(), first.GetCode().GetCode())
}

// runs runs the tests of a file in Node, with further variables.
func runs(t *testing.T, w *rig.World, file string, env ...string) {
	t.Helper()
	rig.NPM(t, "playwright-core")
	rig.NPM(t, "axe-core")
	n := w.Command("node", "--test", "--test-reporter=tap", filepath.Join(rig.Root(), "integrations", "web", file))
	n.Env = append(append(n.Env, "WORK="+w.Workspace, "PODD_NPM="+rig.NPM(t), "PODD_CHROMIUM="+rig.Need(t, "chromium")), env...)
	for _, name := range []string{"PODD_SCREENSHOTS", "PODD_DROPS", "PODD_GOLDEN"} {
		n.Env = append(n.Env, name+"="+os.Getenv(name))
	}
	out, err := n.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nThe log of podd:\n%s", err, out, w.Log())
	}
	for line := range strings.Lines(string(out)) {
		// What a test measured.
		if said, ok := strings.CutPrefix(strings.TrimSpace(line), "# measured: "); ok {
			t.Log(said)
		}
	}
}

// TestPage uses each view.
func TestPage(t *testing.T) {
	w, c := served(t)
	runs(t, w, "page.test.mjs", "PAGE="+paired(t, w, c))
}

// TestDrops cuts the page's connections, and kills podd, while a pod works: PODD_DROPS times.
func TestDrops(t *testing.T) {
	w, c := served(t)
	ctx, cancel := context.WithCancel(t.Context())
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for ctx.Err() == nil {
			// The test asks for it with this file.
			asked := filepath.Join(w.Workspace, "kill")
			if _, err := os.Stat(asked); err == nil {
				w.Kill()
				w.Start()
				_ = os.Remove(asked)
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	defer func() {
		cancel()
		<-killed
	}()
	runs(t, w, "drops.test.mjs", "PAGE="+paired(t, w, c))
}

// TestLargeFleet shows a thousand pods.
func TestLargeFleet(t *testing.T) {
	w, c := served(t)
	for i := range 1000 {
		if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: fmt.Sprintf("many-%d", i), Spec: &poddv1.PodSpec{Dir: w.Workspace}}); err != nil {
			t.Fatal(err)
		}
	}
	runs(t, w, "fleet.test.mjs", "PAGE="+paired(t, w, c))
}

// TestTypes checks the page's types.
func TestTypes(t *testing.T) {
	w := rig.Prepare(t, model)
	rig.Run(t, w.Command("node", rig.NPM(t, "typescript", "bin", "tsc"), "-p", filepath.Join(rig.Root(), "internal", "web", "page", "jsconfig.json")))
}
