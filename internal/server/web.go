package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/fleet"
	"podd/internal/guard/devices"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/socket"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// maxWebConns bounds the connections of podd web, which uses one.
const maxWebConns = 8

// webServer is the gRPC server for podd web.
func (s *Server) webServer(c Config, owner int) *grpc.Server {
	gate := webGate{owner: owner, book: c.Devices, host: c.Host, logger: c.Logger}
	// The gate comes first: what it refuses reaches no other node either.
	first := []grpc.ServerOption{grpc.Creds(newPeerCredentials()), grpc.InTapHandle(gate.tap), grpc.ChainUnaryInterceptor(gate.unary), grpc.ChainStreamInterceptor(gate.streaming)}
	g := grpc.NewServer(append(first, s.options(c, c.Fleet)...)...)
	c.register(g, c.Fleet)
	poddv1.RegisterDeviceServiceServer(g, &browsers{book: c.Devices, host: c.Host})
	return g
}

// ServeWeb serves podd web on a listener of Unix sockets until Stop, and closes it.
func (s *Server) ServeWeb(l net.Listener) error {
	limited := socket.Limit(l, maxWebConns)
	s.limitedWeb.Store(limited)
	if err := s.web.Serve(limited); !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// WebConnections is the number of connections of podd web.
func (s *Server) WebConnections() int {
	if l := s.limitedWeb.Load(); l != nil {
		return l.Open()
	}
	return 0
}

// webGate decides which calls of browsers are admitted. podd web checks nothing that podd
// relies on: each call is checked here.
type webGate struct {
	owner  int
	book   *devices.Book
	host   *pod.Host
	logger *slog.Logger
}

// tap checks each call before any of its messages is read.
func (g webGate) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	return ctx, wire.ToStatus(g.admit(ctx, info.FullMethodName, info.Header))
}

func (g webGate) admit(ctx context.Context, method string, md metadata.MD) error {
	if err := checkPeer(ctx, g.owner); err != nil || devices.LetsIn(method) {
		return err
	}
	bearer, err := bearerOf(md)
	if err != nil {
		return err
	}
	_, err = g.book.Allow(method, bearer)
	return err
}

// bearerOf is the one bearer of a call.
func bearerOf(md metadata.MD) (string, error) {
	values := md.Get("authorization")
	if len(values) == 1 {
		if bearer, ok := strings.CutPrefix(values[0], "Bearer "); ok {
			return bearer, nil
		}
	}
	return "", item.Errorf(item.KindUnauthenticated, "BEARER_MISSING", "this call needs the header \"Authorization: Bearer BEARER\" with a bearer of DeviceService.Login")
}

// hold is the context of a call, which ends with its bearer, and the call's device.
func (g webGate) hold(ctx context.Context, method string) (context.Context, func(), devices.Device, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	bearer, err := bearerOf(md)
	if err != nil {
		return nil, nil, devices.Device{}, err
	}
	return g.book.Hold(ctx, method, bearer)
}

func (g webGate) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if devices.LetsIn(info.FullMethod) {
		return handler(ctx, req)
	}
	resp, err := g.call(ctx, req, info.FullMethod, handler)
	return resp, wire.ToStatus(err)
}

func (g webGate) call(ctx context.Context, req any, method string, handler grpc.UnaryHandler) (any, error) {
	ctx, done, device, err := g.hold(ctx, method)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := restrict(req, device); err != nil {
		return nil, err
	}
	within := g.reachOf(device)
	if err := within.narrow(ctx, method, req); err != nil {
		return nil, err
	}
	ctx = withReach(ctx, within)
	if need, _ := devices.CallScope(method); need != devices.View {
		g.logger.Info("a browser calls", "device", device.Name, "method", method, "pod", fleet.PodOf(req))
	}
	resp, err := handler(ctx, req)
	if ended := devices.Ended(ctx); err != nil && ended != nil {
		return nil, ended
	}
	within.sort(ctx, resp)
	return resp, err
}

// restrict refuses what no browser may ask for, and writes the device into what names its
// client.
func restrict(req any, d devices.Device) error {
	r, ok := req.(*poddv1.ResolveApprovalRequest)
	switch {
	case !ok:
		return nil
	case r.GetAlways():
		return item.Errorf(item.KindDenied, "DEVICE_ALWAYS", "no browser can add a rule: approve this call alone, or use podctl approve --always")
	case len(r.GetDigest()) == 0:
		return item.Errorf(item.KindInvalid, "DEVICE_DIGEST", "a browser must say what it saw: send the digest of ListApprovals")
	}
	r.Client = d.Name
	return nil
}

func (g webGate) streaming(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if devices.LetsIn(info.FullMethod) {
		return handler(srv, ss)
	}
	ctx, done, device, err := g.hold(ss.Context(), info.FullMethod)
	if err != nil {
		return wire.ToStatus(err)
	}
	defer done()
	within := g.reachOf(device)
	err = handler(srv, &heldStream{ServerStream: ss, ctx: withReach(ctx, within), within: within, method: info.FullMethod})
	if ended := devices.Ended(ctx); err != nil && ended != nil {
		err = ended
	}
	return wire.ToStatus(err)
}

// heldStream is a stream whose context ends with its bearer.
type heldStream struct {
	grpc.ServerStream
	ctx    context.Context //nolint:containedctx // That of one call.
	within *reach
	method string
}

// RecvMsg receives a request, and refuses one about what is out of reach.
func (s *heldStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return s.within.narrow(s.ctx, s.method, m)
}

// Context is the context of the call.
func (s *heldStream) Context() context.Context { return s.ctx }

// browsers serves DeviceService.
type browsers struct {
	poddv1.UnimplementedDeviceServiceServer
	book *devices.Book
	host *pod.Host
}

// Pair waits for the person's answer.
func (s *browsers) Pair(r *poddv1.PairRequest, out poddv1.DeviceService_PairServer) error {
	p, nonce, err := s.book.Ask(r.GetCode(), r.GetName(), r.GetKey(), r.GetCommitment())
	if err != nil {
		return err
	}
	if err := out.Send(&poddv1.PairResponse{Kind: &poddv1.PairResponse_Nonce{Nonce: nonce}}); err != nil {
		return err
	}
	d, err := p.Await(out.Context())
	if err != nil {
		return err
	}
	return out.Send(&poddv1.PairResponse{Kind: &poddv1.PairResponse_Device{Device: deviceToProto(out.Context(), s.host, d)}})
}

// RevealNonce shows the browser at the terminal.
func (s *browsers) RevealNonce(_ context.Context, r *poddv1.RevealNonceRequest) (*poddv1.RevealNonceResponse, error) {
	return &poddv1.RevealNonceResponse{}, s.book.Reveal(r.GetCode(), r.GetNonce())
}

// GetChallenge returns a text to sign.
func (s *browsers) GetChallenge(_ context.Context, r *poddv1.GetChallengeRequest) (*poddv1.GetChallengeResponse, error) {
	text, err := s.book.Challenge(r.GetDevice())
	return &poddv1.GetChallengeResponse{Challenge: text}, err
}

// Login exchanges a signed challenge for a bearer.
func (s *browsers) Login(ctx context.Context, r *poddv1.LoginRequest) (*poddv1.LoginResponse, error) {
	bearer, expires, d, err := s.book.Login(r.GetDevice(), r.GetChallenge(), r.GetSignature())
	if err != nil {
		return nil, err
	}
	return &poddv1.LoginResponse{Bearer: bearer, ExpiresAt: timestamppb.New(expires), Device: deviceToProto(ctx, s.host, d)}, nil
}

// WebPage is what is known of podd web. Problem says why no browser can reach podd.
type WebPage struct {
	devices.Page
	Problem string
}

// web serves WebService.
type web struct {
	poddv1.UnimplementedWebServiceServer
	book *devices.Book
	host *pod.Host
	page func() WebPage
}

var deviceScopes = map[poddv1.DeviceScope]devices.Scope{
	poddv1.DeviceScope_DEVICE_SCOPE_VIEW:    devices.View,
	poddv1.DeviceScope_DEVICE_SCOPE_ANSWER:  devices.Answer,
	poddv1.DeviceScope_DEVICE_SCOPE_CONTROL: devices.Control,
}

// StartPairing reports the progress of a pairing.
func (s *web) StartPairing(r *poddv1.StartPairingRequest, out poddv1.WebService_StartPairingServer) error {
	g := devices.Grant{Scope: deviceScopes[r.GetScope()], Days: int(r.GetDays())}
	for _, named := range r.GetPods() {
		p, err := s.host.Get(out.Context(), named)
		if err != nil {
			return err
		}
		g.Pods = append(g.Pods, p.ID)
	}
	p, err := s.book.StartPairing(g)
	if err != nil {
		return err
	}
	code := &poddv1.PairingCode{Code: p.Code, ExpiresAt: timestamppb.New(p.Expires), Origin: s.page().Origin}
	if err := out.Send(&poddv1.StartPairingResponse{Kind: &poddv1.StartPairingResponse_Code{Code: code}}); err != nil {
		p.End(err)
		return err
	}
	shown := make(chan struct{})
	defer func() { <-shown }()
	go func() {
		defer close(shown)
		select {
		case b := <-p.Browser:
			_ = out.Send(&poddv1.StartPairingResponse{Kind: &poddv1.StartPairingResponse_Browser{Browser: &poddv1.PairingBrowser{Name: b.Name, Number: b.Number}}})
		case <-p.Done:
		}
	}()
	d, err := p.Await(out.Context())
	if err != nil {
		return err
	}
	<-shown
	return out.Send(&poddv1.StartPairingResponse{Kind: &poddv1.StartPairingResponse_Device{Device: deviceToProto(out.Context(), s.host, d)}})
}

// AnswerPairing lets a browser in or refuses it.
func (s *web) AnswerPairing(_ context.Context, r *poddv1.AnswerPairingRequest) (*poddv1.AnswerPairingResponse, error) {
	return &poddv1.AnswerPairingResponse{}, s.book.Answer(r.GetCode(), r.GetNumber(), r.GetAccept())
}

// ListDevices lists the paired browsers.
func (s *web) ListDevices(ctx context.Context, _ *poddv1.ListDevicesRequest) (*poddv1.ListDevicesResponse, error) {
	page := s.page()
	answer := &poddv1.ListDevicesResponse{Origin: page.Origin, Confinement: page.Confinement, Problem: page.Problem}
	for _, d := range s.book.List() {
		answer.Devices = append(answer.Devices, deviceToProto(ctx, s.host, d))
	}
	return answer, nil
}

// RevokeDevice removes a browser.
func (s *web) RevokeDevice(ctx context.Context, r *poddv1.RevokeDeviceRequest) (*poddv1.RevokeDeviceResponse, error) {
	d, err := s.book.Revoke(r.GetDevice())
	if err != nil {
		return nil, err
	}
	return &poddv1.RevokeDeviceResponse{Device: deviceToProto(ctx, s.host, d)}, nil
}

func deviceToProto(ctx context.Context, host *pod.Host, d devices.Device) *poddv1.Device {
	out := &poddv1.Device{Id: d.ID, Name: d.Name, PairedAt: timestamppb.New(d.Paired), ExpiresAt: timestamppb.New(d.Expires)}
	for scope, same := range deviceScopes {
		if same == d.Scope {
			out.Scope = scope
		}
	}
	for _, id := range d.Pods {
		shown := &poddv1.DevicePod{Id: id}
		if p, err := host.Get(ctx, id); err == nil {
			shown.Name = p.Name
		}
		out.Pods = append(out.Pods, shown)
	}
	if !d.Seen.IsZero() {
		out.SeenAt = timestamppb.New(d.Seen)
	}
	return out
}
