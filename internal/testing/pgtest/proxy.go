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

	mu  sync.Mutex
	cut func(toServer bool) bool
	// answers are those that break, each after so many bytes.
	answers []int
	// held is open while data waits.
	held  chan struct{}
	conns map[net.Conn]bool
}

// NewProxy listens in dir. cut, which may be nil, decides for each piece of data on its way
// whether the connection breaks instead; toServer says where it would have gone.
func (s *Server) NewProxy(dir string, cut func(toServer bool) bool) (*Proxy, error) {
	l, err := net.Listen("unix", filepath.Join(dir, filepath.Base(s.Socket())))
	if err != nil {
		return nil, err
	}
	p := &Proxy{server: s, dir: dir, listener: l, conns: map[net.Conn]bool{}, held: make(chan struct{})}
	close(p.held)
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

// CutAnswers breaks connections in the middle of the next answers of the server, each after so
// many bytes: what the client asked for is done, and it does not know.
func (p *Proxy) CutAnswers(after ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = append(p.answers, after...)
}

// Hold keeps all data waiting until release is called, once. It is not called twice meanwhile.
func (p *Proxy) Hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make(chan struct{})
	p.held = held
	return func() { close(held) }
}

// Break ends all connections.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// Close ends all connections, and takes no more. Nothing may be held.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Break()
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
			pass, breaks := p.decide(toServer, n)
			if _, err := to.Write(buf[:pass]); err != nil || breaks {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// decide waits while data is held, and says how many of n bytes go on, and whether the connection
// breaks then.
func (p *Proxy) decide(toServer bool, n int) (pass int, breaks bool) {
	p.mu.Lock()
	held := p.held
	p.mu.Unlock()
	<-held
	p.mu.Lock()
	cut, answers := p.cut, p.answers
	if breaks = !toServer && len(answers) > 0; breaks {
		p.answers = answers[1:]
	}
	p.mu.Unlock()
	switch {
	case breaks:
		return min(n, answers[0]), true
	case cut(toServer):
		return 0, true
	}
	return n, false
}
