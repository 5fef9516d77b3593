package daemon

import (
	"context"
	"os"

	"podd/internal/ops/debugserver"
	"podd/internal/ops/metrics"
	"podd/internal/ops/traces"
	"podd/internal/version"
	"podd/pkg/fold"
	"podd/pkg/item"
)

// openTraces sends spans of turns where OpenTelemetry's variables ask for it.
func (d *Daemon) openTraces(ctx context.Context) error {
	wanted, err := traces.Wanted(os.Getenv)
	if err != nil || !wanted {
		return err
	}
	if d.tracer, err = traces.Open(ctx, version.Get().Version, d.Logger); err != nil {
		return err
	}
	d.undo = append(d.undo, func() { d.tracer.Close(context.WithoutCancel(ctx)) })
	d.Logger.Info("spans of turns are sent by OpenTelemetry's variables")
	return nil
}

// openRecorder makes what counts turns, where somebody may look at it.
func (d *Daemon) openRecorder() {
	if d.DebugSocket == "" {
		return
	}
	d.recorder = metrics.NewRecorder(func(u item.RequestUsage) (float64, bool) {
		l := d.loaded.Load()
		if l == nil || !u.Measured {
			return 0, false
		}
		money, ok := fold.MoneyOf(u.Model, l.Pods.Prices)
		if !ok && u.Purpose == "" {
			// Endpoints may name the model otherwise than it is asked for.
			money, ok = fold.MoneyOf(l.Pods.ModelName, l.Pods.Prices)
		}
		return money.Cost(u.Usage), ok
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
	d.Logger.Info("metrics and profiles are served", "socket", d.DebugSocket)
	return nil
}

// samples are all metrics of the moment.
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
	for _, r := range pods {
		p := r.Decode()
		states[p.Status.State]++
		queued += p.Queued
	}
	all := append(d.recorder.Samples(), metrics.Process(d.started)...)
	for state, n := range states {
		all = append(all, metrics.Sample{Name: metrics.Pods, Labels: metrics.Label("state", string(state)), Value: float64(n)})
	}
	loaded, _ := d.host.Counts()
	streams, connections := d.server.Open()
	stored := d.keeper.Store().Counters()
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
