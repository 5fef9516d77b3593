package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"podd/internal/sanitize"
	"podd/pkg/item"
)

// Serve joins in and out to conn, podd's socket, until podd ends the connection, which it does
// when in ends. It closes conn. token is the client token, "" if there is none. The goroutine
// that reads in outlives Serve until in ends: nothing can interrupt a read of standard input.
func Serve(conn net.Conn, token string, in io.Reader, out io.Writer) error {
	defer conn.Close()
	if err := (greeting{Token: token}).write(out); err != nil {
		return err
	}
	go func() {
		_, err := io.Copy(conn, in)
		if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
			_ = half.CloseWrite() // It fails once podd has gone, which Serve sees too.
		}
	}()
	if _, err := io.Copy(out, conn); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("relay podd's socket: %w", err)
	}
	return nil
}

// Refuse tells the other machine why podd cannot be reached.
func Refuse(out io.Writer, cause error) error {
	return greeting{Error: &refusal{Kind: item.KindOf(cause), Reason: item.ReasonOf(cause), Message: sanitize.Line(cause.Error())}}.write(out)
}
