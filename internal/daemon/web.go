package daemon

import (
	"context"
	"log/slog"

	"podd/internal/guard/devices"
	"podd/internal/server"
	"podd/pkg/socket"
)

// webSide is what podd has for podd web.
type webSide struct {
	devices *devices.Book
	// web is the socket for podd web; nil if it cannot be, and webProblem says why.
	web        *socket.Listener
	webProblem string
}

// openWeb reads the paired browsers and opens the socket for podd web. podd works without that
// socket: its path may be too long.
func (w *webSide) openWeb(ctx context.Context, d *Daemon) (err error) {
	if w.devices, err = devices.Open(d.StateDir); err != nil {
		return err
	}
	if w.web, err = socket.Listen(ctx, devices.SocketPath(d.StateDir)); err != nil {
		w.web, w.webProblem = nil, err.Error()
		d.Logger.Warn("podd web cannot reach podd", "error", err)
		return nil
	}
	d.undo = append(d.undo, func() { _ = w.web.Close() })
	return nil
}

// serveWeb answers podd web until the server stops; the channel is closed then.
func (w *webSide) serveWeb(s *server.Server, logger *slog.Logger) <-chan struct{} {
	served := make(chan struct{})
	if w.web == nil {
		close(served)
		return served
	}
	go func() {
		defer close(served)
		if err := s.ServeWeb(w.web); err != nil {
			logger.Error("podd web cannot reach podd any more", "error", err)
		}
	}()
	return served
}

// page says what is known of podd web.
func (w *webSide) page(d *Daemon) func() server.WebPage {
	return func() server.WebPage {
		page := server.WebPage{Problem: w.webProblem}
		if d.server.WebConnections() > 0 {
			page.Page = devices.ReadPage(d.StateDir)
		}
		return page
	}
}
