package secrets_test

import (
	"strings"
	"testing"

	"podd/internal/guard/secrets"
)

// known is a value without a particular form.
const known = "correct horse/battery"

// Secrets that no real service ever issued, assembled here so that no file contains them.
var (
	openai  = "sk-" + "proj-" + strings.Repeat("aB3", 12)
	github  = "ghp_" + strings.Repeat("aB3d", 9)
	aws     = "AKIA" + strings.Repeat("Z7", 8)
	slack   = "xoxb-" + "123456789012-" + strings.Repeat("aZ", 8)
	jwt     = "eyJ" + strings.Repeat("a1", 20) + "." + strings.Repeat("b2", 20) + "." + strings.Repeat("c3", 20)
	private = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow" + strings.Repeat("abc+/", 20) + "\n" + strings.Repeat("Q", 64) + "==\n-----END RSA " + "PRIVATE KEY-----"
)

func TestRedact(t *testing.T) {
	s := secrets.New(known, "short")
	for in, want := range map[string]string{
		"":                                                  "",
		"nothing to hide":                                   "nothing to hide",
		"a " + known + " b":                                 "a [redacted] b",
		known + known:                                       "[redacted][redacted]",
		"correct+horse%2Fbattery":                           "[redacted]",
		"short is too short":                                "short is too short",
		"key " + openai + ".":                               "key [redacted].",
		`{"key":"` + openai + `"}`:                          `{"key":"[redacted]"}`,
		"GITHUB=" + github + "\n":                           "GITHUB=[redacted]\n",
		aws + ":x":                                          "[redacted]:x",
		"<" + slack + ">":                                   "<[redacted]>",
		"t=" + jwt:                                          "t=[redacted]",
		"before\n" + private + "\nafter.":                   "before\n[redacted]\nafter.",
		strings.ReplaceAll(private, "\n", `\n`):             "[redacted]",
		"Authorization: Bearer abcdef123":                   "Authorization: Bearer [redacted]",
		`"authorization": "Basic dXNlcjpwYXNz"`:             `"authorization": "Basic [redacted]"`,
		`-H 'AUTHORIZATION: token 0123456789'`:              `-H 'AUTHORIZATION: token [redacted]'`,
		"X-Api-Key: 0123456789abcdef0":                      "X-Api-Key: [redacted]",
		"used bearer " + strings.Repeat("a1", 12):           "used bearer [redacted]",
		"https://user:hunter2@example.com/x":                "https://user:[redacted]@example.com/x",
		"postgres://u:p%40ss@db":                            "postgres://u:[redacted]@db",
		"https://" + strings.Repeat("t0", 12) + "@git.test": "https://[redacted]@git.test",
		"\xff" + known + "\xfe":                             "\xff[redacted]\xfe",
		// Text that only looks like a secret.
		"sk-spinner-double-bounce-inner-circle":                               "sk-spinner-double-bounce-inner-circle",
		"task-sk-" + strings.Repeat("a1", 20):                                 "task-[redacted]",
		"ask-" + strings.Repeat("a1", 20):                                     "ask-" + strings.Repeat("a1", 20),
		"AKIA is a prefix":                                                    "AKIA is a prefix",
		"https://user:$PASS@host https://%s:%s@host https://user:<pass>@host": "https://user:$PASS@host https://%s:%s@host https://user:<pass>@host",
		"ssh://git@github.com:22/x":                                           "ssh://git@github.com:22/x",
		"http://example.com/a@b":                                              "http://example.com/a@b",
		"Authorization: strings.TrimPrefix(header, \"Bearer \")":              "Authorization: strings.TrimPrefix(header, \"Bearer \")",
		"authorization := md.Get(key)":                                        "authorization := md.Get(key)",
		"authorization: Bearer TOKEN":                                         "authorization: Bearer TOKEN",
		"the bearer of this document is entitled to nothing at all":           "the bearer of this document is entitled to nothing at all",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----":        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
	} {
		got := s.Redact(in)
		if got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
		if again := s.Redact(got); again != got {
			t.Errorf("%q became %q when redacted again", got, again)
		}
	}
}

// An empty set and a nil one still find the well-known forms.
func TestZeroSet(t *testing.T) {
	var none *secrets.Set
	for _, s := range []*secrets.Set{none, {}} {
		if got := s.Redact(known + " " + github); got != known+" [redacted]" {
			t.Errorf("got %q", got)
		}
	}
}

// An added value stays known.
func TestAddKeepsOldValues(t *testing.T) {
	s := secrets.New("the old secret")
	s.Add(" the new secret\n", `quo"ted\secret`)
	if got := s.Redact(`the old secret, the new secret, quo\"ted\\secret`); got != "[redacted], [redacted], [redacted]" {
		t.Errorf("got %q", got)
	}
}

func TestEnviron(t *testing.T) {
	s := secrets.New("s3cr3t-value")
	got := s.Environ([]string{"PATH=/bin", "OPENAI_API_KEY=s3cr3t-value", "COPY=x:s3cr3t-value:y", "OTHER=1"})
	if strings.Join(got, " ") != "PATH=/bin OTHER=1" {
		t.Errorf("the environment is %q", got)
	}
}

// For any text: no known value is left, redacting again changes nothing, and text around
// a secret stays.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{openai, "Authorization: Bearer x", "https://a:b@c", private, "xox", "pi-key:", "earer "} {
		f.Add("a "+seed+" b", 3)
	}
	s := secrets.New(known)
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = min(max(at, 0), len(text))
		got := s.Redact(text[:at] + known + text[at:])
		if strings.Contains(got, known) {
			t.Fatalf("%q still has the secret", got)
		}
		if again := s.Redact(got); again != got {
			t.Fatalf("%q became %q when redacted again", got, again)
		}
	})
}

// The key of an endpoint shows as the endpoint's. A value that its replacement contains
// cannot be hidden, and does not keep redacting from ending.
func TestKeysAreNamed(t *testing.T) {
	s := secrets.New("a value of podd")
	s.AddKeys("work", "work-key-1234")
	s.AddKeys("homework", "home-key-1234", "key of homework")
	want := "[key of work], [key of homework], [redacted], key of homework"
	if got := s.Redact("work-key-1234, home-key-1234, a value of podd, key of homework"); got != want || s.Redact(got) != got {
		t.Errorf("%s", got)
	}
	stream := s.Stream()
	if got := stream.Write("x work-") + stream.Write("key-1234 y") + stream.Flush(); got != "x [key of work] y" {
		t.Errorf("%s", got)
	}
}
