package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"podd/internal/guard/devices"
	"podd/internal/web/webtest"
	poddv1 "podd/proto/podd/v1"
)

func (s *stage) answerPairing(code, number string, accept bool) error {
	_, err := poddv1.NewWebServiceClient(s.podd).AnswerPairing(withToken(s.t.Context()), &poddv1.AnswerPairingRequest{Code: code, Number: number, Accept: accept})
	return err
}

// A code lets one browser in, once, and only the one whose number the person saw.
func TestPairing(t *testing.T) {
	s := newStage(t)
	t.Run("guessed", func(t *testing.T) {
		terminal, code := s.terminal(view)
		for range 5 {
			if got := webtest.New(s.Page).Ask("BBBBBBBBBB").Ended(); got != "PAIRING_CODE" {
				t.Errorf("a wrong code ends with %q", got)
			}
		}
		if _, err := terminal.Recv(); err == nil || !strings.Contains(err.Error(), "wrong codes") {
			t.Errorf("the terminal gets %v", err)
		}
		if got := webtest.New(s.Page).Ask(code).Ended(); got != "PAIRING_CODE" {
			t.Errorf("the code after five wrong ones ends with %q", got)
		}
	})
	t.Run("reused", func(t *testing.T) {
		_, code := s.terminal(view)
		first := webtest.New(s.Page)
		stream := first.Ask(code)
		stream.Next()
		if got := webtest.New(s.Page).Ask(code).Ended(); got != "PAIRING_CODE" {
			t.Errorf("the second browser ends with %q", got)
		}
		if got := stream.Ended(); got != "PAIRING_ENDED" {
			t.Errorf("the first browser ends with %q", got)
		}
	})
	t.Run("after it was used", func(t *testing.T) {
		terminal, code := s.terminal(view)
		b := webtest.New(s.Page)
		stream := b.Ask(code)
		stream.Next()
		b.Reveal(code)
		m, err := terminal.Recv()
		check(t, err)
		check(t, s.answerPairing(code, m.GetBrowser().GetNumber(), true))
		if _, err := terminal.Recv(); err != nil {
			t.Fatal(err)
		}
		if got := webtest.New(s.Page).Ask(code).Ended(); got != "PAIRING_CODE" {
			t.Errorf("a used code ends with %q", got)
		}
	})
	t.Run("swapped key", func(t *testing.T) {
		// Who swaps the key cannot choose the number: podd's nonce comes after the key and after
		// the promise of the other nonce.
		terminal, code := s.terminal(view)
		page, thief := webtest.New(s.Page), webtest.New(s.Page)
		stream := thief.Ask(code)
		first, _ := stream.Next()
		var nonce struct{ Nonce []byte }
		check(t, json.Unmarshal(first.Body, &nonce))
		thief.Reveal(code)
		m, err := terminal.Recv()
		check(t, err)
		number := devices.Number(code, page.Nonce, nonce.Nonce, page.Key)
		if m.GetBrowser().GetNumber() == number {
			t.Error("both browsers have one number")
		}
		check(t, s.answerPairing(code, number, true))
		if got := stream.Ended(); got != "PAIRING_REFUSED" {
			t.Errorf("the thief ends with %q", got)
		}
	})
	t.Run("another nonce than promised", func(t *testing.T) {
		_, code := s.terminal(view)
		b := webtest.New(s.Page)
		stream := b.Ask(code)
		stream.Next()
		b.Nonce = webtest.New(s.Page).Nonce
		if a := b.Reveal(code); a.Reason() != "PAIRING_NONCE" {
			t.Errorf("it is answered with %d %s", a.Status, a.Body)
		}
		if got := stream.Ended(); got != "PAIRING_NONCE" {
			t.Errorf("the browser ends with %q", got)
		}
	})
	t.Run("refused", func(t *testing.T) {
		terminal, code := s.terminal(view)
		b := webtest.New(s.Page)
		stream := b.Ask(code)
		stream.Next()
		b.Reveal(code)
		m, err := terminal.Recv()
		check(t, err)
		check(t, s.answerPairing(code, m.GetBrowser().GetNumber(), false))
		if got := stream.Ended(); got != "PAIRING_REFUSED" {
			t.Errorf("it ends with %q", got)
		}
	})
	t.Run("answered before the browser came", func(t *testing.T) {
		_, code := s.terminal(view)
		if err := s.answerPairing(code, "", true); err == nil {
			t.Error("a browser is let in before it came")
		}
	})
	t.Run("bad input", func(t *testing.T) {
		_, code := s.terminal(view)
		good := webtest.New(s.Page)
		for name, change := range map[string]map[string]any{
			"no key":            {"key": []byte("no")},
			"no name":           {"name": " "},
			"long name":         {"name": strings.Repeat("n", 65)},
			"a short promise":   {"commitment": []byte("short")},
			"a key of no curve": {"key": good.Key[:40]},
		} {
			fields := map[string]any{"code": code, "name": "test", "key": good.Key, "commitment": make([]byte, 32)}
			for field, value := range change {
				fields[field] = value
			}
			if got := s.Stream("/podd.v1.DeviceService/Pair", "", s.Encode(fields)).Ended(); !strings.HasPrefix(got, "DEVICE_") && got != "PAIRING_NONCE" {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
	for name, r := range map[string]*poddv1.StartPairingRequest{"no scope": {}, "days": {Scope: view, Days: 367}, "unknown scope": {Scope: 9}} {
		stream, err := poddv1.NewWebServiceClient(s.podd).StartPairing(withToken(t.Context()), r)
		check(t, err)
		if _, err := stream.Recv(); err == nil {
			t.Errorf("%s: a code is made", name)
		}
	}
	stream, err := poddv1.NewWebServiceClient(s.podd).StartPairing(t.Context(), &poddv1.StartPairingRequest{Scope: control})
	check(t, err)
	if _, err := stream.Recv(); err == nil {
		t.Error("a code is made without the client token")
	}
}

// A signature opens one session of its device, once.
func TestLogin(t *testing.T) {
	s := newStage(t)
	b, other := s.pair(view), s.pair(view)
	challenge := b.Challenge()
	if a := b.LoginWith(challenge, other.Sign(challenge)); a.Reason() != "LOGIN" {
		t.Errorf("another key: %d %s", a.Status, a.Body)
	}
	if a := b.LoginWith(challenge, b.Sign(challenge)); a.Reason() != "LOGIN" {
		t.Errorf("a challenge that failed once: %d %s", a.Status, a.Body)
	}
	challenge = b.Challenge()
	signature := b.Sign(challenge)
	if a := b.LoginWith(challenge, signature); a.Status != http.StatusOK {
		t.Errorf("the login: %d %s", a.Status, a.Body)
	}
	if a := b.LoginWith(challenge, signature); a.Reason() != "LOGIN" {
		t.Errorf("the same login again: %d %s", a.Status, a.Body)
	}
	if a := b.LoginWith("mine", b.Sign("mine")); a.Reason() != "LOGIN" {
		t.Errorf("a challenge of the browser: %d %s", a.Status, a.Body)
	}
	challenge = other.Challenge()
	if a := b.LoginWith(challenge, b.Sign(challenge)); a.Reason() != "LOGIN" {
		t.Errorf("the challenge of another: %d %s", a.Status, a.Body)
	}
	challenge = b.Challenge()
	if a := b.LoginWith(challenge, append(b.Sign(challenge), 0)); a.Reason() != "LOGIN" {
		t.Errorf("a longer signature: %d %s", a.Status, a.Body)
	}
}

// Ten wrong bearers from an address are enough. One that podd accepted before still works, and so
// does each that podd gives out meanwhile.
func TestWrongBearers(t *testing.T) {
	s := newStage(t)
	b := s.pair(view)
	bearer := b.Login()
	get := func(bearer string) int { return s.Call("/podd.v1.PodService/GetPod", bearer, `{"pod":"p"}`).Status }
	if got := get(bearer); got != http.StatusOK {
		t.Fatalf("the bearer gets %d", got)
	}
	for range 10 {
		if got := get("wrong"); got != http.StatusUnauthorized {
			t.Fatalf("a wrong bearer gets %d", got)
		}
	}
	if got := get("wrong"); got != http.StatusTooManyRequests {
		t.Errorf("the eleventh gets %d", got)
	}
	if got := get(bearer); got != http.StatusOK {
		t.Errorf("the good one gets %d", got)
	}
	for range 3 {
		if got := get(b.Login()); got != http.StatusOK {
			t.Errorf("a new bearer of the device gets %d", got)
		}
	}
	if got := get(s.pair(answer).Login()); got != http.StatusOK {
		t.Errorf("a device that is paired meanwhile gets %d", got)
	}
	if got := get("wrong"); got != http.StatusTooManyRequests {
		t.Errorf("after the logins a wrong one gets %d", got)
	}
}

// Each call of podd is made with each scope: a browser can make those of its scope and no
// other, on podd's own socket for podd web, whatever podd web would let through.
func TestScopes(t *testing.T) {
	s := newStage(t)
	conn := s.dialWeb()
	for _, scope := range []poddv1.DeviceScope{view, answer, control} {
		bearer := s.pair(scope).Login()
		have := devices.Scope(strings.ToLower(strings.TrimPrefix(scope.String(), "DEVICE_SCOPE_")))
		for _, m := range allMethods() {
			got := s.reasonOf(conn, m, bearer)
			need, listed := devices.CallScope(m.path)
			want := ""
			switch {
			case devices.LetsIn(m.path):
				continue
			case !listed:
				want = "UNLISTED_CALL"
			case !have.Includes(need):
				want = "DEVICE_SCOPE"
			}
			if refused := got == "UNLISTED_CALL" || got == "DEVICE_SCOPE" || got == "BEARER_MISSING"; refused != (want != "") || want != "" && got != want {
				t.Errorf("%s with the scope %s: %q, want %q", m.path, have, got, want)
			}
			if got := s.reasonOf(conn, m, ""); got != "BEARER_MISSING" {
				t.Errorf("%s without a bearer: %q", m.path, got)
			}
			if got := s.reasonOf(conn, m, token); got != "BEARER_UNKNOWN" {
				t.Errorf("%s with the client token: %q", m.path, got)
			}
		}
	}
	// No scope changes what pods may do.
	for _, m := range allMethods() {
		for _, never := range []string{"Create", "Update", "Delete", "Restore", "Rename", "Rewind", "Fork", "Compact", "Trust", "Rule", "Mcp", "Backup", "Reload", "Pairing", "Revoke", "Check", "Job"} {
			if _, listed := devices.CallScope(m.path); listed && strings.Contains(m.path, never) {
				t.Errorf("a browser can call %s", m.path)
			}
		}
	}
}

// What a browser answers is in the log under its name, and it adds no rules.
func TestAnswersOfBrowsers(t *testing.T) {
	s := newStage(t)
	bearer := s.pair(answer).Login()
	const path = "/podd.v1.ApprovalService/ResolveApproval"
	for body, want := range map[string]string{
		`{"pod":"p","callSeq":"1","approve":true,"always":true,"digest":"YQ=="}`: "DEVICE_ALWAYS",
		`{"pod":"p","callSeq":"1","approve":true}`:                               "DEVICE_DIGEST",
	} {
		if a := s.Call(path, bearer, body); a.Reason() != want {
			t.Errorf("%s is answered with %d %s", body, a.Status, a.Body)
		}
	}
}

// dialWeb connects to podd's socket for podd web, as a podd web that was taken over would.
func (s *stage) dialWeb() *grpc.ClientConn {
	conn, err := grpc.NewClient("unix:"+devices.SocketPath(s.state), insecureOption)
	check(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}
