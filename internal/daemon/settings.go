package daemon

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"podd/internal/config"
	"podd/internal/endpoints/dial"
	"podd/internal/extend/mcp"
	"podd/internal/guard/policy"
	"podd/internal/letters"
	"podd/internal/questions"
	"podd/internal/tools/builtin"
	"podd/internal/triggers"
	"podd/internal/workspace"
	"podd/internal/workspace/skills"
	"podd/pkg/interceptor"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/pod"
	"podd/pkg/tool"
	"podd/pkg/version"
)

// settings makes the pods' settings from the configuration next, at the start and at a
// reload, and connects its model if necessary. before is the current configuration; nil
// at the start. settings changes nothing else of the daemon.
func (d *Daemon) settings(next, before *loaded) (s pod.Settings, err error) {
	next.Pods.Models.Catalog = d.models.current
	c := next.Config
	if err := CheckSettings(c); err != nil {
		return s, err
	}
	interceptors, hooks, err := d.extensions(c)
	if err != nil {
		return s, err
	}
	reconcile, err := d.reconcile(c)
	if err != nil {
		return s, err
	}
	if err := d.connect(next, before); err != nil {
		return s, err
	}
	counted := func(m llm.Model) llm.Model { return m }
	if d.recorder != nil {
		counted, hooks = d.recorder.Model, append(hooks, d.recorder)
	}
	if d.tracer != nil {
		hooks = append(hooks, d.tracer)
	}
	s = c.Pods
	s.Reconcile = reconcile
	s.Router, s.Interceptors, s.Hooks = next.endpoints.Router(counted), append([]interceptor.Interceptor{d.spending}, interceptors...), hooks
	s.Router.Wide, s.Router.Models = c.Options, make(map[item.ModelRef]item.Options)
	for _, m := range c.ModelOptions {
		s.Router.Models[m.Model] = m.Options
	}
	return s, nil
}

// workspaceSettings are the settings of workspaces in the configuration next.
func (d *Daemon) workspaceSettings(c config.Config) (s workspace.Settings, err error) {
	c.ToolOutput.Redactor = d.secrets
	s = workspace.Settings{
		FileRefs: c.FileRefs, Search: c.Search, Tree: c.Tree, ListDir: c.ListDir, Glob: c.Glob, Ask: c.Ask, Rules: c.Rules,
		BaseInstructions: c.BaseInstructions,
	}
	s.ToolOutput, err = tool.NewLimits(c.ToolOutput)
	return s, err
}

// connect opens the endpoints. It keeps the current clients, with their connections, where
// endpoint and key are the same.
func (d *Daemon) connect(next, before *loaded) (err error) {
	var open *dial.Set
	if before != nil {
		open = before.endpoints
	}
	next.endpoints, err = dial.Open(dial.Config{
		Default: next.Endpoint, Endpoints: next.AllEndpoints(), UserAgent: "podd/" + version.String(), Environ: os.Environ(),
		Learn: d.learn, Redact: d.secrets.Redact, Logger: d.Logger,
	}, open)
	if err != nil {
		return item.Errorf(item.KindInvalid, "CONFIG", "%v", err)
	}
	return nil
}

// learn makes secrets of an endpoint known, so that nothing shows them.
func (d *Daemon) learn(endpoint string, values ...string) { d.secrets.AddKeys(endpoint, values...) }

// toolNames are the names of podd's own tools.
func toolNames() []string {
	return append(builtin.Names(), skills.ToolName, tool.FindTool, pod.SpawnTool, pod.WaitTool, questions.Name, letters.ToolName, triggers.ToolName)
}

// CheckSettings refuses limits and reconcilers of unknown tools, and rules that can match no call.
func CheckSettings(s config.Config) error {
	names := toolNames()
	if err := s.CheckTools(names); err != nil {
		return err
	}
	for _, e := range s.Reconcilers {
		if !slices.Contains(names, e.Name) && !strings.HasPrefix(e.Name, mcp.Prefix) {
			return misconfigured(e, fmt.Errorf("there is no tool %s: name one of %s, or a tool of an MCP server, such as mcp__pay__charge", e.Name, strings.Join(names, ", ")))
		}
	}
	rules, err := policy.New(s.Ask, s.Rules)
	if err != nil {
		return err
	}
	var tools []policy.Tool
	for _, name := range names {
		t := policy.Tool{Name: name, Commands: name == "shell", Hosts: name == "web_fetch"}
		t.Paths = !t.Commands && !t.Hosts && name != "todo" && name != skills.ToolName && name != tool.FindTool
		tools = append(tools, t)
	}
	// The tools of MCP servers are not known yet.
	return rules.CheckTools(append(tools, policy.Tool{Name: mcp.Prefix, Family: true}))
}
