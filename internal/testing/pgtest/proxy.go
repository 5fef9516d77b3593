package pgtest

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
)

// Proxy stands between a client and a server, and cuts connections.
type Proxy struct {
	server   *Server
	dir      string
	listener net.Listener
	work     sync.WaitGroup

	mu    sync.Mutex
	cut   func(toServer bool) bool
	conns map[net.Conn]bool
}

// NewProxy listens in dir. cut, which may be nil, decides for each piece of data on its way
// whether the connection breaks instead; toServer says where it would have gone.
func (s *Server) NewProxy(dir string, cut func(toServer bool) bool) (*Proxy, error) {
	l, err := net.Listen("unix", filepath.Join(dir, filepath.Base(s.Socket())))
	if err != nil {
		return nil, err
	}
	p := &Proxy{server: s, dir: dir, listener: l, conns: map[net.Conn]bool{}}
	p.Cut(cut)
	p.work.Go(p.accept)
	return p, nil
}

// URL is that of the server, by way of the proxy.
func (p *Proxy) URL() string {
	return "postgres:///postgres?" + url.Values{"host": {p.dir}, "user": {"podd"}}.Encode()
}

// Cut replaces the function that decides about cuts.
func (p *Proxy) Cut(cut func(toServer bool) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut = cut; cut == nil {
		p.cut = func(bool) bool { return false }
	}
}

// Close ends all connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
	_ = os.Remove(p.listener.Addr().String())
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server.Socket())
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		end := sync.OnceFunc(func() {
			_ = client.Close()
			_ = server.Close()
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.conns, client)
			delete(p.conns, server)
		})
		p.work.Go(func() { p.copy(server, client, true, end) })
		p.work.Go(func() { p.copy(client, server, false, end) })
	}
}

func (p *Proxy) copy(to, from net.Conn, toServer bool, end func()) {
	defer end()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.mu.Lock()
			cut := p.cut
			p.mu.Unlock()
			if cut(toServer) {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
