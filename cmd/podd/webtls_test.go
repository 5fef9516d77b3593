package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"podd/internal/testing/certs"
	"podd/internal/web/webtest"
	"podd/pkg/llm/scripted"
	poddv1 "podd/proto/podd/v1"
)

// name is what phones of these tests know the page by.
const name = "desk.example"

// phone is a browser that trusts an authority and finds the name at an address.
func phone(t *testing.T, authority, address string) *webtest.Page {
	t.Helper()
	root, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(root)
	p := &webtest.Page{T: t, Origin: "https://" + name, Client: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
	}}
	t.Cleanup(p.Client.CloseIdleConnections)
	return p
}

// At an address of the network the page has a certificate for its name, and TLS 1.3. A
// certificate that is renewed is used without a restart.
func TestWebWithCertificate(t *testing.T) {
	state := stateDir(t)
	podd := startPodd(t, state, model(t, func(context.Context, scripted.Request) scripted.Reply { return scripted.Say() }))
	c := podd.client()
	if _, err := c.Pods().CreatePod(t.Context(), &poddv1.CreatePodRequest{Name: "p", Spec: &poddv1.PodSpec{Dir: t.TempDir()}}); err != nil {
		t.Fatal(err)
	}
	authority := certs.New(t)
	files := authority.Node(name)
	w := startWeb(t, state, "--listen", "127.0.0.1:0", "--cert", files[0], "--key", files[1], "--origin", "https://"+strings.ToUpper(name)+":443")
	origin, address := w.where(t)
	if origin != "https://"+name {
		t.Errorf("the page is at %s", origin)
	}
	page := phone(t, files[2], address)
	b := webtest.New(page)
	b.Pair(t.Context(), c.Web(), &poddv1.StartPairingRequest{Scope: poddv1.DeviceScope_DEVICE_SCOPE_VIEW})
	bearer := b.Login()
	get := func() webtest.Answer { return b.Call(getPod, bearer, `{"pod":"p"}`) }
	if a := get(); a.Status != http.StatusOK {
		t.Fatalf("the pod is answered with %d %s %v", a.Status, a.Body, a.Err)
	}

	t.Run("another name", func(t *testing.T) {
		for _, host := range []string{"evil.example", address, name + ":443", "127.0.0.1"} {
			r := page.Request(getPod, bearer, `{"pod":"p"}`)
			r.Host = host
			if a := page.Do(r); a.Status != http.StatusMisdirectedRequest {
				t.Errorf("%s is answered with %d %v", host, a.Status, a.Err)
			}
		}
	})
	t.Run("older TLS", func(t *testing.T) {
		for version := uint16(tls.VersionTLS10); version <= tls.VersionTLS12; version++ {
			conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}) //nolint:gosec // It must fail.
			if err == nil {
				_ = conn.Close()
				t.Errorf("%s is spoken", tls.VersionName(version))
			}
		}
		conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // Any certificate will do.
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if conn.ConnectionState().Version != tls.VersionTLS13 {
			t.Errorf("%s is spoken", tls.VersionName(conn.ConnectionState().Version))
		}
	})
	t.Run("no TLS", func(t *testing.T) {
		plain := &webtest.Page{T: t, Origin: "http://" + name, Client: &http.Transport{DialContext: page.Client.DialContext}}
		defer plain.Client.CloseIdleConnections()
		if a := plain.Document(); a.Err == nil && a.Status == http.StatusOK {
			t.Error("the page is served without TLS")
		}
	})
	t.Run("renewed", func(t *testing.T) {
		serial := func() string {
			conn, err := tls.Dial("tcp", address, page.Client.TLSClientConfig.Clone())
			if err != nil {
				return err.Error()
			}
			defer conn.Close()
			return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
		}
		page.Client.TLSClientConfig.ServerName = name
		before := serial()
		_ = w.Process.Signal(syscall.SIGHUP)
		w.says(t, "the certificate is the same as before")
		authority.Valid(name, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
		_ = w.Process.Signal(syscall.SIGHUP)
		w.says(t, "renew it; still using the previous certificate")
		if now := serial(); now != before {
			t.Errorf("the expired certificate replaced %s: %s", before, now)
		}
		authority.Valid(name, time.Now().Add(-time.Hour), time.Now().Add(90*24*time.Hour))
		_ = w.Process.Signal(syscall.SIGHUP)
		w.says(t, "the certificate is renewed, until")
		eventually(t, "the renewed certificate", func() bool { return serial() != before })
		eventually(t, "the page", func() bool { return get().Status == http.StatusOK })
	})
}

// What is wrong with a certificate is said with what to do about it.
func TestWebRefusesCertificates(t *testing.T) {
	authority := certs.New(t)
	good := authority.Node(name)
	expired := certs.New(t).Valid(name, time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
	early := certs.New(t).Valid(name, time.Now().Add(time.Hour), time.Now().Add(2*time.Hour))
	other := authority.Node("other.example")
	broken := filepath.Join(t.TempDir(), "broken.pem")
	if err := os.WriteFile(broken, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for what, test := range map[string]struct{ cert, key, says string }{
		"none":             {filepath.Join(dir, "none.pem"), good[1], "none.pem does not exist: check --cert"},
		"no key":           {good[0], filepath.Join(dir, "none.key"), "none.key does not exist: check --key"},
		"a directory":      {dir, good[1], "cannot read the certificate " + dir},
		"a broken one":     {broken, good[1], "cannot use the certificate " + broken},
		"another's key":    {good[0], other[1], "private key does not match public key"},
		"of another name":  {other[0], other[1], "is not for desk.example: get one for that name, or change --origin"},
		"an expired one":   {expired[0], expired[1], ": renew it"},
		"a future one":     {early[0], early[1], "check the clock of this machine"},
		"nothing but cert": {good[0], "", "--cert, --key and --origin belong together"},
	} {
		w := startWeb(t, stateDir(t), "--listen", "127.0.0.1:0", "--cert", test.cert, "--key", test.key, "--origin", "https://"+name)
		_ = w.Wait()
		if code, log := w.ProcessState.ExitCode(), w.log.String(); code != exitUsage || !strings.Contains(log, test.says) {
			t.Errorf("%s: exit code %d: %s", what, code, log)
		}
	}
}
