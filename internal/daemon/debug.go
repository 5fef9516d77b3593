package daemon

import (
	"context"
	"os"

	"podd/internal/ops/debugserver"
	"podd/internal/ops/metrics"
	"podd/internal/ops/traces"
	"podd/pkg/item"
	"podd/pkg/version"
)

// openTraces starts to send spans of turns if OpenTelemetry's variables request it.
func (d *Daemon) openTraces(ctx context.Context) error {
	wanted, err := traces.Wanted(os.Getenv)
	if err != nil || !wanted {
		return err
	}
	if d.tracer, err = traces.Open(ctx, version.Get().Version, d.vendor, d.Logger); err != nil {
		return err
	}
	d.undo = append(d.undo, func() { d.tracer.Close(context.WithoutCancel(ctx)) })
	d.Logger.Info("sending spans of turns, as OpenTelemetry's variables say")
	return nil
}

// openRecorder makes the counter of turns, if metrics are served.
func (d *Daemon) openRecorder() {
	if d.DebugSocket == "" {
		return
	}
	d.recorder = metrics.NewRecorder(func(u item.RequestUsage) (float64, bool) {
		l := d.loaded.Load()
		if l == nil || !u.Measured {
			return 0, false
		}
		return l.Pods.Models.Cost(u)
	})
}

// serveDebug serves metrics and profiles until the daemon ends.
func (d *Daemon) serveDebug(ctx context.Context) error {
	if d.DebugSocket == "" {
		return nil
	}
	s, err := debugserver.Serve(ctx, debugserver.Config{Path: d.DebugSocket, Samples: d.samples, Logger: d.Logger})
	if err != nil {
		return err
	}
	d.undo = append(d.undo, s.Close)
	d.Logger.Info("serving metrics and profiles", "socket", d.DebugSocket)
	return nil
}

// samples are all current metrics.
func (d *Daemon) samples(ctx context.Context) ([]metrics.Sample, error) {
	pods, err := d.host.List(ctx, "")
	if err != nil {
		return nil, err
	}
	waiting, err := d.host.Approvals(ctx, "")
	if err != nil {
		return nil, err
	}
	states, queued := make(map[item.State]int), 0
	for _, state := range []item.State{item.StateIdle, item.StateRunning, item.StateWaiting, item.StatePaused, item.StateResuming, item.StateInterrupted, item.StateQuarantined} {
		states[state] = 0
	}
	for _, p := range pods {
		states[p.Status.State]++
		queued += p.Queued
	}
	all := append(d.recorder.Samples(), metrics.Process(d.started)...)
	for state, n := range states {
		all = append(all, metrics.Sample{Name: metrics.Pods, Labels: metrics.Label("state", string(state)), Value: float64(n)})
	}
	loaded := d.host.Counts().Loaded
	streams, connections := d.server.Open()
	stored := d.keeper.Counters()
	values := map[string]float64{
		metrics.Commits: float64(stored.Commits), metrics.CommitSeconds: stored.Time.Seconds(), metrics.StoreBytes: float64(stored.Bytes),
		metrics.PodsLoaded: float64(loaded), metrics.Submits: float64(queued), metrics.ApprovalsWaiting: float64(len(waiting)),
		metrics.Streams: float64(streams), metrics.Connections: float64(connections),
	}
	for name, v := range values {
		all = append(all, metrics.Sample{Name: name, Value: v})
	}
	return all, nil
}

// vendor names the provider of an endpoint.
func (d *Daemon) vendor(endpoint string) string {
	if l := d.loaded.Load(); l != nil {
		return l.endpoints.Vendor(endpoint)
	}
	return ""
}
