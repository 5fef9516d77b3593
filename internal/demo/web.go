package demo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// webConfig is the configuration of a demo on the page.
const webConfig = `model = "demo-large"

[models.demo-large]
window = 200000

[prices.demo-large]
input = 3.0
cached_input = 0.3
output = 15.0
`

// clock is the time of the demo's pods: that of the machine, or one some days before.
type clock struct{ back atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().AddDate(0, 0, -int(c.back.Load())) }

// desk is the pods of a demo on the page: NAME DIR ASK.
var desk = []string{"ledger ledger never", "pricing site always", "release api always", "audit api never", "nightly ledger never", "importer api never", "changelog site never"}

// firstDay is by how many days the fleet is older than today.
const firstDay = 27

// chores are prompts of past days.
var chores = []string{"Triage the new issues.", "Review the open change.", "Summarise the week.", "Upgrade the modules."}

// past is what pods did some days before today, each POD: PROMPT; different pods on a day.
func past(days int) (lines []string) {
	for i := range []int{2, 1, 3, 2, 4, 0, 1}[days%7] {
		pod, _, _ := strings.Cut(desk[(3*days+i)%len(desk)], " ")
		lines = append(lines, pod+": "+chores[(days+2*i)%len(chores)])
	}
	return lines
}

// audits are the prompts of the pod that works without end.
var audits = []string{"Audit the timeouts of the API.", "Audit the queries next."}

// stage makes the fleet, and its days before today.
func (d *demo) stage(ctx context.Context, c *client.Client) error {
	d.clock.back.Store(firstDay)
	for _, line := range desk {
		f := strings.Fields(line)
		spec := &poddv1.PodSpec{Dir: filepath.Join(d.root, "work", f[1]), Ask: f[2]}
		if _, err := c.Pods().CreatePod(ctx, &poddv1.CreatePodRequest{Name: f[0], Spec: spec}); err != nil {
			return err
		}
	}
	for days := firstDay; days > 0; days-- {
		d.clock.back.Store(int64(days))
		if err := d.turns(ctx, c, past(days)...); err != nil {
			return err
		}
	}
	d.clock.back.Store(0)
	err := d.turns(ctx, c, "ledger: sum.sh stops at comment lines, against its @README.md. Mend it.", "nightly: Run the nightly report for @./report.txt.", "importer: Triage the new issues.")
	if err != nil {
		return err
	}
	_, err = c.Pods().Pause(ctx, &poddv1.PauseRequest{Pod: "importer", Reason: "waits for the new schema"})
	if err != nil {
		return err
	}
	// One after the other: the page shows first who asked first.
	for _, line := range []string{"release: Bring the branch to staging.", "pricing: Set the price of the Team plan as in the plan."} {
		if err := d.turns(ctx, c, line); err != nil {
			return err
		}
	}
	_, err = submit(ctx, c, "audit: "+audits[0])
	return err
}

// turns gives pods their prompts, each POD: PROMPT, and waits until their turns end or ask.
func (d *demo) turns(ctx context.Context, c *client.Client, lines ...string) error {
	type begun struct {
		pod   string
		after int64
	}
	var all []begun
	for _, line := range lines {
		answer, err := submit(ctx, c, line)
		if err != nil {
			return err
		}
		pod, _, _ := strings.Cut(line, ": ")
		all = append(all, begun{pod, answer.GetSeq()})
	}
	for _, b := range all {
		if err := rests(ctx, c, b.pod, b.after); err != nil {
			return err
		}
	}
	return nil
}

// submit gives a pod its prompt: POD: PROMPT.
func submit(ctx context.Context, c *client.Client, line string) (*poddv1.SubmitResponse, error) {
	pod, prompt, _ := strings.Cut(line, ": ")
	return c.Submit(ctx, &poddv1.SubmitRequest{
		Pod: pod, ParseRefs: true,
		Segments: []*poddv1.Segment{{Kind: &poddv1.Segment_Text{Text: &poddv1.TextSegment{Text: prompt}}}},
	})
}

// rests waits until the first turn after an entry ends or asks.
func rests(ctx context.Context, c *client.Client, pod string, after int64) error {
	for m, err := range c.Stream(ctx, client.StreamOptions{Pod: pod, After: after, Follow: true}) {
		if err != nil {
			return err
		}
		if e := m.GetEntry(); e.GetTurnEnded() != nil || e.GetApprovalRequested() != nil {
			return nil
		}
	}
	return ctx.Err()
}

// web shows the fleet on the page until ctx ends.
func (d *demo) web(ctx context.Context, c *client.Client) error {
	d.print("This is podd with a scripted model: the models' text is written in advance. The rest is real.")
	err := d.stage(ctx, c)
	if err == nil {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		parts := []func() error{
			func() error { return d.Page(ctx, filepath.Join(d.root, "state")) },
			func() error { return d.letIn(ctx, c) },
			func() error { return d.audit(ctx, c) },
		}
		failed := make(chan error, len(parts))
		for _, part := range parts {
			go func() {
				defer cancel()
				failed <- part()
			}()
		}
		for range parts {
			err = errors.Join(err, <-failed)
		}
	}
	if ctx.Err() != nil {
		return nil // It was told to end.
	}
	return err
}

// audit gives the pod that works without end one prompt after another.
func (d *demo) audit(ctx context.Context, c *client.Client) error {
	for n := 1; ; n++ {
		answer, err := submit(ctx, c, "audit: "+audits[n%len(audits)])
		if err == nil {
			err = rests(ctx, c, "audit", answer.GetSeq())
		}
		if err != nil {
			return err
		}
	}
}

// letIn shows an address for a browser, lets in whoever opens it, and goes on with the next one.
func (d *demo) letIn(ctx context.Context, c *client.Client) error {
	for {
		if err := d.pair(ctx, c); err != nil {
			return err
		}
	}
}

// pair lets one browser in. It returns nil if the code has expired, too.
func (d *demo) pair(ctx context.Context, c *client.Client) error {
	for {
		devices, err := c.Web().ListDevices(ctx, &poddv1.ListDevicesRequest{})
		if err != nil {
			return err
		}
		if devices.GetOrigin() != "" {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	stream, err := c.Web().StartPairing(ctx, &poddv1.StartPairingRequest{Scope: poddv1.DeviceScope_DEVICE_SCOPE_CONTROL, Days: 1})
	if err != nil {
		return err
	}
	code := ""
	for {
		m, err := stream.Recv()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil
		case m.GetCode() != nil:
			code = m.GetCode().GetCode()
			d.print("\nOpen this in a browser of this machine (once, within 5 minutes; Ctrl-C ends the demo):\n\n    %s/#pair=%s", m.GetCode().GetOrigin(), code)
		case m.GetBrowser() != nil:
			// Outside of a demo a person compares this number with the browser's.
			_, err := c.Web().AnswerPairing(ctx, &poddv1.AnswerPairingRequest{Code: code, Number: m.GetBrowser().GetNumber(), Accept: true})
			if err != nil {
				return err
			}
		case m.GetDevice() != nil:
			d.print("\n%s is in. For another browser:", m.GetDevice().GetName())
			return nil
		}
	}
}

// prepareWeb prepares the workspaces of the fleet.
func (d *demo) prepareWeb() error {
	d.act.script = "web.script"
	d.configFile = filepath.Join(d.root, "config.toml")
	if err := os.WriteFile(d.configFile, []byte(webConfig), 0o600); err != nil {
		return err
	}
	sample, err := fs.Sub(files, "desk")
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(d.root, "work"), sample)
}
