package main

import (
	"context"
	"fmt"
	"io"
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
		Args: verbArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMCPAddCommand(p), newMCPListCommand(p), newMCPTestCommand(p), newMCPAcceptCommand(p), newMCPLoginCommand(p), newMCPLogoutCommand(p))
	return cmd
}

// dirFlag is the workspace that a verb is about.
func dirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".", "workspace directory")
}

func newMCPListCommand(p *program) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "list [POD]",
		Short: "List MCP servers and what they offer",
		Long: "Lists the MCP servers of a pod, or of the current directory, with their state, tools, resources and prompts. It " +
			"does not start servers: what a server offers is known after a turn has used it or podctl mcp test has run.",
		Annotations:       withoutPod("the current directory"),
		Args:              operands,
		ValidArgsFunction: p.completePods,
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
			offer(s.GetName(), s.GetTarget())
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
		Args:              operands,
		ValidArgsFunction: p.completeServers,
		RunE: func(cmd *cobra.Command, args []string) error {
			var at string
			if err := p.at.directory(dir, &at); err != nil {
				return err
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.MCP().TestMcpServer(cmd.Context(), &poddv1.TestMcpServerRequest{Name: valid(args[0]), Dir: at})
				if err != nil {
					return err
				}
				return p.print(resp, func(w io.Writer) error {
					s := resp.GetServer()
					if _, err := fmt.Fprintf(w, "%s works: ready in %s, with %s, %s and %s\n", sanitize.Line(s.GetName()), resp.GetTook().AsDuration().Round(time.Millisecond),
						plural(len(s.GetTools()), "tool"), plural(len(s.GetResources()), "resource"), plural(len(s.GetPrompts()), "prompt")); err != nil {
						return err
					}
					return writeServer(w, s)
				})
			})
		},
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
		Args:              operands,
		ValidArgsFunction: p.completeServers,
		RunE: func(cmd *cobra.Command, args []string) error {
			var at string
			if err := p.at.directory(dir, &at); err != nil {
				return err
			}
			return p.with(func(c *client.Client) error {
				resp, err := c.MCP().AcceptMcpTools(cmd.Context(), &poddv1.AcceptMcpToolsRequest{Name: valid(args[0]), Dir: at})
				if err != nil {
					return err
				}
				return p.print(resp, line("accepted %s of %s", plural(int(resp.GetAccepted()), "changed tool"), sanitize.Line(args[0])))
			})
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}
