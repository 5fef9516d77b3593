package config_test

import (
	"slices"
	"testing"

	"podd/internal/config"
)

func TestSandbox(t *testing.T) {
	c, err := config.Load(write(t, `[sandbox]
mode = "bwrap"
required = true
network = true
read = ["/srv/data/../x"]
write = []
env = ["A=secret", "B"]
`), true, environment())
	if err != nil {
		t.Fatal(err)
	}
	s := c.Sandbox
	if s.Mode != "bwrap" || !s.Required || !s.Network || !slices.Equal(s.Read, []string{"/srv/x"}) || len(s.Write) != 0 || !slices.Equal(c.ShellEnv, []string{"A=secret", "B"}) {
		t.Errorf("got %+v", s)
	}
	for text, want := range map[string]string{
		"[sandbox]\nmode = 'docker'":    `sandbox.mode must be "auto", "bwrap", "landlock" or "off"`,
		"[sandbox]\nread = ['data']":    "sandbox.read must be a list of absolute paths",
		"[sandbox]\nwrite = '/srv'":     "sandbox.write must be a list of absolute paths",
		"[sandbox]\nnetwork = 'yes'":    "sandbox.network must be true or false",
		"[sandbox]\nenv = { A = 'b' }":  "sandbox.env must be",
		"[sandbox]\nmemory = 'unknown'": "unknown key sandbox.memory: [sandbox] has mode, required, ",
	} {
		_, err := config.Load(write(t, text), true, environment())
		wantError(t, err, want)
	}
}
