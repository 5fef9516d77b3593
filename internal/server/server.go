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

	"podd/internal/guard/trust"
	"podd/internal/socket"
	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// MaxMessage is the largest message that is sent, in bytes. It is above
// the largest entry that a log can have.
const MaxMessage = 16 << 20

// MaxRequest is the largest message that is taken, in bytes. It is above the largest submit.
// Decoding takes several times that, for each client at once.
const MaxRequest = 6 << 20

// The bounds of connections. All clients are local, so that one who takes longer
// than greetTimeout for the first bytes is none.
const (
	greetTimeout = 5 * time.Second
	// maxConns is how many connections there are at once, and maxStreams how many
	// calls on each of them.
	maxConns   = 512
	maxStreams = 1024
	// maxHeaders bounds the metadata of a call, in bytes.
	maxHeaders = 16 << 10
	// pingAfter is how long a connection may be silent before podd asks whether the
	// client is there; it then has pingTimeout to answer.
	pingAfter   = time.Minute
	pingTimeout = 20 * time.Second
	// pingPause is how often a client may ask the same.
	pingPause = 5 * time.Second
)

// Config is what a Server works with; all of it is required.
type Config struct {
	Host *pod.Host
	// Token is what calls that change policy must show.
	Token string
	// Status is what GetStatus tells beside the counts.
	Status func() Status
	// Reload reads the configuration again.
	Reload func(context.Context) (Reloaded, error)
	// Redact takes secrets out of an error's message; nil takes none.
	Redact func(string) string
	// Keeper looks after the store's file.
	Keeper Keeper
	// MCP shows the MCP servers of workspaces.
	MCP MCP
	// Trust records which workspaces' configuration is trusted.
	Trust  *trust.Book
	Logger *slog.Logger
}

// Keeper looks after the store's file.
type Keeper interface {
	// Check gives one sentence for each thing that is wrong, those that do no harm apart.
	Check(ctx context.Context) (harm, harmless []string, err error)
	// Backup writes a consistent copy.
	Backup(ctx context.Context, w io.Writer) error
	// Compact gives unused space back and says how large the file was and is.
	Compact(ctx context.Context) (before, after int64, err error)
}

// Server is the gRPC server of one podd.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
	conns  int
	// left is closed when Stop leaves calls behind that hang.
	left chan struct{}
	// streams are those that are open; limited are the connections, once Serve has begun.
	streams *atomic.Int64
	limited atomic.Pointer[socket.Limited]
}

// New registers the services. They serve the user who runs this process.
func New(c Config) *Server {
	return newServer(c, admission{owner: os.Geteuid(), token: c.Token}, maxConns)
}

func newServer(c Config, a admission, conns int) *Server {
	streams := new(atomic.Int64)
	g := grpc.NewServer(
		grpc.Creds(newPeerCredentials()),
		grpc.InTapHandle(a.tap),
		grpc.MaxRecvMsgSize(MaxRequest),
		grpc.MaxSendMsgSize(MaxMessage),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.ConnectionTimeout(greetTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingAfter, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingPause, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(unary(c)),
		grpc.ChainStreamInterceptor(streaming(c, streams)),
	)
	poddv1.RegisterPodServiceServer(g, &pods{host: c.Host, trust: c.Trust})
	poddv1.RegisterAlertServiceServer(g, &alerts{host: c.Host})
	poddv1.RegisterApprovalServiceServer(g, &approvals{host: c.Host, user: localUser()})
	poddv1.RegisterAdminServiceServer(g, &admin{host: c.Host, status: c.Status, reload: c.Reload, keeper: c.Keeper, trust: c.Trust})
	poddv1.RegisterMcpServiceServer(g, &mcpServers{host: c.Host, mcp: c.MCP, trust: c.Trust})
	h := health.NewServer()
	healthv1.RegisterHealthServer(g, h)
	reflection.Register(g)
	return &Server{grpc: g, health: h, conns: conns, left: make(chan struct{}), streams: streams}
}

// Serve answers on a listener of Unix sockets until Stop, not at all when that came
// first. It closes the listener.
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

// Open says how many streams and connections there are.
func (s *Server) Open() (streams, connections int) {
	if l := s.limited.Load(); l != nil {
		connections = l.Open()
	}
	return int(s.streams.Load()), connections
}

// Drain tells health checks that the server is about to stop.
func (s *Server) Drain() { s.health.Shutdown() }

// leaveTime is how long Stop waits for calls whose connections it has cut.
const leaveTime = time.Second

// Stop waits for calls under way and closes all connections; those left when ctx
// ends are cut. Streams must have been ended before. A call that hangs in the system is left
// behind. Stop is called once.
func (s *Server) Stop(ctx context.Context) {
	stopped := make(chan struct{})
	go func() {
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
