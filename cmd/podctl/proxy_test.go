package main

import (
	"bytes"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// proxy is between podctl and podd. Once it has seen a mark on the way to podd, it lets
// no answer back until the connection ends.
type proxy struct {
	listener net.Listener
	podd     string
	mark     []byte
	// passed is closed once the mark was passed on.
	passed chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
}

// newProxy listens beside podd's socket. It ends with the test.
func newProxy(t *testing.T, podd, mark string) *proxy {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(filepath.Dir(podd), "proxy.sock"))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, podd: podd, mark: []byte(mark), passed: make(chan struct{})}
	p.wg.Go(p.serve)
	t.Cleanup(func() {
		_ = l.Close()
		p.wg.Wait()
	})
	return p
}

// path is the path of its socket.
func (p *proxy) path() string { return p.listener.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.podd)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.wg.Go(func() { p.forward(client, server) })
	}
}

// forward copies both ways until one side ends.
func (p *proxy) forward(client, server net.Conn) {
	var mute sync.Mutex
	silent := false
	var wg sync.WaitGroup
	wg.Go(func() {
		defer client.Close()
		chunk := make([]byte, 32<<10)
		for {
			n, err := server.Read(chunk)
			mute.Lock()
			quiet := silent
			mute.Unlock()
			if !quiet {
				_, _ = client.Write(chunk[:n])
			}
			if err != nil {
				return
			}
		}
	})
	var seen []byte
	chunk := make([]byte, 32<<10)
	for {
		n, err := client.Read(chunk)
		seen = append(seen, chunk[:n]...)
		if bytes.Contains(seen, p.mark) {
			p.once.Do(func() {
				mute.Lock()
				silent = true
				mute.Unlock()
				defer close(p.passed)
			})
		}
		_, _ = server.Write(chunk[:n])
		if err != nil {
			break
		}
	}
	_ = server.Close()
	wg.Wait()
}
