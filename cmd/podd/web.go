package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/guard/devices"
	"podd/internal/web"
	"podd/pkg/item"
	"podd/pkg/paths"
)

// webFlags are the flags of web.
type webFlags struct{ listen, cert, key, origin string }

func newWebCommand(p *program) *cobra.Command {
	var flags webFlags
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Serve the page for browsers",
		Long: "Serves a page to browsers that podctl web pair let in, until SIGTERM or SIGINT. podd itself runs beside it and\n" +
			"checks each call. Another address than 127.0.0.1 or ::1 needs --cert, --key and --origin. A renewed certificate is\n" +
			"used within a minute, or at once after SIGHUP.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.web(cmd.Context(), flags) },
	}
	cmd.Flags().StringVar(&flags.listen, "listen", "127.0.0.1:7633", "address and port to listen at")
	cmd.Flags().StringVar(&flags.cert, "cert", "", "certificate, a PEM file")
	cmd.Flags().StringVar(&flags.key, "key", "", "key of the certificate, a PEM file")
	cmd.Flags().StringVar(&flags.origin, "origin", "", "the page's address for browsers, as https://NAME[:PORT]")
	return cmd
}

// newWebChildCommand makes the process of podd web that reads requests.
func newWebChildCommand() *cobra.Command {
	return &cobra.Command{
		Use:    web.ChildVerb,
		Short:  "Read the requests of browsers for podd web",
		Hidden: true,
		Args:   noArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return web.Child(cmd.Context()) },
	}
}

// web serves the page until ctx ends.
func (p *program) web(ctx context.Context, flags webFlags) error {
	state, err := paths.StateDir(p.places, p.env)
	if err != nil {
		return err
	}
	page, err := flags.check(p.hangup)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", flags.listen)
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "WEB_LISTEN", "cannot listen at %s: choose another address with --listen, or stop the program that uses it", flags.listen)
		e.Cause = err
		return e
	}
	defer l.Close()
	if page.Origin == "" {
		page.Origin = "http://" + l.Addr().String()
	}
	if err := paths.EnsurePrivateDir(state.Path); err != nil {
		return err
	}
	page.Listener, page.Socket = l.(*net.TCPListener), devices.SocketPath(state.Path)
	p.runsOn(func(lines int) []byte { return fmt.Appendf(nil, "podd web: lines of the log were lost: %d\n", lines) })
	page.Log = func(sentence string) { fmt.Fprintln(p.stderr, "podd web:", sentence) }
	where, told := page.Origin, ""
	if page.Certificate != nil {
		where += " at " + l.Addr().String()
	}
	page.Tell = func(confinement string) error {
		if told != confinement {
			page.Log(fmt.Sprintf("%s, confined: %s; pair a browser with podctl web pair", where, confinement))
		}
		told = confinement
		return devices.WritePage(state.Path, devices.Page{Origin: page.Origin, Confinement: confinement})
	}
	return page.Serve(ctx)
}

// check is the page that the flags describe, without what needs a socket. A signal of renewed
// has the certificate read again.
func (f webFlags) check(renewed <-chan os.Signal) (page web.Parent, err error) {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return page, item.Errorf(item.KindInvalid, "WEB_LISTEN", "--listen %s is not an address with a port, such as 127.0.0.1:7633", f.listen)
	}
	if f.cert == "" && f.key == "" && f.origin == "" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			return page, item.Errorf(item.KindInvalid, "WEB_LISTEN", "--listen %s is reachable by other machines: use 127.0.0.1 and ssh -L, or add --cert, --key and --origin", f.listen)
		}
		return page, nil
	}
	if f.cert == "" || f.key == "" || f.origin == "" {
		return page, item.Errorf(item.KindInvalid, "WEB_CERT", "--cert, --key and --origin belong together: give all three or none")
	}
	if page.Origin, err = checkOrigin(f.origin); err != nil {
		return page, err
	}
	page.Certificate, err = web.LoadCertificate(f.cert, f.key, hostname(page.Origin), renewed)
	return page, err
}

func hostname(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// checkOrigin is an origin as browsers write it: lower case, without a path or the usual port.
func checkOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", item.Errorf(item.KindInvalid, "WEB_ORIGIN", "--origin %s does not have the form https://NAME[:PORT]", text)
	}
	return "https://" + strings.ToLower(strings.TrimSuffix(u.Host, ":443")), nil
}
