package config_test

import (
	"reflect"
	"testing"
	"time"

	"podd/internal/config"
	"podd/internal/extend/extern"
)

const extensions = `model = "m"

[[interceptor]]
name = "tests"
on = ["turn_end"]
command = "make test >&2 || exit 2"

[[hook]]
name = "log"
on = ["entry", "alert"]
command = ["/usr/local/bin/log", "-a"]
timeout = "5s"

[limits]
max_steps = 5

[[reconcile]]
tool = "mcp__pay__charge"
command = ["charge-status"]

[[interceptor]]
name = "guard"
on = ["before_tool"]
command = ["guard"]
timeout = "500ms"
on_failure = "allow"
history = "turn"
env = ["TOKEN=secret", "DISPLAY"]
`

func TestExtensions(t *testing.T) {
	path := write(t, extensions)
	c, err := config.Load(path, true, environment())
	if err != nil {
		t.Fatal(err)
	}
	interceptors := []config.Extension{
		{
			Command: extern.Command{Name: "tests", On: []string{"turn_end"}, Argv: []string{"sh", "-c", "make test >&2 || exit 2"}, Timeout: time.Minute, History: "none"},
			Origin:  path + ":3",
		},
		{
			Command: extern.Command{
				Name: "guard", On: []string{"before_tool"}, Argv: []string{"guard"}, Timeout: 500 * time.Millisecond, History: "turn", Env: []string{"TOKEN=secret", "DISPLAY"},
			},
			OnFailure: "allow", Origin: path + ":21",
		},
	}
	hooks := []config.Extension{
		{
			Command: extern.Command{Name: "log", On: []string{"entry", "alert"}, Argv: []string{"/usr/local/bin/log", "-a"}, Timeout: 5 * time.Second}, Origin: path + ":8",
		},
	}
	if !reflect.DeepEqual(c.Interceptors, interceptors) || !reflect.DeepEqual(c.Hooks, hooks) {
		t.Errorf("interceptors %+v\nhooks %+v", c.Interceptors, c.Hooks)
	}
	reconcilers := []config.Extension{{
		Command: extern.Command{Name: "mcp__pay__charge", Argv: []string{"charge-status"}, Timeout: 30 * time.Second}, Origin: path + ":17",
	}}
	if !reflect.DeepEqual(c.Reconcilers, reconcilers) {
		t.Errorf("reconcilers %+v", c.Reconcilers)
	}
	if c.Pods.Model.Model != "m" || c.Pods.Limits.MaxSteps != 5 {
		t.Errorf("the keys around them are not read: %q %d", c.Pods.Model.Model, c.Pods.Limits.MaxSteps)
	}
	shown := map[string]string{}
	for _, v := range c.Values() {
		shown[v.Key] = v.Value + " " + v.Origin
	}
	for key, want := range map[string]string{
		"interceptor[1].command":    `"make test >&2 || exit 2" ` + path + ":6",
		"interceptor[1].timeout":    `"1m0s" default`,
		"interceptor[1].on_failure": `"" default: "deny" for before_tool, else "allow"`,
		"interceptor[2].env":        `["TOKEN=...", "DISPLAY"] ` + path + ":28",
		"interceptor[1].history":    `"none" default`,
		"hook[1].on":                `["entry", "alert"] ` + path + ":10",
		"hook[1].command":           `["/usr/local/bin/log", "-a"] ` + path + ":11",
	} {
		if shown[key] != want {
			t.Errorf("%s is shown as %s, want %s", key, shown[key], want)
		}
	}
}

func TestExtensionRefusals(t *testing.T) {
	const whole = "[[hook]]\nname = 'x'\non = ['alert']\ncommand = 'true'\n"
	for text, want := range map[string]string{
		"[[interceptor]]\nname = 'x'":               ":1: [[interceptor]] has no on: set it to a list of names",
		"\n[[hook]]\non = ['alert']\ncommand = 'x'": ":2: [[hook]] has no name: set it to a name",
		whole + whole:                  `:5: there are two [[hook]] named "x"`,
		"[[reconcile]]\ncommand = 'x'": ":1: [[reconcile]] has no tool",
		"[[reconcile]]\ntool = 'shell'\ncommand = 'x'\n[[reconcile]]\ntool = 'shell'\ncommand = 'y'": `:4: there are two [[reconcile]] of the tool "shell": keep one`,
		"[[reconcile]]\ntool = 'shell'\ncommand = []":                                                ":3: reconcile[1].command must be a command",
		whole + "on_failure = 'deny'":                                                                ":5: unknown key hook[1].on_failure: [[hook]] has name, on, command, timeout, env",
		"[[interceptor]]\nnam = 'x'":                                                                 ":2: unknown key interceptor[1].nam; did you mean name?",
		"[[interceptor]]\nhistory = 'some'":                                                          `:2: interceptor[1].history must be "none", "turn" or "all"; it is "some"`,
		whole + "history = 'all'":                                                                    ":5: unknown key hook[1].history: [[hook]] has name, on, command, timeout, env",
		"[[interceptor]]\non_failure = 'ask'":                                                        `:2: interceptor[1].on_failure must be "allow" or "deny"; it is "ask"`,
		whole + "[[hook]]\ncommand = []":                                                             ":6: hook[2].command must be a command",
		"[[hook]]\ncommand = ' '":                                                                    ":2: hook[1].command must be a command",
		"[[hook]]\ncommand = ['a', 1]":                                                               ":2: hook[1].command must be a command",
		"[[hook]]\non = 'alert'":                                                                     ":2: hook[1].on must be a list of names",
		"[[hook]]\ntimeout = '1ms'":                                                                  ":2: hook[1].timeout must be a duration of at least 100ms",
		"[[hook]]\nenv = 'A'":                                                                        ":2: hook[1].env must be a list of variables",
		"hook = [{name = 'x'}]":                                                                      ":1: [[hook]] has no on",
		"[hook]\nname = 'x'":                                                                         ":1: hook must be a list of tables, with [[hook]] on a line before each; it is a table",
		"hook.name = 'x'":                                                                            ":1: hook must be a list of tables",
		"[[hook]]\n[hook.env]\nA = 'b'":                                                              ":2: hook[1].env must be a list of variables",
		"[[hook]]\n[[hook.env]]\nA = 'b'":                                                            ":2: hook[1].env must be a list of variables",
		"[[hook]]\n[hook.extra]\nA = 'b'":                                                            ":2: unknown key hook[1].extra: [[hook]] has name,",
		"[[hook.name]]":                                                                              ":1: hook must be a list of tables",
	} {
		_, err := config.Load(write(t, text), true, environment())
		wantError(t, err, want)
	}
}
