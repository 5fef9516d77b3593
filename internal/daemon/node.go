package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync/atomic"
	"time"

	"podd/internal/config"
	"podd/internal/nodes"
	"podd/internal/ops/keeper"
	"podd/internal/paths"
	"podd/internal/server"
	"podd/internal/version"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/store/postgres"
)

// nodeLink connects this podd with the others of its database. A nil one connects nothing.
type nodeLink struct {
	name     string
	identity *nodes.Identity
	peers    *nodes.Peers
	listener net.Listener
	members  *postgres.Membership
	// host is set once it is open.
	host atomic.Pointer[pod.Host]
	// gone are nodes that stopped answering.
	gone chan store.Node
}

// openDatabase opens the database, alone or as a node.
func openDatabase(ctx context.Context, d *Daemon) (*keeper.Database, error) {
	node, err := paths.EnsureNode(d.StateDir)
	if err != nil {
		return nil, err
	}
	s := d.Settings.Store
	c := DatabaseConfig(d.Config)
	c.Leaving, c.Node = d.leaving, node
	if s.Node.Listen == "" {
		return keeper.OpenDatabase(ctx, c)
	}
	link, err := openLink(ctx, s.Node)
	if err != nil {
		return nil, err
	}
	d.undo = append(d.undo, link.close)
	c.Join = &postgres.NodeConfig{
		Name: s.Node.Name, Address: s.Node.Listen, Version: version.String(), Config: digestOf(d.ConfigFile),
		Running: link.running, Looked: link.looked,
	}
	db, err := keeper.OpenDatabase(ctx, c)
	if err != nil {
		return nil, err
	}
	link.members, d.link = db.Members(), link
	return db, nil
}

// openLink reads the certificate and listens.
func openLink(ctx context.Context, n config.NodeConfig) (*nodeLink, error) {
	identity, err := nodes.LoadIdentity(n.Name, n.TLS[0], n.TLS[1], n.TLS[2])
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", n.Listen)
	if err != nil {
		return nil, item.Errorf(item.KindPrecondition, "NODE_LISTEN", "cannot listen at node.listen (%v): choose an address of this machine", err)
	}
	return &nodeLink{name: n.Name, identity: identity, peers: nodes.NewPeers(identity), listener: listener, gone: make(chan store.Node, 64)}, nil
}

// close ends connections.
func (l *nodeLink) close() {
	l.peers.Close()
	_ = l.listener.Close()
}

// digestOf is equal for equal files; empty without one.
func digestOf(file string) string {
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// nodeName is the name of this node; empty for a podd that has its store alone.
func (l *nodeLink) nodeName() string {
	if l == nil {
		return ""
	}
	return l.name
}

func (l *nodeLink) forServer(ctx context.Context) *server.Nodes {
	if l == nil {
		return nil
	}
	return &server.Nodes{Context: context.WithoutCancel(ctx), Store: l.members, Peers: l.peers, Identity: l.identity}
}

// open says that the pods are open.
func (l *nodeLink) open(h *pod.Host) {
	if l != nil {
		l.host.Store(h)
	}
}

// lease is how old the lease is.
func (l *nodeLink) lease() (age time.Duration, joined bool) {
	if l == nil {
		return 0, false
	}
	return l.members.Lease()
}

// leave says to the others that podd stops.
func (l *nodeLink) leave() {
	if l != nil {
		l.members.Leave()
	}
}

// running counts the pods with a running turn.
func (l *nodeLink) running() int {
	if h := l.host.Load(); h != nil {
		return h.Counts().Running
	}
	return 0
}

// looked gets what a look at the other nodes found.
func (l *nodeLink) looked(look postgres.Look) {
	if h := l.host.Load(); h != nil {
		h.Fleet.Elsewhere(look.Alert)
	}
	for _, n := range look.Gone {
		select {
		case l.gone <- n:
		default:
		}
	}
}

// tell raises an alert for each node that stopped answering, until ctx ends.
func (l *nodeLink) tell(ctx context.Context) {
	for {
		select {
		case n := <-l.gone:
			l.host.Load().Alerts.Raise(item.LevelWarn, "node", goneText(n))
		case <-ctx.Done():
			return
		}
	}
}

func goneText(n store.Node) string {
	text := fmt.Sprintf("node %s at %s has not answered since %s", n.Name, n.Address, n.Seen.Format(time.RFC3339))
	switch n.Pods {
	case 0:
		return text
	case 1:
		return text + ": its pod goes on when podd runs there again"
	}
	return text + fmt.Sprintf(": its %d pods go on when podd runs there again", n.Pods)
}

// serve answers other nodes; done is closed when it has ended.
func (l *nodeLink) serve(s *server.Server) (done <-chan struct{}) {
	ended := make(chan struct{})
	if l == nil {
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		_ = s.ServeNodes(l.listener)
	}()
	return ended
}
