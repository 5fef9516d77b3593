package server

import (
	"context"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"podd/pkg/pod"
	poddv1 "podd/proto/podd/v1"
)

// MaxMessage is the largest message that is taken or sent, in bytes.
const MaxMessage = 16 << 20

// Config is what a Server works with; all of it is required.
type Config struct {
	Host *pod.Host
	// Token is what calls that change policy must show.
	Token string
	// Status is what GetStatus tells beside the counts.
	Status Status
	Logger *slog.Logger
}

// Server is the gRPC server of one podd.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
}

// New registers the services.
func New(c Config) *Server {
	g := grpc.NewServer(
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.MaxSendMsgSize(MaxMessage),
		grpc.ConnectionTimeout(5*time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute}),
		grpc.ChainUnaryInterceptor(unary(c)),
		grpc.ChainStreamInterceptor(streaming(c)),
	)
	poddv1.RegisterPodServiceServer(g, &pods{host: c.Host})
	poddv1.RegisterAlertServiceServer(g, &alerts{host: c.Host})
	poddv1.RegisterApprovalServiceServer(g, approvals{})
	poddv1.RegisterAdminServiceServer(g, &admin{host: c.Host, status: c.Status})
	h := health.NewServer()
	healthv1.RegisterHealthServer(g, h)
	reflection.Register(g)
	return &Server{grpc: g, health: h}
}

// Serve answers on a listener until Stop. It closes the listener.
func (s *Server) Serve(l net.Listener) error { return s.grpc.Serve(l) }

// Drain tells health checks that the server is about to stop.
func (s *Server) Drain() { s.health.Shutdown() }

// Stop waits for calls under way and closes all connections; those left when ctx
// ends are cut. Streams must have been ended before.
func (s *Server) Stop(ctx context.Context) {
	stopped := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		s.grpc.Stop()
		<-stopped
	}
}
