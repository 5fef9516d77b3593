package triggers_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"podd/internal/triggers"
	"podd/pkg/item"
	"podd/pkg/store"
)

// hooks are those of each house: one podd answers them all.
func hooks() triggers.Webhooks {
	return triggers.Webhooks{URL: "http://127.0.0.1:1", Key: "key", Send: func(ctx context.Context, req any, _ string, here grpc.UnaryHandler) (any, error) {
		return here(ctx, req)
	}}
}

// post sends a webhook to the trigger t without a network.
func (h *house) post(id, body string) (status int, answer map[string]any) {
	h.t.Helper()
	secret, err := h.wing.Secret(h.t.Context(), "site", "t")
	check(h.t, err)
	r := httptest.NewRequestWithContext(h.t.Context(), http.MethodPost, "/t/site/t", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Idempotency-Key", id)
	w := httptest.NewRecorder()
	h.wing.ServeHTTP(w, r)
	check(h.t, json.Unmarshal(w.Body.Bytes(), &answer))
	if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		h.t.Error("503 does not say when to try again")
	}
	return w.Code, answer
}

// A kill after each write of a webhook: podd answers 2xx only if the next podd knows the delivery, which has one fire.
func TestWebhookKilledAtEachWrite(t *testing.T) {
	for n, over := 0, false; !over; n++ {
		t.Run(fmt.Sprintf("after %d writes", n), func(t *testing.T) {
			h := newHouse(t)
			h.set(triggers.Spec{Event: true, Webhook: true}, false)
			h.stop()
			cut := &cutStore{left: n, killed: make(chan struct{})}
			h.under = func(s store.Store) store.Store {
				cut.Store = s
				return cut
			}
			h.open()
			status, _ := h.post("d", "x")
			accepted := status == http.StatusAccepted
			if !accepted && status != http.StatusServiceUnavailable {
				t.Errorf("podd answers %d", status)
			}
			if accepted {
				over = h.settles(cut.killed)
			}
			cut.kill()
			h.stop()
			h.under = nil
			h.open()
			if status, answer := h.post("d", "x"); accepted && status != http.StatusOK || status/100 != 2 || answer["fire"] != 1.0 {
				t.Fatalf("accepted: %t; the delivery again: %d, %v", accepted, status, answer)
			}
			h.receipts("12:00 fired 1 finished")
		})
	}
}

// full is a store without space.
type full struct{ store.Store }

// Append refuses.
func (full) Append(context.Context, store.Batch) (store.Appended, error) {
	return store.Appended{}, item.Errorf(item.KindExhausted, store.ReasonNoSpace, "the disk is full")
}

// What podd can't take now, it refuses with 503: no space, a hundred fires that wait, its end.
func TestWebhookLater(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true, Webhook: true}, false)
	h.stop()
	h.under = func(s store.Store) store.Store { return full{s} }
	h.open()
	if status, answer := h.post("d", "x"); status != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(answer["error"]), "full") {
		t.Errorf("without space podd answers %d, %v", status, answer)
	}
	h.stop()
	h.under = nil
	h.open()
	for n := range 106 {
		if status, answer := h.post(fmt.Sprint(n), "x"); status != http.StatusAccepted {
			if n < 100 || status != http.StatusServiceUnavailable {
				t.Fatalf("delivery %d: %d, %v", n, status, answer)
			}
			break
		} else if n == 105 {
			h.await("100 waiting", func() string {
				all, err := h.wing.List(t.Context(), "site")
				check(t, err)
				return fmt.Sprint(all[0].Waiting, " waiting")
			})
			if status, answer := h.post("more", "x"); status != http.StatusServiceUnavailable {
				t.Errorf("with 100 fires that wait podd answers %d, %v", status, answer)
			}
		}
	}
	h.host.Close(t.Context())
	if status, answer := h.post("end", "x"); status != http.StatusServiceUnavailable {
		t.Errorf("a podd that stops answers %d, %v", status, answer)
	}
}

// A body is cut at a whole character.
func TestWebhookIsCut(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true, Webhook: true}, false)
	if status, _ := h.post("d", "x"+strings.Repeat("é", 500_000)); status != http.StatusAccepted {
		t.Fatalf("podd answers %d", status)
	}
	h.receipts("12:00 fired 1 finished")
	pasted := ""
	p, err := h.host.Store.Pod(t.Context(), "site")
	check(t, err)
	check(t, h.host.Logs.Entries(t.Context(), p.ID, 0, nil, func(e item.Entry) bool {
		if s, ok := e.Kind.(item.Submitted); ok {
			for _, segment := range s.Segments {
				if paste, ok := segment.(item.PasteSegment); ok {
					pasted = paste.Text
				}
			}
		}
		return true
	}))
	if text, ok := strings.CutSuffix(pasted, "\n[cut]"); !ok || len(pasted) > 64<<10 || len(pasted) < 64<<10-2 || strings.Trim(text[1:], "é") != "" {
		t.Errorf("the model gets %d bytes, which end in %q", len(pasted), pasted[max(len(pasted)-20, 0):])
	}
}

// serve serves a handler by a listener, until the test ends.
func serve(t *testing.T, files []string, h http.Handler) (l *triggers.Listener, served <-chan struct{}) {
	t.Helper()
	l, err := triggers.Listen(t.Context(), "127.0.0.1:0", files)
	check(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(h)
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l, done
}

// Senders that send nothing, a head without its end, or a body without its end, hold up neither others nor the end.
func TestSlowSenders(t *testing.T) {
	begun := make(chan struct{}, 40)
	l, done := serve(t, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	address := strings.TrimPrefix(l.URL(), "http://")
	for n := range 40 {
		conn, err := net.Dial("tcp", address)
		check(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, []string{"", "POST /t/site/t HTTP/1.1\r\nHost: h\r\n"}[n%2])
		check(t, err)
	}
	conn, err := net.Dial("tcp", address)
	check(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /t/site/t HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf")
	check(t, err)
	<-begun
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.URL(), nil)
	check(t, err)
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	check(t, err)
	check(t, resp.Body.Close())
	l.Close()
	<-done
	_ = conn.SetReadDeadline(time.Time{})
	if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
		t.Error("a request was answered after the end")
	}
}

// certificate writes a certificate for 127.0.0.1 and its key.
func certificate(t *testing.T, files []string, name string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	check(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	check(t, os.WriteFile(files[0], cert, 0o600))
	check(t, os.WriteFile(files[1], pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// The certificate is read again once its files have changed.
func TestCertificate(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "crt"), filepath.Join(dir, "key")}
	pool := certificate(t, files, "one")
	l, _ := serve(t, files, http.NotFoundHandler())
	name := func() string {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(l.URL(), "https://"), &tls.Config{RootCAs: pool})
		check(t, err)
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].DNSNames[0]
	}
	if got := name(); got != "one" {
		t.Errorf("the certificate is for %s", got)
	}
	check(t, os.WriteFile(files[0], []byte("half"), 0o600))
	if got := name(); got != "one" {
		t.Errorf("with a broken file the certificate is for %s", got)
	}
	pool = certificate(t, files, "two")
	for _, file := range files {
		check(t, os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)))
	}
	if got := name(); got != "two" {
		t.Errorf("later the certificate is for %s", got)
	}
}

// Whatever a sender sends without the secret, podd answers 4xx, and with it never 5xx.
func FuzzWebhook(f *testing.F) {
	for _, seed := range [][3]string{
		{"application/json", `{"a":{"b":[1,"x"]}}`, ".a.b[1]"}, {"application/x-www-form-urlencoded", "payload=%7B%7D", ".a"},
		{"application/x-www-form-urlencoded", "payload=%zz", ".a[0]"}, {"", "\xff\x00", ".é"}, {"text/plain; x=\"", "[[[[", ".a[4294967296]"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, kind, body, path string) {
		data, refusal, err := triggers.Data(kind, []byte(body), path)
		if err == nil && refusal == "" && !strings.HasPrefix(data, strings.ToValidUTF8(path, "�")+": ") {
			t.Errorf("%q of %q is %q", path, body, data)
		}
	})
}

// What a path of jq leads to.
func TestSelect(t *testing.T) {
	const body = `{"a":{"b-c":[1,{"d":"two\nlines"}],"n":12345678901234567890},"t":true}`
	for path, want := range map[string]string{
		".a.b-c[0]": "1", ".a.b-c[1].d": "two\nlines", ".a.b-c[2]": "null", ".a.b-c.d": "null", ".a.n": "12345678901234567890", ".t": "true", ".t.x": "null",
		".a.b-c": `[1,{"d":"two\nlines"}]`, ".A": "null",
	} {
		if got, refusal, err := triggers.Data("application/json", []byte(body), path); got != path+": "+want+"\n" || refusal != "" || err != nil {
			t.Errorf("%s is %q, %q, %v", path, got, refusal, err)
		}
	}
	for _, path := range []string{"", ".", "a", ".[0]", ".a.", ".a[", ".a[x]", ".a[-1]", ".a b", ".a[0]b", "..a", ".a|.b", "." + strings.Repeat("a", 200)} {
		if _, _, err := triggers.Data("application/json", []byte(body), path); err == nil {
			t.Errorf("%q is a path", path)
		}
	}
}

// sent is the answer to a request.
func (h *house) sent(path, head, value, body string) (status int, answer string) {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), http.MethodPost, path, struct{ io.Reader }{strings.NewReader(body)}) // Of unknown length.
	r.Header.Set(head, value)
	w := httptest.NewRecorder()
	h.wing.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// signature is that of a body, as GitHub makes it.
func signature(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Only a sender with the secret fires a trigger, and only with the body that was signed.
func TestWebhookSecret(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true, Webhook: true}, false)
	secret, err := h.wing.Secret(t.Context(), "site", "t")
	check(t, err)
	good := signature(secret, "body")
	for _, tt := range []struct {
		head, value, body string
		want              int
	}{
		{"X-Hub-Signature-256", good, "body", http.StatusAccepted},
		{"X-Hub-Signature-256", good, "body ", http.StatusUnauthorized},
		{"X-Hub-Signature-256", strings.TrimPrefix(good, "sha256="), "body", http.StatusUnauthorized},
		{"X-Hub-Signature-256", strings.ToUpper(good), "body", http.StatusUnauthorized},
		{"X-Hub-Signature-256", "sha256=", "body", http.StatusUnauthorized},
		{"X-Hub-Signature", good, "body", http.StatusUnauthorized},
		{"Authorization", "Bearer " + secret, "body", http.StatusAccepted},
		{"Authorization", "Bearer ", "body", http.StatusUnauthorized},
		{"Authorization", "Bearer " + secret[:len(secret)-1], "body", http.StatusUnauthorized},
		{"Authorization", secret, "body", http.StatusUnauthorized},
	} {
		if got, _ := h.sent("/t/site/t", tt.head, tt.value, tt.body); got != tt.want {
			t.Errorf("%s: %s of %q: %d, want %d", tt.head, tt.value, tt.body, got, tt.want)
		}
	}
	status, answer := h.sent("/t/site/t", "X-Hub-Signature-256", "sha256=0", "body")
	for _, path := range []string{"/t/site/none", "/t/none/t"} {
		if s, a := h.sent(path, "X-Hub-Signature-256", "sha256=0", "body"); s != status || a != answer {
			t.Errorf("%s: %d, %s; a trigger that there is: %d, %s", path, s, a, status, answer)
		}
	}
	h.set(triggers.Spec{Event: true}, true)
	if got, _ := h.sent("/t/site/t", "X-Hub-Signature-256", good, "body"); got != http.StatusUnauthorized {
		t.Errorf("a trigger that has no webhook any more: %d", got)
	}
}

// A body has a limit, also one that does not tell its length.
func TestLargeWebhook(t *testing.T) {
	h := newHouse(t)
	h.set(triggers.Spec{Event: true, Webhook: true}, false)
	secret, err := h.wing.Secret(t.Context(), "site", "t")
	check(t, err)
	for size, want := range map[int]int{1 << 20: http.StatusAccepted, 1<<20 + 1: http.StatusRequestEntityTooLarge} {
		body := strings.Repeat("x", size)
		if got, _ := h.sent("/t/site/t", "X-Hub-Signature-256", signature(secret, body), body); got != want {
			t.Errorf("a body of %d bytes: %d, want %d", size, got, want)
		}
	}
}
