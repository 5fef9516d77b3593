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

	"podd/internal/commands/lease"
	"podd/internal/config"
	"podd/internal/fleet/postgres"
	"podd/internal/guard/sandbox"
	"podd/internal/nodes"
	"podd/internal/ops/keeper"
	"podd/internal/server"
	"podd/pkg/item"
	"podd/pkg/paths"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/version"
)

// nodeLink connects this podd with the others of its database. A nil one connects nothing.
type nodeLink struct {
	name     string
	identity *nodes.Identity
	peers    *nodes.Peers
	listener net.Listener
	members  *postgres.Membership
	// shares are the shared directories, until how long commands of pods there may run.
	shares []string
	until  *lease.Lease
	// host is set once it is open.
	host atomic.Pointer[pod.Host]
	// news are alerts about other nodes.
	news chan string
}

// openDatabase opens the database, alone or as a node.
func openDatabase(ctx context.Context, d *Daemon) (*keeper.Database, error) {
	node, err := paths.EnsureNode(d.StateDir)
	if err != nil {
		return nil, err
	}
	s := d.Settings.Node
	c := DatabaseConfig(d.Config)
	c.Leaving, c.Node = d.leaving, node
	if s.Listen == "" {
		return keeper.OpenDatabase(ctx, c)
	}
	shares, err := openShares(d)
	if err != nil {
		return nil, err
	}
	link, err := openLink(ctx, s)
	if err != nil {
		return nil, err
	}
	d.undo = append(d.undo, link.close)
	c.Join = &postgres.NodeConfig{
		Name: s.Name, Address: s.Listen, Version: version.String(), Config: digestOf(d.ConfigFile), Shares: shares,
		Running: link.running, Looked: link.looked, Noticed: link.noticed,
	}
	if err := link.openLease(d, c.Join); err != nil {
		return nil, err
	}
	db, err := keeper.OpenDatabase(ctx, c)
	if err != nil {
		return nil, err
	}
	link.members, d.link = db.Members(), link
	return db, nil
}

// openShares opens the shared directories of the configuration. Only bwrap lets podd end all that
// a command started, which it has to do before another node goes on.
func openShares(d *Daemon) (shares []string, err error) {
	dirs := d.Settings.Node.Shared
	if len(dirs) == 0 {
		return nil, nil
	}
	if box := d.detected(); box.Mode() != sandbox.Bwrap {
		return nil, item.Errorf(item.KindPrecondition, "NODE_SHARED",
			"node.shared needs the sandbox bwrap, which here is %s: install bubblewrap, or remove node.shared (%s)", box.Mode(), box.Why())
	}
	for _, dir := range dirs {
		share, err := nodes.OpenShare(dir)
		if err != nil {
			return nil, err
		}
		shares = append(shares, share)
	}
	return shares, nil
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
	return &nodeLink{name: n.Name, identity: identity, peers: nodes.NewPeers(identity), listener: listener, news: make(chan string, 64)}, nil
}

// close ends connections.
func (l *nodeLink) close() {
	l.peers.Close()
	_ = l.listener.Close()
	if l.until != nil {
		l.until.Close()
	}
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

// giveUpEvery is how often pods that have ended are given up while podd stops.
const giveUpEvery = 100 * time.Millisecond

// giveUp gives movable pods to other nodes, which go on with them, while the Host ends them, until closed is closed. The
// families of busy pods stay.
func (l *nodeLink) giveUp(ctx context.Context, h *pod.Host, closed <-chan struct{}) {
	if l == nil || l.members.LostTo() != nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	again := time.NewTicker(giveUpEvery)
	defer again.Stop()
	for over := false; !over; {
		select {
		case <-again.C:
		case <-closed:
			over = true
		}
		given, err := l.members.Release(ctx, h.Loaded())
		if err != nil {
			h.Logger.Warn("cannot give pods to other nodes, which take them over once podd has stopped", "error", err)
			return
		}
		for _, id := range given {
			h.Workspaces.Abandon(id, false) // What it started here has no reader any more.
		}
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
	// What was taken earlier is recovered with the pods that this node had.
	if h := l.host.Load(); h != nil && len(look.Taken) > 0 {
		h.AdoptPods(look.Taken)
	}
	for _, n := range look.Gone {
		l.report(goneText(n))
	}
	for from, pods := range look.Took {
		l.report(fmt.Sprintf("node %s is away: node %s took over %s", from, l.name, ofIts(pods)))
	}
}

// noticed gets what other nodes changed.
func (l *nodeLink) noticed(alert item.Seq) {
	if h := l.host.Load(); h != nil {
		h.Noticed(alert)
	}
}

func (l *nodeLink) report(text string) {
	select {
	case l.news <- text:
	default:
	}
}

func ofIts(pods int) string {
	if pods == 1 {
		return "1 of its pods"
	}
	return fmt.Sprintf("%d of its pods", pods)
}

// tell raises the alerts about other nodes, until ctx ends.
func (l *nodeLink) tell(ctx context.Context) {
	for {
		select {
		case text := <-l.news:
			l.host.Load().Alerts.Raise(item.LevelWarn, "node", text)
		case <-ctx.Done():
			return
		}
	}
}

func goneText(n store.Node) string {
	text := fmt.Sprintf("node %s at %s has not answered since %s", n.Name, n.Address, n.Seen.Format(time.RFC3339))
	switch staying := n.Pods - n.Movable; staying {
	case 0:
		return text
	case 1:
		return text + ": 1 pod goes on when podd runs there again"
	default:
		return text + fmt.Sprintf(": %d pods go on when podd runs there again", staying)
	}
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
