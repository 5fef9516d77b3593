// Package webtest is a browser for tests: it pairs, logs in and makes calls as the page does.
//
// Rank 6.
package webtest

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
	"net/http"
	"testing"

	"podd/internal/guard/devices"
	poddv1 "podd/proto/podd/v1"
)

// Page is the page's code in a browser. Client may be nil.
type Page struct {
	T      testing.TB
	Origin string
	Client *http.Transport
}

// Answer is an answer of podd web.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error
}

// Reason is the reason of podd's error, or else the code.
func (a Answer) Reason() string {
	var e struct {
		Code    string
		Details []struct{ Debug struct{ Reason string } }
	}
	_ = json.Unmarshal(a.Body, &e)
	for _, d := range e.Details {
		if d.Debug.Reason != "" {
			return d.Debug.Reason
		}
	}
	return e.Code
}

// Field is a text of the answer; empty if it has none.
func (a Answer) Field(name string) string {
	var fields map[string]any
	_ = json.Unmarshal(a.Body, &fields)
	text, _ := fields[name].(string)
	return text
}

func (p *Page) check(err error) {
	p.T.Helper()
	if err != nil {
		p.T.Fatal(err)
	}
}

// Request is a request as the page makes it.
func (p *Page) Request(path, bearer, body string) *http.Request {
	r, err := http.NewRequestWithContext(p.T.Context(), http.MethodPost, p.Origin+path, bytes.NewReader([]byte(body)))
	p.check(err)
	r.Header.Set("Origin", p.Origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return r
}

// Document asks for the page itself.
func (p *Page) Document() Answer {
	r, err := http.NewRequestWithContext(p.T.Context(), http.MethodGet, p.Origin+"/", nil)
	p.check(err)
	r.Header.Set("Sec-Fetch-Site", "none")
	return p.Do(r)
}

func (p *Page) send(r *http.Request) (*http.Response, error) {
	if p.Client != nil {
		return p.Client.RoundTrip(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Do sends a request and reads the answer.
func (p *Page) Do(r *http.Request) Answer {
	resp, err := p.send(r)
	if err != nil {
		return Answer{Err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, body, err}
}

// Call is a unary call.
func (p *Page) Call(path, bearer, body string) Answer { return p.Do(p.Request(path, bearer, body)) }

// Stream makes a call that streams.
func (p *Page) Stream(path, bearer, body string) *Stream {
	p.T.Helper()
	framed := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...) //nolint:gosec // Short.
	r := p.Request(path, bearer, string(framed))
	r.Header.Set("Content-Type", "application/connect+json")
	resp, err := p.send(r)
	p.check(err)
	p.T.Cleanup(func() { _ = resp.Body.Close() })
	return &Stream{resp}
}

// Stream is the answer of a call that streams.
type Stream struct{ *http.Response }

// Next is the next message; last says that the stream ends with it, which may be an error.
func (s *Stream) Next() (message Answer, last bool) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(s.Body, head); err != nil {
		return Answer{Err: err}, true
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:]))
	_, err := io.ReadFull(s.Body, body)
	if last = head[0]&2 != 0; last {
		var end struct{ Error json.RawMessage }
		_ = json.Unmarshal(body, &end)
		body = end.Error
	}
	return Answer{Body: body, Err: err}, last
}

// Ended reads to the end and returns the reason of its error.
func (s *Stream) Ended() string {
	for {
		if m, last := s.Next(); last {
			return m.Reason()
		}
	}
}

// Browser is a page with a key.
type Browser struct {
	*Page
	key *ecdsa.PrivateKey
	// Key is the public key, and Nonce what the browser promises.
	Key, Nonce []byte
	// Device is its id, once it is paired.
	Device string
}

// New makes a browser, which is not paired.
func New(p *Page) *Browser {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p.check(err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	p.check(err)
	nonce := make([]byte, 32)
	_, _ = rand.Read(nonce)
	return &Browser{Page: p, key: key, Key: der, Nonce: nonce}
}

// Encode makes JSON.
func (p *Page) Encode(fields map[string]any) string {
	p.T.Helper()
	text, err := json.Marshal(fields)
	p.check(err)
	return string(text)
}

// Ask sends the code, and the browser's key.
func (b *Browser) Ask(code string) *Stream {
	b.T.Helper()
	sum := sha256.Sum256(b.Nonce)
	return b.Stream(poddv1.DeviceService_Pair_FullMethodName, "", b.Encode(map[string]any{"code": code, "name": "test", "key": b.Key, "commitment": sum[:]}))
}

// Reveal sends the nonce.
func (b *Browser) Reveal(code string) Answer {
	return b.Call(poddv1.DeviceService_RevealNonce_FullMethodName, "", b.Encode(map[string]any{"code": code, "nonce": b.Nonce}))
}

// Pair pairs the browser and returns the device as the terminal sees it. ctx has the client
// token.
func (b *Browser) Pair(ctx context.Context, podd poddv1.WebServiceClient, r *poddv1.StartPairingRequest) *poddv1.Device {
	b.T.Helper()
	terminal, err := podd.StartPairing(ctx, r)
	b.check(err)
	m, err := terminal.Recv()
	b.check(err)
	code := m.GetCode().GetCode()
	stream := b.Ask(code)
	first, _ := stream.Next()
	var nonce struct{ Nonce []byte }
	b.check(json.Unmarshal(first.Body, &nonce))
	if a := b.Reveal(code); a.Status != http.StatusOK {
		b.T.Fatalf("the nonce is refused: %d %s", a.Status, a.Body)
	}
	m, err = terminal.Recv()
	b.check(err)
	number := devices.Number(code, b.Nonce, nonce.Nonce, b.Key)
	if m.GetBrowser().GetNumber() != number || m.GetBrowser().GetName() != "test" {
		b.T.Fatalf("the terminal shows %v, the browser %s", m, number)
	}
	_, err = podd.AnswerPairing(ctx, &poddv1.AnswerPairingRequest{Code: code, Number: number, Accept: true})
	b.check(err)
	second, _ := stream.Next()
	var paired struct{ Device struct{ ID string } }
	b.check(json.Unmarshal(second.Body, &paired))
	if m, err = terminal.Recv(); err != nil || m.GetDevice().GetId() != paired.Device.ID {
		b.T.Fatalf("the terminal got %v, %v", m, err)
	}
	b.Device = paired.Device.ID
	return m.GetDevice()
}

// Challenge asks for a text to sign.
func (b *Browser) Challenge() string {
	return b.Call(poddv1.DeviceService_GetChallenge_FullMethodName, "", b.Encode(map[string]any{"device": b.Device})).Field("challenge")
}

// Sign signs a challenge.
func (b *Browser) Sign(text string) []byte {
	sum := sha256.Sum256([]byte("podd-web-login/1\n" + b.Device + "\n" + text))
	r, s, err := ecdsa.Sign(rand.Reader, b.key, sum[:])
	b.check(err)
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
}

// LoginWith sends a signature.
func (b *Browser) LoginWith(challenge string, signature []byte) Answer {
	return b.Call(poddv1.DeviceService_Login_FullMethodName, "", b.Encode(map[string]any{"device": b.Device, "challenge": challenge, "signature": signature}))
}

// Login returns a bearer.
func (b *Browser) Login() string {
	b.T.Helper()
	challenge := b.Challenge()
	a := b.LoginWith(challenge, b.Sign(challenge))
	if a.Status != http.StatusOK || a.Field("bearer") == "" {
		b.T.Fatalf("the login is refused: %d %s (%v)", a.Status, a.Body, a.Err)
	}
	return a.Field("bearer")
}
