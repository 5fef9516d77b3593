package daemon

import (
	"podd/internal/config"
	"podd/internal/extend/mcp"
	"podd/internal/guard/policy"
	"podd/internal/version"
	"podd/internal/workspace/skills"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/pod"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/workspace"
)

// settings are what pods take of the configuration next, at the start and when it is
// reloaded, and connect its model, if need be, before being nil or what held so far.
// Nothing else of the daemon is changed.
func (d *Daemon) settings(next, before *loaded) (s pod.Settings, err error) {
	c := next.Config
	if err := checkSettings(c); err != nil {
		return s, err
	}
	interceptors, hooks, err := d.extensions(c)
	if err != nil {
		return s, err
	}
	if err := d.connect(next, before); err != nil {
		return s, err
	}
	var model llm.Model = next.client
	if d.recorder != nil {
		model, hooks = d.recorder.Model(model), append(hooks, d.recorder)
	}
	if d.tracer != nil {
		hooks = append(hooks, d.tracer)
	}
	s = c.Pods
	s.Model, s.Interceptors, s.Hooks = model, interceptors, hooks
	return s, nil
}

// workspaceSettings are what workspaces take of the configuration next.
func (d *Daemon) workspaceSettings(c config.Config) (s workspace.Settings, err error) {
	c.ToolOutput.Redactor = d.secrets
	s = workspace.Settings{
		FileRefs: c.FileRefs, Search: c.Search, Tree: c.Tree, ListDir: c.ListDir, Glob: c.Glob, Ask: c.Ask, Rules: c.Rules,
	}
	s.ToolOutput, err = tool.NewLimits(c.ToolOutput)
	return s, err
}

// connect makes the client of a model's endpoint. One of the same endpoint and key is
// kept, with its connections.
func (d *Daemon) connect(next, before *loaded) (err error) {
	if before != nil && before.BaseURL == next.BaseURL && before.API == next.API && before.APIKey == next.APIKey {
		next.client = before.client
		return nil
	}
	next.client, err = openai.New(openai.Config{
		BaseURL: next.BaseURL, APIKey: string(next.APIKey), API: next.API, UserAgent: "podd/" + version.String(), Logger: d.Logger,
	})
	return err
}

// checkSettings refuses limits of tools that there are not, and rules that can match no
// call.
func checkSettings(s config.Config) error {
	names := append(builtin.Names(), skills.ToolName, pod.SpawnTool)
	if err := s.CheckTools(names); err != nil {
		return err
	}
	rules, err := policy.New(s.Ask, s.Rules)
	if err != nil {
		return err
	}
	var tools []policy.Tool
	for _, name := range names {
		t := policy.Tool{Name: name, Commands: name == "shell", Hosts: name == "web_fetch"}
		t.Paths = !t.Commands && !t.Hosts && name != "todo" && name != skills.ToolName
		tools = append(tools, t)
	}
	// What MCP servers call their tools is not known yet.
	return rules.CheckTools(append(tools, policy.Tool{Name: mcp.Prefix, Family: true}))
}
