package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/internal/clients/view"
	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

func newMCPCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Manage MCP servers",
		Long: "Lists and tests the MCP servers of a workspace, accepts changes to their tools, and signs in at servers over " +
			"HTTP. Servers come from podd's configuration and, once you run podctl trust, from the workspace's .mcp.json.",
	}
	cmd.AddCommand(new(mcpAddOptions).command(p), new(mcpListOptions).command(p), newMCPTestCommand(p), newMCPAcceptCommand(p), new(loginOptions).command(p), newMCPLogoutCommand(p))
	return cmd
}

// dirFlag is the workspace that a verb is about.
func dirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".", "workspace directory")
}

// onServer makes a command of what a verb does with the server NAME of a workspace.
func (p *program) onServer(cmd *cobra.Command, do func(ctx context.Context, s *session, name, dir string) error) *cobra.Command {
	var dir string
	dirFlag(cmd, &dir)
	cmd.ValidArgsFunction = p.complete(1, func(ctx context.Context, s *session, offer func(value, about string)) error {
		return servers(ctx, s, dir, offer)
	})
	cmd.PreRunE = func(*cobra.Command, []string) error { return p.at.directory(dir, &dir) }
	cmd.RunE = p.onPodd(func(ctx context.Context, s *session, args []string) error { return do(ctx, s, valid(args[0]), dir) })
	return cmd
}

// servers finds the MCP servers of a workspace.
func servers(ctx context.Context, s *session, dir string, offer func(value, about string)) error {
	if err := s.at.directory(dir, &dir); err != nil {
		return err
	}
	resp, err := s.MCP().ListMcpServers(ctx, &poddv1.ListMcpServersRequest{Dir: dir})
	for _, server := range resp.GetServers() {
		offer(server.GetName(), beginning(server.GetTarget()))
	}
	return err
}

// mcpListOptions are the flags of mcp list.
type mcpListOptions struct{ dir string }

func (o *mcpListOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [POD]",
		Short: "List MCP servers and what they offer",
		Long: "Lists the MCP servers of a pod, or of the current directory, with their state, tools, resources and prompts. It " +
			"does not start servers: what a server offers is known after a turn has used it or podctl mcp test has run.",
		Annotations: withoutPod("the current directory"),
		RunE:        p.onPodd(o.run),
	}
	dirFlag(cmd, &o.dir)
	return cmd
}

// run shows servers: a paragraph each, or an object each.
func (o *mcpListOptions) run(ctx context.Context, s *session, args []string) error {
	r := &poddv1.ListMcpServersRequest{Pod: valid(args[0])}
	if r.GetPod() == "" {
		if err := s.at.directory(o.dir, &r.Dir); err != nil {
			return err
		}
	}
	resp, err := s.MCP().ListMcpServers(ctx, r)
	if err != nil {
		return err
	}
	if note := resp.GetNote(); note != "" {
		s.warn([]string{note})
	} else if s.output == outputText && len(resp.GetServers()) == 0 {
		_, err := fmt.Fprintf(s.stderr, "no MCP servers for %s; add one with [mcp.servers.NAME] in config.toml\n", sanitize.Line(resp.GetDir()))
		return err
	}
	return printEach(s.program, resp.GetServers(), func() error {
		for n, server := range resp.GetServers() {
			if n > 0 {
				fmt.Fprintln(s.stdout)
			}
			if err := writeServer(s.stdout, server); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeServer shows a server and what it offers.
func writeServer(w io.Writer, s *poddv1.McpServer) error {
	state := s.GetState()
	if s.GetError() != "" {
		state += ": " + s.GetError()
	}
	from := facts{{"server", s.GetName()}, {"state", state}, {"target", s.GetTarget()}, {"configured in", s.GetOrigin()}}
	if s.GetSignIn() != "" {
		from = append(from, [2]string{"sign-in", s.GetSignIn()})
	}
	if s.GetListed() {
		from = append(from, [2]string{"identifies as", strings.TrimSpace(s.GetTitle() + " " + s.GetVersion())})
	} else {
		from = append(from, [2]string{"offers", "not known yet; run podctl mcp test " + s.GetName()})
	}
	for _, left := range s.GetLeftOut() {
		from = append(from, [2]string{"left out", left})
	}
	if err := from.writeTo(w); err != nil {
		return err
	}
	var t table
	for _, tool := range s.GetTools() {
		t.row("  tool", tool.GetName(), "~"+view.Count(tool.GetTokens()), toolNote(tool))
	}
	for _, r := range s.GetResources() {
		t.row("  resource", r.GetUri(), "", r.GetName())
	}
	for _, prompt := range s.GetPrompts() {
		t.row("  prompt", prompt.GetName(), "", strings.Join(prompt.GetArguments(), ", "))
	}
	return t.writeTo(w)
}

// toolNote says how a tool is offered to the model.
func toolNote(t *poddv1.McpTool) string {
	switch {
	case t.GetOfferedAs() == "":
		return "not offered: the configuration's list of tools does not include it"
	case t.GetChanged():
		return t.GetOfferedAs() + ", changed: needs approval before it runs"
	}
	return t.GetOfferedAs()
}

func newMCPTestCommand(p *program) *cobra.Command {
	return p.onServer(&cobra.Command{Use: "test NAME", Short: "Start an MCP server, list what it offers, and stop it"}, runMCPTest)
}

func runMCPTest(ctx context.Context, s *session, name, dir string) error {
	resp, err := s.MCP().TestMcpServer(ctx, &poddv1.TestMcpServerRequest{Name: name, Dir: dir})
	return s.answer(resp, err, func(w io.Writer) error {
		server := resp.GetServer()
		if _, err := fmt.Fprintf(w, "%s works: ready in %s, with %s, %s and %s\n", sanitize.Line(server.GetName()), resp.GetTook().AsDuration().Round(time.Millisecond),
			plural(len(server.GetTools()), "tool"), plural(len(server.GetResources()), "resource"), plural(len(server.GetPrompts()), "prompt")); err != nil {
			return err
		}
		return writeServer(w, server)
	})
}

func newMCPAcceptCommand(p *program) *cobra.Command {
	return p.onServer(&cobra.Command{
		Use:   "accept NAME",
		Short: "Accept the changed tools of an MCP server",
		Long: "Accepts the current tool definitions of an MCP server, as podctl mcp list shows them, so podd no longer asks " +
			"because they changed. Rules and the approval mode still apply.",
	}, runMCPAccept)
}

func runMCPAccept(ctx context.Context, s *session, name, dir string) error {
	resp, err := s.MCP().AcceptMcpTools(ctx, &poddv1.AcceptMcpToolsRequest{Name: name, Dir: dir})
	return s.answer(resp, err, line("accepted %s of %s", plural(int(resp.GetAccepted()), "changed tool"), sanitize.Line(name)))
}

// mcpAddOptions are the flags of mcp add.
type mcpAddOptions struct {
	url string
	env []string
}

func (o *mcpAddOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME [COMMAND...]",
		Short: "Print the configuration of an MCP server",
		Long: "Prints the lines that add an MCP server to podd's configuration, and says on standard error where they belong. " +
			"Append them to that file, for example with >>, then run podctl reload. A server is a command, after --, or has " +
			"an address. Its key does not belong in the file: give the name of a variable of podd's environment.",
		Example: "  podctl mcp add search -- npx -y search-server >> ~/.config/podd/config.toml\n" +
			"  podctl mcp add tickets --url https://tickets.example.com/mcp",
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), p, args) },
	}
	cmd.Flags().StringVar(&o.url, "url", "", "address of a server over HTTP, instead of a command")
	cmd.Flags().StringArrayVar(&o.env, "env", nil, "variable of the command: NAME of podd's environment, or NAME=VALUE; may be repeated")
	return cmd
}

func (o *mcpAddOptions) run(ctx context.Context, p *program, args []string) error {
	lines, err := o.lines(p, args[0], args[1:])
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(p.stdout, lines); err != nil {
		return err
	}
	file := "~/.config/podd/config.toml"
	// Without podd it is the usual file.
	_ = p.with(func(s *session) error {
		status, err := s.Admin().GetStatus(ctx, &poddv1.GetStatusRequest{})
		file = orDefault(status.GetConfig(), file)
		return err
	})
	_, err = fmt.Fprintf(p.stderr, "append this to %s, then run podctl reload and podctl mcp test %s\n", sanitize.Line(file), args[0])
	return err
}

// lines are the lines of the configuration that add a server.
func (o *mcpAddOptions) lines(p *program, name string, command []string) (string, error) {
	switch {
	case (o.url == "") == (len(command) == 0):
		return "", usagef("mcp add needs a command after -- or --url, and not both: podctl mcp add %s -- COMMAND", sanitize.Word(name))
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		return "", usagef("the name %q has other characters than letters, digits, - and _: choose another", name)
	case o.url != "" && len(o.env) > 0:
		return "", usagef("--env is for a command, and --url is not one: leave it out")
	}
	lines := "\n[mcp.servers." + name + "]\n"
	if o.url != "" {
		return lines + "url = " + tomlString(o.url) + "\n", nil
	}
	program := valid(command[0])
	if strings.Contains(program, "/") && !p.at.remote() {
		whole, err := filepath.Abs(program)
		if err != nil {
			return "", fmt.Errorf("make the path of the program absolute: %w", err)
		}
		program = whole
	}
	return lines + "command = " + tomlString(program) + "\n" + tomlList("args", command[1:]) + tomlList("env", o.env), nil
}

// tomlString is a string in TOML: its escapes are those of JSON.
func tomlString(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // Strings always encode.
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// tomlList is a key with a list of strings; empty without one.
func tomlList(key string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = tomlString(text)
	}
	return key + " = [" + strings.Join(quoted, ", ") + "]\n"
}
