package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"podd/internal/checkouts"
	"podd/internal/endpoints"
	"podd/internal/files"
	"podd/internal/fleet"
	"podd/internal/guard/devices"
	"podd/internal/guard/trust"
	"podd/internal/letters"
	"podd/internal/search"
	"podd/internal/trash"
	"podd/pkg/catalog"
	"podd/pkg/pod"
	"podd/pkg/socket"
	poddv1 "podd/proto/podd/v1"
)

// MaxMessage is the largest message that podd sends, in bytes. It is above the largest
// entry of a log.
const MaxMessage = 16 << 20

// MaxRequest is the largest message that podd accepts, in bytes. It is above the largest
// submit with its images. Decoding takes several times as much memory, for each client at
// once.
const MaxRequest = 16 << 20

// The limits of connections. All clients are local: a connection without a byte for
// greetTimeout is not a client.
const (
	greetTimeout = 5 * time.Second
	// maxConns bounds the open connections, and maxStreams the calls on each of them.
	maxConns   = 512
	maxStreams = 1024
	// workers is how many goroutines serve calls one after another: their stacks have grown already.
	workers = 8
	// maxHeaders bounds the metadata of a call, in bytes.
	maxHeaders = 16 << 10
	// pingAfter is how long a connection may be silent before podd pings the client, which
	// must answer within pingTimeout.
	pingAfter   = time.Minute
	pingTimeout = 20 * time.Second
	// pingPause is how often a client may ping podd.
	pingPause = 5 * time.Second
)

// Config configures a Server; all fields are required.
type Config struct {
	Host *pod.Host
	// Checkouts gives pods checkouts of their own.
	Checkouts *checkouts.Checkouts
	// Trash has the deleted pods.
	Trash *trash.Trash
	// Files keep what the files of pods were.
	Files *files.Files
	// Letters write letters of people.
	Letters *letters.Letters
	// Token is the client token.
	Token string
	// Status is what GetStatus returns besides the counts.
	Status func() Status
	// Reload rereads the configuration.
	Reload func(context.Context) (Reloaded, error)
	// Catalog replaces the catalogue of models, nil by the built-in one, and returns the two.
	Catalog func(ctx context.Context, next *catalog.Catalog) (before, after *catalog.Catalog, err error)
	// Offers lists the models of an endpoint, or of all if it is empty.
	Offers func(ctx context.Context, endpoint string) ([]endpoints.Listing, error)
	// Doubt says why a model's name is probably wrong; empty if it is not. nil
	// doubts none.
	Doubt func(ctx context.Context, model string) string
	// Branch is the branch of a directory; empty without one. nil knows none.
	Branch func(dir string) string
	// Redact removes secrets from an error's message; nil removes nothing.
	Redact func(string) string
	// Keeper maintains the store's file.
	Keeper Keeper
	// Services register those of the wings.
	Services []func(Registrar)
	// Search searches the logs.
	Search *search.Searcher
	// Trust records which workspaces' configuration is trusted.
	Trust  *trust.Book
	Logger *slog.Logger
	// Fleet shares the pods with other podd; nil for a podd that has its store alone.
	Fleet *fleet.Fleet
	// Devices are the paired browsers, and Page says what is known of podd web.
	Devices *devices.Book
	Page    func() WebPage
}

// Registrar is what services are registered with.
type Registrar = grpc.ServiceRegistrar

// Keeper maintains the store's file.
type Keeper interface {
	// Check returns a sentence for each problem, with harmless ones in a list of their own.
	Check(ctx context.Context) (harm, harmless []string, err error)
	// Backup writes a consistent copy.
	Backup(ctx context.Context, w io.Writer) error
	// Compact frees unused space and returns the file's size before and after.
	Compact(ctx context.Context) (before, after int64, err error)
}

// Server is the gRPC server of one podd.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	// nodes serves other nodes; nil without them. web serves podd web.
	nodes, web *grpc.Server
	conns      int
	// left is closed when Stop leaves hanging calls behind.
	left chan struct{}
	// streams counts the open ones; limited are the connections, once Serve has started.
	streams             *atomic.Int64
	limited, limitedWeb atomic.Pointer[socket.Limited]
}

// New registers the services. They serve only the user who runs this process.
func New(c Config) *Server {
	return newServer(c, admission{owner: os.Geteuid(), token: c.Token}, maxConns)
}

func newServer(c Config, a admission, conns int) *Server {
	s := &Server{health: health.NewServer(), conns: conns, left: make(chan struct{}), streams: new(atomic.Int64)}
	if c.Fleet != nil {
		s.nodes = grpc.NewServer(append(s.options(c, nil), c.Fleet.Options()...)...)
		c.register(s.nodes, nil)
	}
	s.grpc = grpc.NewServer(append(s.options(c, c.Fleet), grpc.Creds(newPeerCredentials()), grpc.InTapHandle(a.tap), grpc.NumStreamWorkers(workers))...)
	c.register(s.grpc, c.Fleet)
	poddv1.RegisterWebServiceServer(s.grpc, &web{book: c.Devices, host: c.Host, page: c.Page})
	s.web = s.webServer(c, a.owner)
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	return s
}

// options are those of both listeners.
func (s *Server) options(c Config, f *fleet.Fleet) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(MaxRequest),
		grpc.MaxSendMsgSize(MaxMessage),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.ConnectionTimeout(greetTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingAfter, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingPause, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(unary(c, f)),
		grpc.ChainStreamInterceptor(streaming(c, f, s.streams)),
	}
}

// register registers the services.
func (c Config) register(g *grpc.Server, f *fleet.Fleet) {
	poddv1.RegisterPodServiceServer(g, &pods{host: c.Host, trash: c.Trash, checkouts: c.Checkouts, files: c.Files, letters: c.Letters, trust: c.Trust, status: c.Status, doubt: c.Doubt, branch: c.Branch, user: LocalUser()})
	poddv1.RegisterAlertServiceServer(g, &alerts{host: c.Host})
	poddv1.RegisterApprovalServiceServer(g, &approvals{host: c.Host, user: LocalUser()})
	poddv1.RegisterAdminServiceServer(g, &admin{host: c.Host, status: c.Status, reload: c.Reload, catalog: c.Catalog, offers: c.Offers, keeper: c.Keeper, trust: c.Trust})
	poddv1.RegisterFleetServiceServer(g, &allPods{host: c.Host, searcher: c.Search, fleet: c.Fleet, route: f})
	for _, register := range c.Services {
		register(g)
	}
}

// ServeNodes serves other nodes on a TCP listener until Stop, and closes it.
func (s *Server) ServeNodes(l net.Listener) error {
	if err := s.nodes.Serve(l); !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// Serve serves on a listener of Unix sockets until Stop; if Stop came first, it returns at
// once. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	limited := socket.Limit(l, s.conns)
	s.limited.Store(limited)
	served := make(chan error, 1)
	go func() { served <- s.grpc.Serve(limited) }()
	select {
	case err := <-served:
		if !errors.Is(err, grpc.ErrServerStopped) {
			return err
		}
	case <-s.left:
	}
	return nil
}

// Open is the number of open streams and connections.
func (s *Server) Open() (streams, connections int) {
	if l := s.limited.Load(); l != nil {
		connections = l.Open()
	}
	return int(s.streams.Load()), connections
}

// Drain reports to health checks that the server is about to stop.
func (s *Server) Drain() { s.health.Shutdown() }

// leaveTime is how long Stop waits for calls whose connections it has closed.
const leaveTime = time.Second

// Stop waits for calls in progress and closes all connections, at the latest when ctx ends.
// End all streams before. A call that hangs in a system call is left behind. Call Stop once.
func (s *Server) Stop(ctx context.Context) {
	stopped := make(chan struct{})
	go func() {
		if s.nodes != nil {
			s.nodes.Stop()
		}
		s.web.Stop()
		s.grpc.GracefulStop()
		close(stopped)
	}()
	select {
	case <-stopped:
		return
	case <-ctx.Done():
	}
	go s.grpc.Stop()
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	select {
	case <-stopped:
	case <-late.C:
		close(s.left)
	}
}
