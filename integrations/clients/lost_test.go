//go:build integrations

package clients

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"podd/integrations/rig"
)

// lossy is a socket before podd's. Once it has passed on a prompt it passes no answer back, and closes its
// connections when the prompt is in the log.
func lossy(t *testing.T, w *rig.World, prompt string, stored func() bool) (socket string) {
	t.Helper()
	socket = filepath.Join(w.Dir, "lossy.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	var once sync.Once
	serve := func(client net.Conn) {
		podd, err := net.Dial("unix", w.Socket())
		if err != nil {
			_ = client.Close()
			return
		}
		var back sync.Mutex // is held while podd's answers are passed on, and for good once they are not
		all.Go(func() {
			defer client.Close()
			defer podd.Close()
			_, _ = io.Copy(guarded{client, &back}, podd)
		})
		all.Go(func() {
			defer client.Close()
			defer podd.Close()
			for part := make([]byte, 64<<10); ; {
				n, err := client.Read(part)
				loses := false
				if bytes.Contains(part[:n], []byte(prompt)) {
					once.Do(func() { loses = true })
				}
				if loses {
					back.Lock()
				}
				if _, wrong := podd.Write(part[:n]); err != nil || wrong != nil {
					return
				}
				if loses {
					for !stored() && t.Context().Err() == nil {
					}
					_ = client.Close()
					back.Unlock()
					return
				}
			}
		})
	}
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(client) })
		}
	})
	return socket
}

// guarded writes while it has a lock.
type guarded struct {
	io.Writer
	mu *sync.Mutex
}

// Write waits for the lock.
func (g guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Writer.Write(p)
}

// A submit whose answer is lost after podd has stored it is sent again, and counts once.
func TestAnswerIsLost(t *testing.T) {
	for name, client := range languages {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "otherwise\ntext Yes.\n")
			w.Podctl("create", "p", "--dir", w.Workspace)
			submits := func() int { return strings.Count(w.Podctl("tail", "p", "--after", "0", "-o", "json"), `"submitted"`) }
			c := client(t, w, "example/ask", w.Workspace, "sent only once")
			c.Env = append(c.Env, "PODD_SOCKET="+lossy(t, w, "sent only once", func() bool { return submits() > 0 }))
			if out := rig.Run(t, c); out != "Yes.\n[finished]\n" {
				t.Errorf("the client said %q", out)
			}
			if n := submits(); n != 1 {
				t.Errorf("the log has %d submits", n)
			}
		})
	}
}
