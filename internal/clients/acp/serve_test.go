package acp_test

import (
	"log/slog"
	"strings"
	"testing"

	"podd/internal/clients/acp"
	"podd/pkg/client"
)

func serve(t *testing.T, in string) (out string, err error) {
	t.Helper()
	c, err := client.New(client.Config{Socket: t.TempDir() + "/podd.sock"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b strings.Builder
	err = acp.Serve(t.Context(), acp.Config{Client: c, In: strings.NewReader(in), Out: &b, Log: slog.New(slog.DiscardHandler)})
	return b.String(), err
}

// A message that the library cannot read ends the connection, and podctl says so.
func TestMessageTooLong(t *testing.T) {
	_, err := serve(t, `{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("x", 11<<20)+"\"}\n")
	if err == nil || !strings.Contains(err.Error(), "10 MiB") {
		t.Errorf("got %v", err)
	}
}

// A line that is not a message is ignored.
func TestGarbage(t *testing.T) {
	if out, err := serve(t, "hello\n{}\n\n[]\n{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":3}\n"); err != nil || out != "" {
		t.Errorf("got %q, %v", out, err)
	}
}
