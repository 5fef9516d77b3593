package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	poddv1 "podd/proto/podd/v1"
)

// loginOptions are the flags of mcp login.
type loginOptions struct {
	port           int
	browser, paste bool
}

func (o *loginOptions) command(p *program) *cobra.Command {
	cmd := p.onServer(&cobra.Command{
		Use:   "login NAME",
		Short: "Sign in at an MCP server",
		Long: "Prints an address to open in a browser on this machine, and waits until you have signed in. podd keeps the " +
			"tokens and renews them. If the browser runs elsewhere, use --paste and copy the address where it ends.",
		Example: "  podctl mcp login tickets --browser",
	}, o.run)
	cmd.Flags().IntVar(&o.port, "port", 0, "port that the browser comes back to, if the server knows podd by it")
	cmd.Flags().BoolVar(&o.browser, "browser", false, "open the address with $BROWSER, or with the system's browser")
	cmd.Flags().BoolVar(&o.paste, "paste", false, "read the address where the browser ended from standard input")
	return cmd
}

// run shows the address and waits for the end of the sign-in.
func (o *loginOptions) run(ctx context.Context, s *session, name, dir string) error {
	if o.port < 0 || o.port > 65535 {
		return usagef("--port %d: use a number from 0 to 65535", o.port)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := s.MCP().LoginMcpServer(ctx, &poddv1.LoginMcpServerRequest{Name: name, Dir: dir, Port: int32(o.port)})
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
		if server := m.GetServer(); server != nil {
			return s.print(m, line("signed in to %s: %s", sanitize.Line(server.GetName()), plural(len(server.GetTools()), "tool")))
		}
		address := sanitize.Line(m.GetUrl())
		if err := s.print(m, line("to sign in to %s, open this address:\n%s", sanitize.Line(name), address)); err != nil {
			return err
		}
		o.open(ctx, s, m.GetUrl(), cancel)
	}
}

// open opens the address, and says how the sign-in goes on. With --paste it cancels if no answer can be read.
func (o *loginOptions) open(ctx context.Context, s *session, address string, cancel context.CancelCauseFunc) {
	if o.browser {
		s.browse(ctx, address)
	}
	if !o.paste {
		fmt.Fprintln(s.stderr, "waiting for the browser; interrupt to give up. If it runs on another machine, use --paste")
		return
	}
	fmt.Fprintln(s.stderr, "paste the address where the browser ends, which no page needs to show:")
	// Reading ends with podctl.
	go func() {
		if err := answerLogin(ctx, s); err != nil {
			cancel(err)
		}
	}()
}

// answerLogin reads the address where the browser ended.
func answerLogin(ctx context.Context, s *session) error {
	text, err := bufio.NewReader(io.LimitReader(s.stdin, 64<<10)).ReadString('\n')
	if strings.TrimSpace(text) == "" {
		return usagef("no address was pasted (%v): start again", err)
	}
	_, err = s.MCP().AnswerMcpLogin(ctx, &poddv1.AnswerMcpLoginRequest{RedirectUrl: valid(strings.TrimSpace(text))})
	return err
}

func newMCPLogoutCommand(p *program) *cobra.Command {
	return p.onServer(&cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the tokens of an MCP server",
		Long: "Removes the tokens of an MCP server from podd, ends podd's connections to it, and revokes the tokens. A warning " +
			"says if the server did not revoke them: end the sign-in there, too.",
	}, runMCPLogout)
}

func runMCPLogout(ctx context.Context, s *session, name, dir string) error {
	resp, err := s.MCP().LogoutMcpServer(ctx, &poddv1.LogoutMcpServerRequest{Name: name, Dir: dir})
	if resp.GetWarning() != "" {
		s.warn([]string{resp.GetWarning()})
	}
	said := "signed out of %s"
	if !resp.GetSignedOut() {
		said = "%s: you were not signed in"
	}
	return s.answer(resp, err, line(said, sanitize.Line(name)))
}
