package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/guard/devices"
	"podd/internal/paths"
	"podd/internal/web"
	"podd/pkg/item"
)

// webFlags are the flags of web.
type webFlags struct{ listen, cert, key, origin string }

func newWebCommand(p *program) *cobra.Command {
	var flags webFlags
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Serve the page for browsers",
		Long: "Serves a page to browsers that podctl web pair let in, until SIGTERM or SIGINT. podd itself runs beside it and\n" +
			"checks each call. Another address than 127.0.0.1 or ::1 needs --cert, --key and --origin.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.web(cmd.Context(), flags) },
	}
	cmd.Flags().StringVar(&flags.listen, "listen", "127.0.0.1:7633", "address and port to listen at")
	cmd.Flags().StringVar(&flags.cert, "cert", "", "certificate, a PEM file")
	cmd.Flags().StringVar(&flags.key, "key", "", "key of the certificate, a PEM file")
	cmd.Flags().StringVar(&flags.origin, "origin", "", "the page's address for browsers, as https://NAME[:PORT]")
	return cmd
}

// web serves the page until ctx ends.
func (p *program) web(ctx context.Context, flags webFlags) error {
	state, err := paths.StateDir(p.places, p.env)
	if err != nil {
		return err
	}
	c, err := flags.check()
	if err != nil {
		return err
	}
	var config net.ListenConfig
	if c.Listener, err = config.Listen(ctx, "tcp", flags.listen); err != nil {
		e := item.Errorf(item.KindPrecondition, "WEB_LISTEN", "cannot listen at %s: choose another address with --listen, or stop the program that uses it", flags.listen)
		e.Cause = err
		return e
	}
	defer c.Listener.Close()
	if c.Origin == "" {
		c.Origin = "http://" + c.Listener.Addr().String()
	}
	c.Dial = func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", devices.SocketPath(state.Path))
	}
	if err := paths.EnsurePrivateDir(state.Path); err != nil {
		return err
	}
	if err := devices.WritePage(state.Path, devices.Page{Origin: c.Origin}); err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "podd web: %s; pair a browser with podctl web pair\n", c.Origin)
	return web.Serve(ctx, c)
}

// check is the configuration that the flags say, without what needs a socket.
func (f webFlags) check() (c web.Config, err error) {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return c, item.Errorf(item.KindInvalid, "WEB_LISTEN", "--listen %s is no address with a port, such as 127.0.0.1:7633", f.listen)
	}
	if f.cert == "" && f.key == "" && f.origin == "" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			return c, item.Errorf(item.KindInvalid, "WEB_LISTEN", "--listen %s is reachable by other machines: use 127.0.0.1 and ssh -L, or add --cert, --key and --origin", f.listen)
		}
		return c, nil
	}
	if f.cert == "" || f.key == "" || f.origin == "" {
		return c, item.Errorf(item.KindInvalid, "WEB_CERT", "--cert, --key and --origin belong together: give all three or none")
	}
	if c.Origin, err = checkOrigin(f.origin); err != nil {
		return c, err
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return c, item.Errorf(item.KindInvalid, "WEB_CERT", "cannot use the certificate %s with the key %s: %v", f.cert, f.key, err)
	}
	if err := pair.Leaf.VerifyHostname(hostname(c.Origin)); err != nil {
		return c, item.Errorf(item.KindInvalid, "WEB_CERT", "the certificate %s is not for %s: get one for that name, or change --origin", f.cert, hostname(c.Origin))
	}
	c.TLS = &pair
	return c, nil
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
		return "", item.Errorf(item.KindInvalid, "WEB_ORIGIN", "--origin %s is no https://NAME[:PORT]", text)
	}
	return "https://" + strings.ToLower(strings.TrimSuffix(u.Host, ":443")), nil
}
