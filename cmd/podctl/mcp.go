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
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newMCPCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Manage MCP servers",
		Long: "Lists and tests the MCP servers of a workspace, accepts changes to their tools, and signs in at servers over " +
			"HTTP. Servers come from podd's configuration and, once you run podctl trust, from the workspace's .mcp.json.",
	}
	cmd.AddCommand(newMCPAddCommand(p), newMCPListCommand(p), newMCPTestCommand(p), newMCPAcceptCommand(p), newMCPLoginCommand(p), newMCPLogoutCommand(p))
	return cmd
}

// dirFlag is the workspace that a verb is about.
func dirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".", "workspace directory")
}

// onServer makes a verb of what it does with a server of the workspace dir.
func (p *program) onServer(dir *string, run func(ctx context.Context, c *client.Client, name, dir string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		var at string
		if err := p.at.directory(*dir, &at); err != nil {
			return err
		}
		return p.with(func(c *client.Client) error { return run(cmd.Context(), c, valid(args[0]), at) })
	}
}

func newMCPListCommand(p *program) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "list [POD]",
		Short: "List MCP servers and what they offer",
		Long: "Lists the MCP servers of a pod, or of the current directory, with their state, tools, resources and prompts. It " +
			"does not start servers: what a server offers is known after a turn has used it or podctl mcp test has run.",
		Annotations: withoutPod("the current directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := &poddv1.ListMcpServersRequest{Pod: valid(args[0])}
			if r.GetPod() == "" {
				if err := p.at.directory(dir, &r.Dir); err != nil {
					return err
				}
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.MCP().ListMcpServers(cmd.Context(), r)
				if err != nil {
					return err
				}
				return p.printServers(resp)
			})
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

// completeServers offers the MCP servers of a workspace.
func (p *program) completeServers(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeFrom(cmd.Context(), args, start, func(ctx context.Context, c *client.Client, offer func(value, about string)) error {
		r := &poddv1.ListMcpServersRequest{}
		if err := p.at.directory(cmd.Flag("dir").Value.String(), &r.Dir); err != nil {
			return err
		}
		resp, err := c.MCP().ListMcpServers(ctx, r)
		for _, s := range resp.GetServers() {
			offer(s.GetName(), beginning(s.GetTarget()))
		}
		return err
	})
}

// printServers shows servers: a paragraph each, or an object each.
func (p *program) printServers(resp *poddv1.ListMcpServersResponse) error {
	if note := resp.GetNote(); note != "" {
		fmt.Fprintf(p.stderr, "! %s\n", sanitize.Line(note))
	}
	if p.output == outputText && len(resp.GetServers()) == 0 && resp.GetNote() == "" {
		_, err := fmt.Fprintf(p.stderr, "no MCP servers for %s; add one with [mcp.servers.NAME] in config.toml\n", sanitize.Line(resp.GetDir()))
		return err
	}
	for n, s := range resp.GetServers() {
		if p.output == outputJSON {
			if err := p.printJSON(s); err != nil {
				return err
			}
			continue
		}
		if n > 0 {
			fmt.Fprintln(p.stdout)
		}
		if err := writeServer(p.stdout, s); err != nil {
			return err
		}
	}
	return nil
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
	t := newTable(w)
	for _, tool := range s.GetTools() {
		fmt.Fprintf(t, "  tool\t%s\t~%s\t%s\n", sanitize.Line(tool.GetName()), view.Count(tool.GetTokens()), sanitize.Line(toolNote(tool)))
	}
	for _, r := range s.GetResources() {
		fmt.Fprintf(t, "  resource\t%s\t\t%s\n", sanitize.Line(r.GetUri()), sanitize.Line(r.GetName()))
	}
	for _, prompt := range s.GetPrompts() {
		fmt.Fprintf(t, "  prompt\t%s\t\t%s\n", sanitize.Line(prompt.GetName()), sanitize.Line(strings.Join(prompt.GetArguments(), ", ")))
	}
	return t.Flush()
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
	var dir string
	cmd := &cobra.Command{
		Use:               "test NAME",
		Short:             "Start an MCP server, list what it offers, and stop it",
		ValidArgsFunction: p.completeServers,
		RunE: p.onServer(&dir, func(ctx context.Context, c *client.Client, name, dir string) error {
			resp, err := c.MCP().TestMcpServer(ctx, &poddv1.TestMcpServerRequest{Name: name, Dir: dir})
			return p.answer(resp, err, func(w io.Writer) error {
				s := resp.GetServer()
				if _, err := fmt.Fprintf(w, "%s works: ready in %s, with %s, %s and %s\n", sanitize.Line(s.GetName()), resp.GetTook().AsDuration().Round(time.Millisecond),
					plural(len(s.GetTools()), "tool"), plural(len(s.GetResources()), "resource"), plural(len(s.GetPrompts()), "prompt")); err != nil {
					return err
				}
				return writeServer(w, s)
			})
		}),
	}
	dirFlag(cmd, &dir)
	return cmd
}

func newMCPAcceptCommand(p *program) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "accept NAME",
		Short: "Accept the changed tools of an MCP server",
		Long: "Accepts the current tool definitions of an MCP server, as podctl mcp list shows them, so podd no longer asks " +
			"because they changed. Rules and the approval mode still apply.",
		ValidArgsFunction: p.completeServers,
		RunE: p.onServer(&dir, func(ctx context.Context, c *client.Client, name, dir string) error {
			resp, err := c.MCP().AcceptMcpTools(ctx, &poddv1.AcceptMcpToolsRequest{Name: name, Dir: dir})
			return p.answer(resp, err, line("accepted %s of %s", plural(int(resp.GetAccepted()), "changed tool"), sanitize.Line(name)))
		}),
	}
	dirFlag(cmd, &dir)
	return cmd
}

func newMCPAddCommand(p *program) *cobra.Command {
	var url string
	var env []string
	cmd := &cobra.Command{
		Use:   "add NAME [COMMAND...]",
		Short: "Print the configuration of an MCP server",
		Long: "Prints the lines that add an MCP server to podd's configuration, and says on standard error where they belong. " +
			"Append them to that file, for example with >>, then run podctl reload. A server is a command, after --, or has " +
			"an address. Its key does not belong in the file: give the name of a variable of podd's environment.",
		Example: "  podctl mcp add search -- npx -y search-server >> ~/.config/podd/config.toml\n" +
			"  podctl mcp add tickets --url https://tickets.example.com/mcp",
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			lines, err := p.serverLines(args[0], url, args[1:], env)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(p.stdout, lines); err != nil {
				return err
			}
			file := "~/.config/podd/config.toml"
			// Without podd it is the usual file.
			_ = p.with(func(c *client.Client) error {
				s, err := c.Admin().GetStatus(cmd.Context(), &poddv1.GetStatusRequest{})
				file = orDefault(s.GetConfig(), file)
				return err
			})
			fmt.Fprintf(p.stderr, "append this to %s, then run podctl reload and podctl mcp test %s\n", sanitize.Line(file), args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "address of a server over HTTP, instead of a command")
	cmd.Flags().StringArrayVar(&env, "env", nil, "variable of the command: NAME of podd's environment, or NAME=VALUE; may be repeated")
	return cmd
}

// serverLines are the lines of the configuration that add a server.
func (p *program) serverLines(name, url string, command, env []string) (string, error) {
	switch {
	case (url == "") == (len(command) == 0):
		return "", usagef("mcp add needs a command after -- or --url, and not both: podctl mcp add %s -- COMMAND", sanitize.Word(name))
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		return "", usagef("the name %q has other characters than letters, digits, - and _: choose another", name)
	case url != "" && len(env) > 0:
		return "", usagef("--env is for a command, and --url is not one: leave it out")
	}
	lines := "\n[mcp.servers." + name + "]\n"
	if url != "" {
		return lines + "url = " + tomlString(url) + "\n", nil
	}
	program := valid(command[0])
	if strings.Contains(program, "/") && !p.at.remote() {
		whole, err := filepath.Abs(program)
		if err != nil {
			return "", fmt.Errorf("make the path of the program absolute: %w", err)
		}
		program = whole
	}
	return lines + "command = " + tomlString(program) + "\n" + tomlList("args", command[1:]) + tomlList("env", env), nil
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
