package policy_test

import (
	"strings"
	"testing"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

func TestHosts(t *testing.T) {
	rules := []item.Rule{
		{Host: "go.dev", Decision: policy.Allow, Source: "1"},
		{Host: "*.go.dev", Decision: policy.Allow, Source: "2"},
		{Host: "Localhost:3000", Decision: policy.Allow, Source: "3"},
		{Host: "[::1]:*", Decision: policy.Allow, Source: "4"},
		{Host: "bad.go.dev", Decision: policy.Deny, Source: "5"},
		{Host: "slow.go.dev:443", Decision: policy.Ask, Source: "6"},
		{Host: "2606:4700::1", Decision: policy.Allow, Source: "7"},
	}
	p := with(t, policy.Risky, rules...)
	for host, want := range map[string]struct {
		decision string
		rule     string
	}{
		"go.dev:443": {policy.Allow, "1"}, "go.dev:80": {policy.Allow, "1"}, "go.dev:8080": {policy.Ask, ""},
		"pkg.go.dev:443": {policy.Allow, "2"}, "a.b.go.dev:443": {policy.Allow, "2"}, "evilgo.dev:443": {policy.Ask, ""}, "go.dev.evil:443": {policy.Ask, ""},
		"localhost:3000": {policy.Allow, "3"}, "localhost:80": {policy.Ask, ""}, "[::1]:7": {policy.Allow, "4"},
		"bad.go.dev:443": {policy.Deny, "5"}, "bad.go.dev:8443": {policy.Deny, "5"},
		"slow.go.dev:443": {policy.Ask, "6"}, "slow.go.dev:80": {policy.Allow, "2"},
		"[2606:4700::1]:443": {policy.Allow, "7"},
	} {
		v := p.Decide(policy.Call{Tool: "web_fetch", Host: host})
		if v.Decision != want.decision || want.rule != "" && !strings.Contains(v.Why, " "+want.rule+" (") {
			t.Errorf("%s: got %+v, want %s by rule %q", host, v, want.decision, want.rule)
		}
	}
	// Rules about hosts do not apply to other calls.
	for _, call := range []policy.Call{shell("curl go.dev"), {Tool: "read_file", Paths: []string{"go.dev"}}, {Tool: "x"}} {
		if v := p.Decide(call); v.Decision != policy.Ask {
			t.Errorf("%+v: got %+v", call, v)
		}
	}
	for host, want := range map[string]bool{
		"localhost:3000": true, "[::1]:80": true, "go.dev:443": false, "pkg.go.dev:443": false, "localhost:80": false,
	} {
		if got := p.Opens("web_fetch", host); got != want {
			t.Errorf("%s: opens is %v", host, got)
		}
	}
	denied := with(t, policy.Risky, append(rules, item.Rule{Host: "localhost", Decision: policy.Deny})...)
	if denied.Opens("web_fetch", "localhost:3000") {
		t.Error("a host is opened that a rule denies")
	}
}

func TestHostsThatAreNone(t *testing.T) {
	for host, want := range map[string]string{
		"https://go.dev": "without https:// and path", "go.dev/x": "without https:// and path", "me@go.dev": "without https:// and path",
		"go dev": "is not a host", "go.dev:x": "is not a host", "bücher.example": "is not a host", "::1:x": "is not a host",
	} {
		_, err := policy.New(policy.Risky, []item.Rule{{Host: host, Decision: policy.Allow}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", host, err, want)
		}
	}
}
