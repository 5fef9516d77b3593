package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"rsc.io/qr"

	"podd/internal/clients/remote"
	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newWebCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Let browsers use the page of podd web",
		Long:  "Lets browsers use the page of podd web, lists them, and removes them.",
	}
	cmd.AddCommand(new(pairOptions).command(p), (&pairOptions{open: true}).command(p), newWebDevicesCommand(p), newWebRevokeCommand(p), newWebStatusCommand(p))
	return cmd
}

// pairOptions are the flags of web pair and web open.
type pairOptions struct {
	scope string
	pods  []string
	days  int32
	// open says to open the browser of this machine.
	open bool
}

// scopeNames are the scopes of devices, from the least.
var scopeNames = []string{"view", "answer", "control"}

const scopePrefix = "DEVICE_SCOPE_"

func (o *pairOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Let a browser in",
		Long: "Shows an address and a code for one browser, which expires after 5 minutes. When the browser has opened it, " +
			"podctl shows its number and asks: say yes only if the browser shows the same.",
		Example: "  podctl web pair --scope answer --days 7\n  podctl web pair --pod web --pod api",
		RunE:    p.onPodd(o.run),
	}
	if o.open {
		cmd.Use, cmd.Short, cmd.Example = "open", "Open the page in this machine's browser, and let it in", "  podctl web open --scope control"
	}
	cmd.Flags().StringVar(&o.scope, "scope", "view", "what the browser may do: view, answer or control")
	cmd.Flags().StringArrayVar(&o.pods, "pod", nil, "a pod that the browser may know of, with its sub-pods; repeatable (default: all)")
	p.completeFlag(cmd, "pod", pods)
	cmd.Flags().Int32Var(&o.days, "days", 30, "for how many days, at most 366")
	completeWith(cmd, "scope", scopeNames...)
	return cmd
}

func (o *pairOptions) run(ctx context.Context, s *session, _ []string) error {
	scope, ok := poddv1.DeviceScope_value[scopePrefix+strings.ToUpper(o.scope)]
	if !ok || scope == 0 {
		return usagef("unknown scope %q: it is one of %s", o.scope, strings.Join(scopeNames, ", "))
	}
	if o.days < 1 {
		return usagef("--days must be 1 to 366, not %d", o.days)
	}
	if _, ok := terminal(s.stdin); !ok {
		return usageError{item.Errorf(item.KindInvalid, "NOBODY_TO_ASK", "web %s needs a terminal to compare a number: run it at one", map[bool]string{false: "pair", true: "open"}[o.open])}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.Web().StartPairing(ctx, &poddv1.StartPairingRequest{Scope: poddv1.DeviceScope(scope), Pods: o.pods, Days: o.days})
	if err != nil {
		return err
	}
	return o.follow(ctx, s, stream)
}

// follow shows the progress of a pairing.
func (o *pairOptions) follow(ctx context.Context, s *session, stream poddv1.WebService_StartPairingClient) error {
	code := ""
	var there *forwarded
	defer func() { there.close() }()
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case m.GetCode() != nil:
			code = m.GetCode().GetCode()
			if there, err = s.forwardPage(ctx, m.GetCode().GetOrigin()); err == nil {
				err = o.showCode(ctx, s, m.GetCode())
			}
		case m.GetBrowser() != nil:
			err = letIn(ctx, s, code, m.GetBrowser())
		case m.GetDevice() != nil:
			d := m.GetDevice()
			err = s.print(d, line("%s is paired until %s, with the scope %s and the pods: %s", sanitize.Line(d.GetName()), stamp(d.GetExpiresAt().AsTime()), o.scope, devicePods(d)))
			if err == nil {
				err = there.keep(ctx)
			}
			return err
		}
		if err != nil {
			return err
		}
	}
}

// showCode shows where to go, or opens it.
func (o *pairOptions) showCode(ctx context.Context, s *session, code *poddv1.PairingCode) error {
	origin := sanitize.Line(code.GetOrigin())
	if origin == "" {
		return item.Errorf(item.KindPrecondition, "NO_WEB", "the page is not served: run podd web beside podd first")
	}
	address := origin + "/#pair=" + code.GetCode()
	fmt.Fprintf(s.stderr, "open %s\nor the page %s and type the code %s; it expires at %s\n", address, origin, code.GetCode(), stamp(code.GetExpiresAt().AsTime()))
	if !o.open {
		// Other devices reach the page by a name with a certificate alone.
		if strings.HasPrefix(origin, "https://") {
			return showQR(s.stderr, address)
		}
		return nil
	}
	s.browse(ctx, address)
	return nil
}

// letIn asks whether the browser shows the same number.
func letIn(ctx context.Context, s *session, code string, b *poddv1.PairingBrowser) error {
	fmt.Fprintf(s.stderr, "%q asks to be let in. Its number is %s\n", sanitize.Line(b.GetName()), sanitize.Line(b.GetNumber()))
	no := item.Errorf(item.KindPrecondition, "NOT_PAIRED", "you did not let the browser in")
	refused := s.asked(ctx, "Does the browser show the same number?", no, no)
	_, err := s.Web().AnswerPairing(context.WithoutCancel(ctx), &poddv1.AnswerPairingRequest{Code: code, Number: b.GetNumber(), Accept: refused == nil})
	if refused != nil {
		return refused
	}
	return err
}

func newWebDevicesCommand(p *program) *cobra.Command {
	return &cobra.Command{Use: "devices", Short: "List the paired browsers", RunE: p.onPodd(runWebDevices)}
}

func runWebDevices(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Web().ListDevices(ctx, &poddv1.ListDevicesRequest{})
	if err != nil {
		return err
	}
	const none, heading = "no browser is paired: podctl web pair lets one in", "NAME\tSCOPE\tPODS\tPAIRED\tEXPIRES\tLAST LOGIN"
	return list(s.program, resp.GetDevices(), none, heading, func(d *poddv1.Device) []any {
		seen := "-"
		if d.GetSeenAt() != nil {
			seen = stamp(d.GetSeenAt().AsTime())
		}
		return []any{d.GetName(), strings.ToLower(strings.TrimPrefix(d.GetScope().String(), scopePrefix)), devicePods(d), stamp(d.GetPairedAt().AsTime()), stamp(d.GetExpiresAt().AsTime()), seen}
	})
}

// devicePods are the pods that a browser may know of.
func devicePods(d *poddv1.Device) string {
	if len(d.GetPods()) == 0 {
		return "all"
	}
	var names []string
	for _, p := range d.GetPods() {
		names = append(names, cmp.Or(sanitize.Line(p.GetName()), p.GetId()+" (deleted)"))
	}
	return strings.Join(names, ", ")
}

func newWebRevokeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke NAME",
		Short:   "Remove a browser, and end what it does",
		Example: "  podctl web revoke \"Firefox on Linux\"",
		RunE:    p.onPodd(runWebRevoke),
	}
}

func runWebRevoke(ctx context.Context, s *session, args []string) error {
	resp, err := s.Web().RevokeDevice(ctx, &poddv1.RevokeDeviceRequest{Device: args[0]})
	return s.answer(resp.GetDevice(), err, line("%s is revoked", sanitize.Line(resp.GetDevice().GetName())))
}

func newWebStatusCommand(p *program) *cobra.Command {
	return &cobra.Command{Use: "status", Short: "Say where the page is, and how podd web is confined", RunE: p.onPodd(runWebStatus)}
}

func runWebStatus(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Web().ListDevices(ctx, &poddv1.ListDevicesRequest{})
	return s.answer(resp, err, webFacts(resp).writeTo)
}

// webFacts says where the page is.
func webFacts(s *poddv1.ListDevicesResponse) facts {
	page, confined := "not served: run podd web beside podd", ""
	if s.GetProblem() != "" {
		page = s.GetProblem()
	}
	if s.GetOrigin() != "" {
		page, confined = s.GetOrigin(), orDefault(s.GetConfinement(), "no")
	}
	return facts{{"page", page}, {"confined", confined}, {"browsers", fmt.Sprintf("%d paired", len(s.GetDevices()))}}
}

// forwarded is the page of another machine at the same port of this one.
type forwarded struct {
	*program
	host    remote.Host
	address string
	*remote.Forwarding
}

// forwardPage makes the page at an origin reachable here. It returns nil if there is nothing to
// forward: if podd runs on this machine, or if the page has a name of its own.
func (p *program) forwardPage(ctx context.Context, origin string) (*forwarded, error) {
	text, err := p.at.hostText()
	if err != nil || text == "" || origin == "" || strings.HasPrefix(origin, "https://") {
		return nil, err
	}
	where, err := netip.ParseAddrPort(strings.TrimPrefix(origin, "http://"))
	if err != nil || !where.Addr().IsLoopback() {
		// Nothing that another machine says opens a port to others.
		return nil, item.Errorf(item.KindPrecondition, "WEB_PORT", "podd there serves its page at %s, which ssh cannot forward: let podd web listen at 127.0.0.1", sanitize.Line(origin))
	}
	f := &forwarded{program: p, address: where.String()}
	if f.host, err = parseHost(text); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.address)
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "WEB_PORT", "the page of %s needs %s on this machine, which is taken: stop what uses it, or give podd web there another port with --listen", f.host, f.address)
		e.Cause = err
		return nil, e
	}
	_ = l.Close()
	if f.Forwarding, err = f.host.Forward(ctx, f.address); err != nil {
		return nil, err
	}
	return f, nil
}

// close ends the forwarding.
func (f *forwarded) close() {
	if f != nil {
		_ = f.Close()
	}
}

// forwardPause is the time between two tries to forward again.
const forwardPause = time.Second

// keep forwards until ctx ends, and again when a connection breaks.
func (f *forwarded) keep(ctx context.Context) error {
	if f == nil {
		return nil
	}
	outliveReaders()
	fmt.Fprintf(f.stderr, "http://%s leads to %s until you press Ctrl-C\n", f.address, f.host)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.Ended():
		}
		fmt.Fprintf(f.stderr, "! the connection to %s is lost: connecting again\n", f.host)
		if err := f.again(ctx); err != nil {
			return err
		}
	}
}

// again forwards once more. The error is the end of ctx.
func (f *forwarded) again(ctx context.Context) error {
	_ = f.Close()
	for {
		next, err := f.host.Forward(ctx, f.address)
		if err == nil {
			f.Forwarding = next
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(forwardPause):
		}
	}
}

// quietZone is the light frame of a QR code, in modules.
const quietZone = 4

// The colours are the same on every terminal: readers want dark modules on light ones.
const (
	blackOnWhite = "\x1b[38;5;16;48;5;231m"
	usualColours = "\x1b[0m"
)

// showQR shows a text as a QR code if out is a terminal that is wide enough.
func showQR(out io.Writer, text string) error {
	fd, ok := terminal(out)
	if !ok {
		return nil
	}
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil // It is too long for one. The text itself is shown beside it.
	}
	if width, _, err := term.GetSize(fd); err != nil || width < code.Size+2*quietZone {
		return nil
	}
	_, err = io.WriteString(out, drawQR(code))
	return err
}

// drawQR draws two modules a character, one above the other.
func drawQR(code *qr.Code) string {
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		b.WriteString(blackOnWhite)
		for x := -quietZone; x < code.Size+quietZone; x++ {
			switch above, below := code.Black(x, y), code.Black(x, y+1); {
			case above && below:
				b.WriteRune('█')
			case above:
				b.WriteRune('▀')
			case below:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(usualColours + "\n")
	}
	return b.String()
}
