package web_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"podd/internal/guard/devices"
	"podd/internal/guard/trust"
	"podd/internal/search"
	"podd/internal/server"
	"podd/internal/web"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/llm/scripted"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/workspace"
	poddv1 "podd/proto/podd/v1"
)

const token = "s3cret"

// stage is a podd with the pod "p", and podd web beside it.
type stage struct {
	t      *testing.T
	origin string
	// podd is podd's own socket.
	podd  *grpc.ClientConn
	book  *devices.Book
	state string
}

// newStage starts both on real sockets. change changes what podd web is.
func newStage(t *testing.T, change ...func(*web.Config)) *stage {
	t.Helper()
	state, err := os.MkdirTemp("", "web") //nolint:usetesting // A socket's path has to be short.
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	model, err := scripted.Serve(scripted.Config{Handler: func(context.Context, scripted.Request) scripted.Reply { return scripted.Say(scripted.Text("hello")) }})
	check(t, err)
	llms, err := openai.New(openai.Config{BaseURL: model.URL()})
	check(t, err)
	bolt, err := store.OpenBolt(store.BoltConfig{Path: filepath.Join(state, "podd.db")})
	check(t, err)
	works, err := workspace.New(workspace.Config{SpoolDir: filepath.Join(state, "spool")}, workspace.Settings{})
	check(t, err)
	host, err := pod.NewHost(t.Context(), pod.Config{Fixed: pod.Fixed{Store: bolt, Workspaces: works}, Settings: pod.Settings{Router: llm.One(llms)}})
	check(t, err)
	book, err := devices.Open(state)
	check(t, err)
	trusted, err := trust.Open(state, nil, nil)
	check(t, err)
	s := server.New(server.Config{
		Host: host, Token: token, Trust: trusted, Search: search.New(bolt), Logger: slog.New(slog.DiscardHandler),
		Status: func() server.Status { return server.Status{Sandbox: "none"} }, Devices: book, Page: func() server.WebPage { return server.WebPage{} },
	})
	own, err := net.Listen("unix", filepath.Join(state, "podd.sock"))
	check(t, err)
	forWeb, err := net.Listen("unix", devices.SocketPath(state))
	check(t, err)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	c := web.Config{Listener: tcp, Origin: "http://" + tcp.Addr().String(), Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", devices.SocketPath(state))
	}}
	for _, change := range change {
		change(&c)
	}
	served := make(chan error, 3)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- s.Serve(own) }()
	go func() { served <- s.ServeWeb(forWeb) }()
	go func() { served <- web.Serve(ctx, c) }()
	conn, err := grpc.NewClient("unix:"+filepath.Join(state, "podd.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		host.Close(context.Background())
		_ = conn.Close()
		s.Stop(context.Background())
		for range 3 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
		_ = bolt.Close()
		llms.Close()
		_ = model.Close()
	})
	_, err = poddv1.NewPodServiceClient(conn).CreatePod(withToken(t.Context()), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: t.TempDir()}})
	check(t, err)
	// So that a stream of alerts sends one at once.
	host.Alerts.Raise(item.LevelWarn, "test", "an alert")
	return &stage{t: t, origin: c.Origin, podd: conn, book: book, state: state}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func withToken(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// answered is an answer of podd web.
type answered struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// reason is the reason of podd's error, or else the code.
func (a answered) reason() string {
	var e struct {
		Code    string
		Details []struct{ Debug struct{ Reason string } }
	}
	_ = json.Unmarshal(a.body, &e)
	for _, d := range e.Details {
		if d.Debug.Reason != "" {
			return d.Debug.Reason
		}
	}
	return e.Code
}

// field is a field of the answer; "" if it has none.
func (a answered) field(name string) string {
	var fields map[string]any
	_ = json.Unmarshal(a.body, &fields)
	text, _ := fields[name].(string)
	return text
}

// request is a request as the page makes it.
func (s *stage) request(path, bearer, body string) *http.Request {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.origin+path, bytes.NewReader([]byte(body)))
	check(s.t, err)
	r.Header.Set("Origin", s.origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return r
}

func (s *stage) do(r *http.Request) answered {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return answered{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, resp.Header, body, err}
}

// call is a unary call of the page.
func (s *stage) call(path, bearer, body string) answered {
	return s.do(s.request(path, bearer, body))
}

// stream makes a streaming call and returns its messages as JSON, and the last one's error.
func (s *stage) stream(path, bearer, body string) *streaming {
	s.t.Helper()
	framed := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	r := s.request(path, bearer, string(framed))
	r.Header.Set("Content-Type", "application/connect+json")
	resp, err := http.DefaultTransport.RoundTrip(r)
	check(s.t, err)
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	return &streaming{resp}
}

type streaming struct{ *http.Response }

// next is the next message; last says that the stream ends with it.
func (s *streaming) next() (message answered, last bool) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(s.Body, head); err != nil {
		return answered{err: err}, true
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(s.Body, body)
	if last = head[0]&2 != 0; last {
		var end struct{ Error json.RawMessage }
		_ = json.Unmarshal(body, &end)
		body = end.Error
	}
	return answered{body: body, err: err}, last
}

// browser is a page that pairs and logs in.
type browser struct {
	*stage
	key    *ecdsa.PrivateKey
	der    []byte
	nonce  []byte
	device string
}

func (s *stage) newBrowser() *browser {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(s.t, err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	check(s.t, err)
	nonce := make([]byte, 32)
	_, _ = rand.Read(nonce)
	return &browser{stage: s, key: key, der: der, nonce: nonce}
}

func encode(t testing.TB, fields map[string]any) string {
	t.Helper()
	text, err := json.Marshal(fields)
	check(t, err)
	return string(text)
}

// ask sends the code, and the browser's key.
func (b *browser) ask(code string) *streaming {
	b.t.Helper()
	sum := sha256.Sum256(b.nonce)
	return b.stream("/podd.v1.DeviceService/Pair", "", encode(b.t, map[string]any{"code": code, "name": "test", "key": b.der, "commitment": sum[:]}))
}

func (b *browser) reveal(code string) answered {
	return b.call("/podd.v1.DeviceService/RevealNonce", "", encode(b.t, map[string]any{"code": code, "nonce": b.nonce}))
}

// terminal is podctl web pair.
func (s *stage) terminal(scope poddv1.DeviceScope) (stream poddv1.WebService_StartPairingClient, code string) {
	s.t.Helper()
	stream, err := poddv1.NewWebServiceClient(s.podd).StartPairing(withToken(s.t.Context()), &poddv1.StartPairingRequest{Scope: scope})
	check(s.t, err)
	m, err := stream.Recv()
	check(s.t, err)
	return stream, m.GetCode().GetCode()
}

// pair pairs a browser: both sides show the same number.
func (s *stage) pair(scope poddv1.DeviceScope) *browser {
	s.t.Helper()
	terminal, code := s.terminal(scope)
	b := s.newBrowser()
	stream := b.ask(code)
	first, _ := stream.next()
	var nonce struct{ Nonce []byte }
	check(s.t, json.Unmarshal(first.body, &nonce))
	if a := b.reveal(code); a.status != http.StatusOK {
		s.t.Fatalf("the nonce is refused: %d %s", a.status, a.body)
	}
	m, err := terminal.Recv()
	check(s.t, err)
	number := devices.Number(code, b.nonce, nonce.Nonce, b.der)
	if m.GetBrowser().GetNumber() != number || m.GetBrowser().GetName() != "test" {
		s.t.Fatalf("the terminal shows %v, the browser %s", m, number)
	}
	_, err = poddv1.NewWebServiceClient(s.podd).AnswerPairing(withToken(s.t.Context()), &poddv1.AnswerPairingRequest{Code: code, Number: number, Accept: true})
	check(s.t, err)
	second, _ := stream.next()
	var paired struct{ Device struct{ ID string } }
	check(s.t, json.Unmarshal(second.body, &paired))
	if m, err = terminal.Recv(); err != nil || m.GetDevice().GetId() != paired.Device.ID {
		s.t.Fatalf("the terminal got %v, %v", m, err)
	}
	b.device = paired.Device.ID
	return b
}

func (b *browser) challenge() string {
	return b.call("/podd.v1.DeviceService/GetChallenge", "", encode(b.t, map[string]any{"device": b.device})).field("challenge")
}

func (b *browser) sign(text string) []byte {
	sum := sha256.Sum256([]byte("podd-web-login/1\n" + b.device + "\n" + text))
	r, s, err := ecdsa.Sign(rand.Reader, b.key, sum[:])
	check(b.t, err)
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
}

func (b *browser) loginWith(challenge string, signature []byte) answered {
	return b.call("/podd.v1.DeviceService/Login", "", encode(b.t, map[string]any{"device": b.device, "challenge": challenge, "signature": signature}))
}

// login returns a bearer.
func (b *browser) login() string {
	b.t.Helper()
	challenge := b.challenge()
	a := b.loginWith(challenge, b.sign(challenge))
	if a.status != http.StatusOK || a.field("bearer") == "" {
		b.t.Fatalf("the login is refused: %d %s", a.status, a.body)
	}
	return a.field("bearer")
}
