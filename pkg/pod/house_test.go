package pod_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"podd/internal/letters"
	shelltool "podd/internal/shell"
	"podd/internal/subpods"
	"podd/internal/trash"
	"podd/internal/triggers"
	"podd/internal/workspace"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/anthropic"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/wire"
	"podd/pkg/worker"
)

// house is a Host on a real store in a temporary directory, with one pod "p" and a model, mostly a scripted one behind real HTTP.
// When the test ends, it checks the pod's log against the invariants.
type house struct {
	t     *testing.T
	dir   string
	state string
	model *scripted.Server
	// endpoint is the client of the model.
	endpoint llm.Model
	config   func(*options)
	// slept is how far the client's clock is ahead: waits of turns take no time.
	slept atomic.Int64

	store      *store.Bolt
	workspaces *workspace.Workspaces
	host       *pod.Host
	trash      *trash.Trash
	subPods    *subpods.Wing
	mail       *letters.Letters
	fires      *triggers.Wing
}

type (
	workspaceConfig   = workspace.Config
	workspaceSettings = workspace.Settings
)

// options are the configuration of a house. Logger and Now are for the workspaces and the
// Host.
type options struct {
	pod.Config
	workspaceConfig
	workspaceSettings
	trashFor time.Duration
	triggers bool
}

// apis are the APIs that conversations are tested over.
var apis = []string{openai.APIChat, openai.APIResponses, anthropic.API}

// connect is a client of an endpoint over an API.
func connect(t *testing.T, api, baseURL string, now func() time.Time) interface {
	llm.Model
	Close()
} {
	t.Helper()
	if api == anthropic.API {
		c, err := anthropic.New(anthropic.Config{BaseURL: baseURL, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c, err := openai.New(openai.Config{BaseURL: baseURL, API: api, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newHouse opens a house; config may change the Host's configuration.
func newHouse(t *testing.T, handler scripted.Handler, config ...func(*options)) *house {
	t.Helper()
	h := &house{t: t}
	var err error
	h.model, err = scripted.Serve(scripted.Config{Handler: handler})
	if err != nil {
		t.Fatal(err)
	}
	client, err := openai.New(openai.Config{BaseURL: h.model.URL(), API: "chat", Now: h.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		if err := h.model.Close(); err != nil {
			t.Error(err)
		}
	})
	h.begin(client, config)
	return h
}

// newHouseOf opens a house with another model.
func newHouseOf(t *testing.T, model llm.Model, config ...func(*options)) *house {
	t.Helper()
	h := &house{t: t}
	h.begin(model, config)
	return h
}

// begin opens the house for the first time.
func (h *house) begin(model llm.Model, config []func(*options)) {
	h.t.Helper()
	h.dir, h.state, h.endpoint = h.t.TempDir(), h.t.TempDir(), model
	h.config = func(c *options) {
		for _, change := range config {
			change(c)
		}
	}
	h.open()
	h.t.Cleanup(func() {
		h.verify()
		h.allEnded()
		h.folds("p")
		h.close()
	})
	if _, err := h.host.Create(h.t.Context(), "p", item.PodSpec{Dir: h.dir}); err != nil {
		h.t.Fatal(err)
	}
}

// now is the time of the model's client.
func (h *house) now() time.Time { return time.Now().Add(time.Duration(h.slept.Load())) }

func (h *house) open() {
	h.t.Helper()
	var err error
	h.store, err = store.OpenBolt(store.BoltConfig{Path: filepath.Join(h.state, "podd.db")})
	if err != nil {
		h.t.Fatal(err)
	}
	c := options{
		Config: pod.Config{
			Fixed: pod.Fixed{
				Store: h.store,
				Retry: worker.Retry{Sleep: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }},
			},
			Settings: pod.Settings{Router: llm.One(h.endpoint), Model: item.ModelRef{Model: "m"}},
		},
		workspaceConfig: workspace.Config{
			SpoolDir: filepath.Join(h.state, "spool"),
			Logger:   slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
			Shell:    shelltool.Config{Confined: true},
			SubPods:  subpods.Tools(func() *subpods.Wing { return h.subPods }),
		},
		// Most tests count entries, and check what others say to the model.
		workspaceSettings: workspace.Settings{BaseInstructions: "none"},
	}
	h.config(&c)
	sleep := c.Retry.Sleep
	c.Retry.Sleep = func(ctx context.Context, d time.Duration) error {
		err := sleep(ctx, d)
		if err == nil {
			h.slept.Add(int64(d))
		}
		return err
	}
	if h.workspaces, err = workspace.New(c.workspaceConfig, c.workspaceSettings); err != nil {
		h.t.Fatal(err)
	}
	c.Workspaces, c.Config.Logger, c.Config.Now = h.workspaces, c.Logger, c.Now
	if h.host, err = pod.NewHost(context.Background(), c.Config); err != nil {
		h.t.Fatal(err)
	}
	h.trash = trash.Open(trash.Config{Host: h.host, For: c.trashFor})
	shelltool.Open(shelltool.WingConfig{Host: h.host, Jobs: h.workspaces.Jobs()})
	h.mail = letters.Open(context.Background(), letters.Config{Host: h.host})
	h.subPods = subpods.Open(subpods.Config{Host: h.host, Letters: h.mail})
	if c.triggers {
		h.fires = triggers.Open(triggers.Config{Host: h.host, Now: c.Now})
	}
	if err := h.host.Recover(context.Background()); err != nil {
		h.t.Fatal(err)
	}
}

// close drains with no grace.
func (h *house) close() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h.host.Close(ctx)
	h.mail.Close()
	h.workspaces.Close()
	if err := h.store.Close(); err != nil {
		h.t.Error(err)
	}
}

// folds compares the fold of a pod's log from its base with the fold of all of it. It
// returns the last entry of the base.
func (h *house) folds(name string) (based item.Seq) {
	h.t.Helper()
	p, err := h.host.Get(context.Background(), name)
	if item.KindOf(err) == item.KindNotFound && err != nil {
		return 0
	}
	if err != nil {
		h.t.Fatal(err)
	}
	based, differs, err := h.host.Unlike(context.Background(), p.ID)
	if err != nil || differs != "" {
		h.t.Errorf("from its base at #%d the log of pod %s folds into another %s, error %v", based, name, differs, err)
	}
	return based
}

// restart stops podd and starts it again.
func (h *house) restart() {
	h.t.Helper()
	h.close()
	h.open()
}

// submit submits text with @path references to the pod.
func (h *house) submit(text string) pod.Submitted {
	h.t.Helper()
	got, err := h.host.Submit(h.t.Context(), pod.Submit{
		Pod: "p", Segments: []item.Segment{item.TextSegment{Text: text}}, ParseRefs: true,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// ended follows the log until the turn that took a submit has ended.
func (h *house) ended(s pod.Submitted) item.TurnEnded {
	h.t.Helper()
	turn := int64(-1)
	for e := range h.follow(h.t.Context(), s.Seq) {
		switch k := e.Kind.(type) {
		case item.TurnStarted:
			if len(k.RequestIDs) == 1 && k.RequestIDs[0] == s.RequestID {
				turn = e.Turn
			}
		case item.TurnEnded:
			if e.Turn == turn {
				return k
			}
		}
	}
	h.t.Fatal("the stream ended before the turn")
	return item.TurnEnded{}
}

// run submits text and waits for its turn's end.
func (h *house) run(text string) item.TurnEnded {
	h.t.Helper()
	return h.ended(h.submit(text))
}

// follow returns the entries above a sequence as they come.
func (h *house) follow(ctx context.Context, after item.Seq) func(func(item.Entry) bool) {
	return h.followPod(ctx, "p", after)
}

func (h *house) followPod(ctx context.Context, name string, after item.Seq) func(func(item.Entry) bool) {
	return func(yield func(item.Entry) bool) {
		for ev, err := range h.host.Logs.Stream(ctx, pod.StreamQuery{Pod: name, After: after, Follow: true}) {
			if err != nil {
				return
			}
			if ev.Record != nil && !yield(h.decode(*ev.Record)) {
				return
			}
		}
	}
}

// log is the whole log.
// to is an update that replaces a pod's spec.
func to(spec item.PodSpec) func(item.PodSpec) (item.PodSpec, error) {
	return func(item.PodSpec) (item.PodSpec, error) { return spec, nil }
}

func (h *house) log() []item.Entry { return h.logOf("p") }

func (h *house) logOf(name string) []item.Entry {
	h.t.Helper()
	var entries []item.Entry
	for ev, err := range h.host.Logs.Stream(context.Background(), pod.StreamQuery{Pod: name}) {
		if item.KindOf(err) == item.KindNotFound && err != nil {
			return nil
		}
		if err != nil {
			h.t.Fatal(err)
		}
		if ev.Record != nil {
			entries = append(entries, h.decode(*ev.Record))
		}
	}
	return entries
}

func (h *house) decode(r store.Record) item.Entry {
	h.t.Helper()
	e, err := wire.DecodeEntry(r.Entry)
	if err != nil {
		h.t.Fatal(err)
	}
	return e
}

// write puts a file into the workspace.
func (h *house) write(name, content string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// read is a file of the workspace, "" if it does not exist.
func (h *house) read(name string) string {
	h.t.Helper()
	f, err := os.Open(filepath.Join(h.dir, name))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		h.t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(b)
}

// items are the items of a log.
func items(entries []item.Entry) []item.Item {
	var out []item.Item
	for _, e := range entries {
		if k, ok := e.Kind.(item.ItemAdded); ok {
			out = append(out, k.Item)
		}
	}
	return out
}

// results are the tool results of a log.
func results(entries []item.Entry) []item.ToolResult {
	var out []item.ToolResult
	for _, it := range items(entries) {
		if r, ok := it.(item.ToolResult); ok {
			out = append(out, r)
		}
	}
	return out
}

// exists says whether the workspace has a file.
func (h *house) exists(name string) bool {
	_, err := os.Stat(filepath.Join(h.dir, name))
	return err == nil
}

// recoveries are the entries of resumed turns.
func recoveries(entries []item.Entry) []item.Recovered {
	var out []item.Recovered
	for _, e := range entries {
		if r, ok := e.Kind.(item.Recovered); ok {
			out = append(out, r)
		}
	}
	return out
}

// recovered waits until n turns were resumed.
func (h *house) recovered(n int) {
	h.t.Helper()
	for e := range h.follow(h.t.Context(), 0) {
		if _, ok := e.Kind.(item.Recovered); ok {
			if n--; n == 0 {
				return
			}
		}
	}
	h.t.Fatal("the stream ended before")
}

// kill kills podd and starts it again: from one moment on nothing more is stored.
func (h *house) kill(f *faulty) {
	h.t.Helper()
	f.set(func(store.Batch) error { return errKilled })
	h.close()
	f.set(nil)
	h.open()
}

var errKilled = errors.New("podd was killed")

// kinds are the entries of a log with a certain kind.
func kinds[K item.Kind](entries []item.Entry) []K {
	var out []K
	for _, e := range entries {
		if k, ok := e.Kind.(K); ok {
			out = append(out, k)
		}
	}
	return out
}

// refs are models of the default endpoint.
func refs(models ...string) (list []item.ModelRef) {
	for _, m := range models {
		list = append(list, item.ModelRef{Model: m})
	}
	return list
}
