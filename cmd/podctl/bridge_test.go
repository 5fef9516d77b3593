package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"podd/pkg/llm/scripted"
)

// bridgeProcess is a `podctl bridge` in its own process.
type bridgeProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	// said is all the lines read from it.
	said []map[string]any
}

func (w *world) bridge() *bridgeProcess {
	w.t.Helper()
	b := &bridgeProcess{t: w.t, cmd: exec.CommandContext(w.t.Context(), "podctl", "bridge")}
	b.cmd.Env, b.cmd.Dir = w.env, w.dir
	in, err := b.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	b.in, b.out = in, bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	endLate(b.cmd.Process)
	return b
}

// send writes a line.
func (b *bridgeProcess) send(format string, args ...any) {
	b.t.Helper()
	if _, err := fmt.Fprintf(b.in, format+"\n", args...); err != nil {
		b.t.Fatal(err)
	}
}

// next reads a line.
func (b *bridgeProcess) next() map[string]any {
	b.t.Helper()
	line, err := b.out.ReadString('\n')
	var object map[string]any
	if err == nil {
		err = json.Unmarshal([]byte(line), &object)
	}
	if err != nil {
		b.t.Fatalf("%q: %v; before it came %v", line, err, b.said)
	}
	b.said = append(b.said, object)
	return object
}

// await reads until a line has a field with a value; keep defines the names of fields.
func (b *bridgeProcess) await(path string, want any) map[string]any {
	b.t.Helper()
	for {
		object := b.next()
		if got, ok := field(object, path); ok && (want == nil || fmt.Sprint(got) == fmt.Sprint(want)) {
			return object
		}
	}
}

// end closes the input and waits for the process.
func (b *bridgeProcess) end() {
	b.t.Helper()
	_ = b.in.Close()
	_, _ = io.Copy(io.Discard, b.out)
	if err := b.cmd.Wait(); err != nil {
		b.t.Error(err)
	}
}

// entriesOf are the sequences of the entries in a stream's messages.
func (b *bridgeProcess) entriesOf(stream any) (all []string) {
	for _, object := range b.said {
		if seq, ok := field(object, ".entry.seq"); ok && fmt.Sprint(object["stream"]) == fmt.Sprint(stream) {
			all = append(all, fmt.Sprint(seq))
		}
	}
	return all
}

// A bridge survives restarts and kills of podd. Its streams continue, each entry comes
// once and in order, and the bridge reports when podd goes away and when it is back.
func TestBridgeAcrossRestarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	b := w.bridge()
	if hello := b.next(); !is(hello, ".hello.connection.up", true) || !is(hello, ".hello.protocol", 1) {
		t.Fatalf("the bridge greets with %v", hello)
	}
	b.send(`{"id":"find","method":"FindPod","params":{"dir":%q,"create":true}}`, w.dir)
	found := b.await(".id", "find")
	name, _ := field(found, ".result.pod.name")
	b.send(`{"id":"s","method":"Stream","params":{"pod":%q,"follow":true,"deltas":true}}`, name)
	b.send(`{"id":"a","method":"StreamAlerts"}`)
	b.await(".caught_up", nil)
	for i, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
		b.send(`{"id":%d,"method":"Submit","params":{"pod":%q,"segments":[{"text":{"text":"hello"}}]}}`, i, name)
		b.await(".entry.turn_ended.outcome", "OUTCOME_FINISHED")
		if err := w.daemon.end(end); err != nil {
			t.Fatal(err)
		}
		b.await(".connection.up", false)
		if i == 1 {
			b.send(`{"id":"away","method":"ListPods"}`)
			if away := b.await(".id", "away"); !is(away, ".error.reason", "UNREACHABLE") {
				t.Errorf("without podd a call is answered by %v", away)
			}
		}
		w.start()
		b.await(".connection.up", true)
	}
	// A submit sent while podd is away waits for podd.
	w.kill()
	b.await(".connection.up", false)
	b.send(`{"id":"waits","method":"Submit","params":{"pod":%q,"segments":[{"text":{"text":"hello"}}]}}`, name)
	w.start()
	b.await(".entry.turn_ended.outcome", "OUTCOME_FINISHED")
	b.send(`{"id":"all","method":"Stream","params":{"pod":%q}}`, name)
	b.await(".end", nil)
	b.end()
	if followed, all := b.entriesOf("s"), b.entriesOf("all"); len(all) == 0 || fmt.Sprint(followed) != fmt.Sprint(all) {
		t.Errorf("followed: %v\nread at once: %v", followed, all)
	}
}

// A bridge that starts before podd waits for it; a stream opened meanwhile then begins.
func TestBridgeBeforePodd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, saysYes)
	w.podctl("create", "p").run(0)
	w.kill()
	b := w.bridge()
	if hello := b.next(); !is(hello, ".hello.connection.up", false) {
		t.Fatalf("the bridge greets with %v", hello)
	}
	b.send(`{"id":1,"method":"Stream","params":{"pod":"p","follow":true}}`)
	b.await(".id", 1)
	w.start()
	b.await(".state.pod.name", "p")
	b.send(`{"id":2,"method":"Unstream","params":{"stream":1}}`)
	if done := b.await(".id", 2); done["error"] != nil {
		t.Errorf("Unstream is answered by %v", done)
	}
	b.send(`{"id":1,"method":"Stream","params":{"pod":"unknown","follow":true}}`)
	if end := b.await(".end", nil); !is(end, ".end.error.reason", "POD_NOT_FOUND") {
		t.Errorf("a stream of no pod ends with %v", end)
	}
	b.end()
}

// A slow reader blocks only its own streams: podd and the bridge keep serving requests.
// When the reader continues, it gets each entry once.
func TestBridgeWithASlowReader(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("All work and no play. ", 20_000)
	w := newWorld(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text(big)) })
	w.podctl("create", "p").run(0)
	b := w.bridge()
	b.next()
	b.send(`{"id":1,"method":"Stream","params":{"pod":"p","follow":true,"deltas":true}}`)
	b.await(".caught_up", nil)
	for range 5 {
		w.podctl("submit", "-f", "-p", "p", "more").run(0)
	}
	b.send(`{"id":2,"method":"GetPod","params":{"pod":"p"}}`)
	b.await(".id", 2)
	b.send(`{"id":"all","method":"Stream","params":{"pod":"p"}}`)
	b.await(".end", nil)
	all := b.entriesOf("all")
	for len(b.entriesOf(1)) < len(all) {
		b.await(".entry", nil)
	}
	if followed := b.entriesOf(1); fmt.Sprint(followed) != fmt.Sprint(all) {
		t.Errorf("followed: %v\nread at once: %v", followed, all)
	}
	// The bridge ends with its input although its output is not read.
	b.send(`{"id":3,"method":"Stream","params":{"pod":"p","follow":true}}`)
	_ = b.in.Close()
	if err := b.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Blocks delivers the same pod as a transcript. Live text continues for a reader that
// reconnects, and the changes add up to the answer.
func TestBridgeBlocks(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	w := newWorld(t, gated(gate))
	w.podctl("create", "p").run(0)
	b := w.bridge()
	b.next()
	b.send(`{"id":1,"method":"Blocks","params":{"pod":"p","follow":true,"deltas":true}}`)
	b.await(".blocks.caught_up", true)
	b.await(".state.pod.name", "p")
	b.send(`{"id":"submit","method":"Submit","params":{"pod":"p","segments":[{"text":{"text":"go"}}]}}`)
	shown := map[string]map[string]any{}
	take := func(stream any) (seq string) {
		object := b.next()
		if fmt.Sprint(object["stream"]) != fmt.Sprint(stream) {
			return ""
		}
		drop, _ := field(object, ".blocks.drop")
		for _, id := range listOf(drop) {
			delete(shown, id.(string))
		}
		put, _ := field(object, ".blocks.put")
		for _, p := range listOf(put) {
			block := p.(map[string]any)["block"].(map[string]any)
			if before := shown[block["id"].(string)]; before != nil {
				kept := int(p.(map[string]any)["kept"].(float64))
				block["text"] = before["text"].(string)[:kept] + block["text"].(string)
			}
			shown[block["id"].(string)] = block
		}
		at, _ := field(object, ".blocks.seq")
		seq, _ = at.(string)
		return seq
	}
	has := func(kind, state, text string) bool {
		for _, block := range shown {
			if block["kind"] == kind && block["state"] == state && block["text"] == text {
				return true
			}
		}
		return false
	}
	last := ""
	for !has("answer", "live", "The ans") {
		last = cmp.Or(take(1), last)
	}
	if !has("user", "done", "go") {
		t.Errorf("the prompt is not there: %v", shown)
	}
	// A reader that joins in the middle continues after what the first one has seen. Its live
	// text is podd's: if the answer ended before the stream opens, only the entry comes.
	for id, block := range shown {
		if block["state"] == "live" {
			delete(shown, id)
		}
	}
	b.send(`{"id":2,"method":"Blocks","params":{"pod":"p","after_seq":%s,"follow":true,"deltas":true}}`, last)
	for !has("answer", "live", "The ans") {
		take(2)
	}
	close(gate)
	for !has("end", "done", "") {
		take(2)
	}
	if !has("answer", "done", "The answer.") || len(shown) != 3 {
		t.Errorf("shown: %v", shown)
	}
	b.end()
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

func is(object map[string]any, path string, want any) bool {
	got, ok := field(object, path)
	return ok && fmt.Sprint(got) == fmt.Sprint(want)
}

// The bridge lists what a prompt may begin with as /NAME, which podd puts in its place.
func TestBridgeListsPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted.Answers())
	w.write(".claude/commands/lint.md", "---\ndescription: Lint it\nargs: what\n---\nLint $WHAT well.\n")
	w.podctl("create", "p").run(0)
	b := w.bridge()
	defer b.end()
	b.send(`{"id":"list","method":"ListPrompts","params":{"pod":"p"}}`)
	list := b.await(".id", "list")
	if got := fmt.Sprint(list["result"]); !strings.Contains(got, "map[about:Lint it arguments:what name:lint]") || !strings.Contains(got, "name:compact") {
		t.Errorf("the prompts are %s", got)
	}
	b.send(`{"id":"bad","method":"Submit","params":{"pod":"p","parse_refs":true,"segments":[{"text":{"text":"/lint"}}]}}`)
	if got := fmt.Sprint(b.await(".id", "bad")["error"]); !strings.Contains(got, "/lint needs what") {
		t.Errorf("without its argument: %s", got)
	}
}
