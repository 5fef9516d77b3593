package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

// loginFlags are the flags of mcp login.
type loginFlags struct {
	dir            string
	port           int
	browser, paste bool
}

func newMCPLoginCommand(p *program) *cobra.Command {
	var flags loginFlags
	cmd := &cobra.Command{
		Use:   "login NAME",
		Short: "Sign in at an MCP server",
		Long: "Prints an address to open in a browser on this machine, and waits until you have signed in. podd keeps the " +
			"tokens and renews them. If the browser runs elsewhere, use --paste and copy the address where it ends.",
		Example:           "  podctl mcp login tickets --browser",
		ValidArgsFunction: p.completeServers,
		RunE: p.onServer(&flags.dir, func(ctx context.Context, c *client.Client, name, dir string) error {
			if flags.port < 0 || flags.port > 65535 {
				return usagef("--port %d: use a number from 0 to 65535", flags.port)
			}
			l := login{p, c, flags}
			return l.run(ctx, &poddv1.LoginMcpServerRequest{Name: name, Dir: dir, Port: int32(flags.port)})
		}),
	}
	dirFlag(cmd, &flags.dir)
	cmd.Flags().IntVar(&flags.port, "port", 0, "port that the browser comes back to, if the server knows podd by it")
	cmd.Flags().BoolVar(&flags.browser, "browser", false, "open the address with $BROWSER, or with the system's browser")
	cmd.Flags().BoolVar(&flags.paste, "paste", false, "read the address where the browser ended from standard input")
	return cmd
}

// login is a sign-in at an MCP server.
type login struct {
	*program
	c     *client.Client
	flags loginFlags
}

// run shows the address and waits for the end of the sign-in.
func (l login) run(ctx context.Context, r *poddv1.LoginMcpServerRequest) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := l.c.MCP().LoginMcpServer(ctx, r)
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if ctx.Err() != nil && err != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if s := m.GetServer(); s != nil {
			return l.print(m, line("signed in to %s: %s", sanitize.Line(s.GetName()), plural(len(s.GetTools()), "tool")))
		}
		address := sanitize.Line(m.GetUrl())
		if err := l.print(m, line("to sign in to %s, open this address:\n%s", sanitize.Line(r.GetName()), address)); err != nil {
			return err
		}
		if l.flags.browser {
			l.browse(ctx, m.GetUrl())
		}
		if l.flags.paste {
			fmt.Fprintln(l.stderr, "paste the address where the browser ends, which no page needs to show:")
			// Reading ends with podctl.
			go func() {
				if err := l.answer(ctx); err != nil {
					cancel(err)
				}
			}()
			continue
		}
		fmt.Fprintln(l.stderr, "waiting for the browser; interrupt to give up. If it runs on another machine, use --paste")
	}
}

// answer reads the address where the browser ended.
func (l login) answer(ctx context.Context) error {
	text, err := bufio.NewReader(io.LimitReader(l.stdin, 64<<10)).ReadString('\n')
	if strings.TrimSpace(text) == "" {
		return usagef("no address was pasted (%v): start again", err)
	}
	_, err = l.c.MCP().AnswerMcpLogin(ctx, &poddv1.AnswerMcpLoginRequest{RedirectUrl: valid(strings.TrimSpace(text))})
	return err
}

func newMCPLogoutCommand(p *program) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the tokens of an MCP server",
		Long: "Removes the tokens of an MCP server from podd, ends podd's connections to it, and revokes the tokens. A warning " +
			"says if the server did not revoke them: end the sign-in there, too.",
		ValidArgsFunction: p.completeServers,
		RunE: p.onServer(&dir, func(ctx context.Context, c *client.Client, name, dir string) error {
			resp, err := c.MCP().LogoutMcpServer(ctx, &poddv1.LogoutMcpServerRequest{Name: name, Dir: dir})
			if resp.GetWarning() != "" {
				p.warn([]string{resp.GetWarning()})
			}
			said := "signed out of %s"
			if !resp.GetSignedOut() {
				said = "%s: you were not signed in"
			}
			return p.answer(resp, err, line(said, sanitize.Line(name)))
		}),
	}
	dirFlag(cmd, &dir)
	return cmd
}
