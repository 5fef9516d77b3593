package report_test

import (
	"context"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"podd/internal/testing/logs"
	"podd/internal/workspace"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a Host on a real store, with one pod "p" and a scripted model, a million input tokens of which cost a dollar.
type house struct {
	t          *testing.T
	dir        string
	client     *openai.Client
	store      *store.Bolt
	workspaces *workspace.Workspaces
	host       *pod.Host
}

func newHouse(t *testing.T, handler scripted.Handler) *house {
	t.Helper()
	model, err := scripted.Serve(scripted.Config{Handler: handler})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, dir: t.TempDir()}
	logs.AtEnd(t, h.dir)
	if h.client, err = openai.New(openai.Config{BaseURL: model.URL(), API: openai.APIChat}); err != nil {
		t.Fatal(err)
	}
	h.open()
	t.Cleanup(func() {
		h.close()
		h.client.Close()
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := h.host.Create(t.Context(), "p", item.PodSpec{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) open() {
	h.t.Helper()
	var err error
	if h.store, err = store.OpenBolt(store.BoltConfig{Path: filepath.Join(h.dir, "podd.db")}); err != nil {
		h.t.Fatal(err)
	}
	if h.workspaces, err = workspace.New(workspace.Config{SpoolDir: filepath.Join(h.dir, "spool")}, workspace.Settings{}); err != nil {
		h.t.Fatal(err)
	}
	price := fold.ModelPrice{
		Model: "m", Price: fold.DefaultPrice(), Money: fold.Money{Input: 1, CachedInput: .1, CacheWrite: 1, Output: 10},
	}
	h.host, err = pod.NewHost(context.Background(), pod.Config{
		Fixed: pod.Fixed{Store: h.store, Workspaces: h.workspaces},
		Settings: pod.Settings{
			Router: llm.One(h.client), Model: item.ModelRef{Model: "m"}, Models: fold.Models{Prices: []fold.ModelPrice{price}},
		},
	})
	if err != nil {
		h.t.Fatal(err)
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
	h.workspaces.Close()
	if err := h.store.Close(); err != nil {
		h.t.Error(err)
	}
}

// restart stops podd and starts it again.
func (h *house) restart() {
	h.t.Helper()
	h.close()
	h.open()
}

// submit submits text to the pod.
func (h *house) submit(text string) {
	h.t.Helper()
	_, err := h.host.Submit(h.t.Context(), pod.Submit{Pod: "p", Segments: []item.Segment{item.TextSegment{Text: text}}})
	if err != nil {
		h.t.Fatal(err)
	}
}

// log is the whole log.
func (h *house) log() (all []item.Entry) {
	h.t.Helper()
	p, err := h.host.Get(h.t.Context(), "p")
	if err == nil {
		err = h.host.Logs.Entries(h.t.Context(), p.ID, 0, nil, func(e item.Entry) bool {
			all = append(all, e)
			return true
		})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// ended waits until turns of the pod have ended.
func (h *house) ended(turns int) {
	h.t.Helper()
	for ev, err := range h.host.Logs.Stream(h.t.Context(), pod.StreamQuery{Pod: "p", Follow: true}) {
		if err != nil {
			h.t.Fatal(err)
		}
		if ev.Record == nil {
			continue
		}
		e, err := ev.Record.Decode()
		if err != nil {
			h.t.Fatal(err)
		}
		if _, ok := e.Kind.(item.TurnEnded); ok {
			if turns--; turns == 0 {
				return
			}
		}
	}
}
