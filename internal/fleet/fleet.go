package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"podd/internal/commands/lease"
	"podd/internal/fleet/postgres"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/store"
	"podd/pkg/version"
)

// Config says which node this podd is.
type Config struct {
	// Name is unique in the database, Listen an address of this machine that the other nodes reach.
	Name, Listen string
	// TLS are the files of the certificate, of its key, and of the authority.
	TLS [3]string
	// Shared are the directories that several nodes have at the same path.
	Shared []string
	// User is the user who is served.
	User string
	// StateDir has the lease, SpoolDir the records of commands; ConfigFile is what should be the same on all nodes.
	StateDir, SpoolDir, ConfigFile string
	Logger                         *slog.Logger
}

// Fleet is this podd among those of its database. A nil one has its store alone. Its methods may be called from any
// goroutine, those about pods after Attach.
type Fleet struct {
	Config
	identity *identity
	peers    *peers
	listener net.Listener
	members  *postgres.Membership
	// shares are the shared directories, until how long commands of pods there may run.
	shares []string
	until  *lease.Lease
	// host is set by Attach.
	host atomic.Pointer[pod.Host]
	// news are alerts about other nodes.
	news chan string
	base context.Context //nolint:containedctx // That of questions to the store at a handshake.
}

// Open reads the certificate and the shared directories, and listens. Close it after use.
func Open(ctx context.Context, c Config) (*Fleet, error) {
	f := &Fleet{Config: c, news: make(chan string, 64), base: context.WithoutCancel(ctx)}
	for _, dir := range c.Shared {
		share, err := openShare(dir)
		if err != nil {
			return nil, err
		}
		f.shares = append(f.shares, share)
	}
	var err error
	if f.identity, err = loadIdentity(c.Name, c.TLS[0], c.TLS[1], c.TLS[2]); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	if f.listener, err = config.Listen(ctx, "tcp", c.Listen); err != nil {
		return nil, item.Errorf(item.KindPrecondition, "NODE_LISTEN", "cannot listen at node.listen (%v): choose an address of this machine", err)
	}
	f.peers = newPeers(f.identity)
	if err := f.openLease(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Node is what the store needs to know of this podd to join it. Joined says that it has.
func (f *Fleet) Node() *postgres.NodeConfig {
	c := &postgres.NodeConfig{
		Name: f.Name, Address: f.Listen, Version: version.String(), Config: digestOf(f.ConfigFile), Shares: f.shares,
		Running: f.running, Looked: f.looked, Noticed: f.noticed, Fenced: f.fenced,
	}
	if f.until != nil {
		c.Renewing = f.renewing
	}
	return c
}

// Joined gives the fleet the other nodes.
func (f *Fleet) Joined(m *postgres.Membership) { f.members = m }

// Attach gives the fleet the pods of this node.
func (f *Fleet) Attach(h *pod.Host) {
	if f != nil {
		f.host.Store(h)
	}
}

// pods are those of this node.
func (f *Fleet) pods() *pod.Host { return f.host.Load() }

// Close ends connections.
func (f *Fleet) Close() {
	f.peers.Close()
	_ = f.listener.Close()
	if f.until != nil {
		f.until.Close()
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

// NodeName is the name of this node; empty for a podd that has its store alone.
func (f *Fleet) NodeName() string {
	if f == nil {
		return ""
	}
	return f.Name
}

// Lease is how old the lease is.
func (f *Fleet) Lease() (age time.Duration) {
	if f != nil {
		age, _ = f.members.Lease()
	}
	return age
}

// Leave says to the others that podd stops.
func (f *Fleet) Leave() {
	if f != nil {
		f.members.Leave()
	}
}

// giveUpEvery is how often pods that have ended are given up while podd stops.
const giveUpEvery = 100 * time.Millisecond

// GiveUp gives movable pods to other nodes, which go on with them, while the Host ends them, until closed is closed. The
// families of busy pods stay.
func (f *Fleet) GiveUp(ctx context.Context, closed <-chan struct{}) {
	if f == nil || f.members.LostTo() != nil {
		return
	}
	h := f.pods()
	ctx = context.WithoutCancel(ctx)
	again := time.NewTicker(giveUpEvery)
	defer again.Stop()
	for over := false; !over; {
		select {
		case <-again.C:
		case <-closed:
			over = true
		}
		given, err := f.members.Release(ctx, h.Loaded())
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
func (f *Fleet) running() int {
	if h := f.pods(); h != nil {
		return h.Counts().Running
	}
	return 0
}

// looked gets what a look at the other nodes found.
func (f *Fleet) looked(look postgres.Look) {
	// What was taken earlier is recovered with the pods that this node had.
	if h := f.pods(); h != nil && len(look.Taken) > 0 {
		h.AdoptPods(look.Taken)
	}
	for _, n := range look.Gone {
		f.report(goneText(n))
	}
	for from, pods := range look.Took {
		f.report(fmt.Sprintf("node %s is away: node %s took over %s", from, f.Name, ofIts(pods)))
	}
}

// noticed gets what other nodes changed.
func (f *Fleet) noticed(alert item.Seq) {
	if h := f.pods(); h != nil {
		h.Noticed(alert)
	}
}

func (f *Fleet) report(text string) {
	select {
	case f.news <- text:
	default:
	}
}

func ofIts(pods int) string {
	if pods == 1 {
		return "1 of its pods"
	}
	return fmt.Sprintf("%d of its pods", pods)
}

// Run raises the alerts about other nodes, until ctx ends.
func (f *Fleet) Run(ctx context.Context) {
	if f == nil {
		return
	}
	for {
		select {
		case text := <-f.news:
			f.pods().Alerts.Raise(item.LevelWarn, "node", text)
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

// Serve answers other nodes by serve, which ends with the server; done is closed then.
func (f *Fleet) Serve(serve func(net.Listener) error) (done <-chan struct{}) {
	ended := make(chan struct{})
	if f == nil {
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		_ = serve(f.listener)
	}()
	return ended
}

// Options are those of the server that other nodes reach.
func (f *Fleet) Options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.Creds(f.identity.Server(f.base, f.members.Nodes)), grpc.InTapHandle(admit)}
}
