package client

import (
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"podd/internal/paths"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// MaxMessageBytes is the largest message that podd and its clients exchange. It is
// above the largest entry that a log can hold.
const MaxMessageBytes = 16 << 20

// MaxRequestBytes is the largest message that podd takes of a client. It is above the largest
// submit, and below what podd sends: many clients at once must not cost podd its memory.
const MaxRequestBytes = 6 << 20

// defaultRetryFor is long enough for a supervisor to start podd again.
const defaultRetryFor = 30 * time.Second

// window is how much a stream, and a connection, may have on its way to a reader. One
// that stands spares the measuring of what the connection carries, which asks podd to
// answer a ping for almost each message; on a socket of this machine there is nothing
// to measure.
const window = 1 << 20

// Config says which podd to talk to.
type Config struct {
	// Socket is the path of podd's socket; required.
	Socket string
	// StateDir is podd's state directory, which holds the client token. It is read
	// when a call needs the token; empty means that such calls go without.
	StateDir string
	// RetryFor is for how long a call that may be repeated (Submit, the streams)
	// goes on trying once podd, having been there, has gone; default 30 seconds,
	// negative: not at all. A podd that never answered is not waited for
	// beyond StartFor.
	RetryFor time.Duration
	// StartFor is for how long a first call waits for a podd that does not listen yet,
	// as one that is being started does not; default not at all.
	StartFor time.Duration
	// Patient streams wait for podd as long as it takes, for one that never answered
	// too. Calls do not.
	Patient bool
	// Waiting, if set, is told once for each Submit that has to wait for podd, with
	// the reason.
	Waiting func(error)
}

// Client is a connection to one podd. Close it after use.
type Client struct {
	conn     *grpc.ClientConn
	dialer   *dialer
	retryFor time.Duration
	patient  bool
	waiting  func(error)
}

// New makes a Client. It does not connect: a podd that cannot be reached shows at
// the first call, as an error of kind unavailable and reason UNREACHABLE.
func New(cfg Config) (*Client, error) {
	if cfg.RetryFor == 0 {
		cfg.RetryFor = defaultRetryFor
	}
	if cfg.Socket == "" {
		return nil, item.Errorf(item.KindInvalid, "NO_SOCKET", "a client needs the path of podd's socket")
	}
	if err := paths.CheckSocketLength(cfg.Socket); err != nil {
		return nil, err
	}
	c := &Client{dialer: &dialer{socket: cfg.Socket, startFor: cfg.StartFor}, retryFor: cfg.RetryFor, patient: cfg.Patient, waiting: cfg.Waiting}
	auth := token{dir: cfg.StateDir}
	conn, err := grpc.NewClient("passthrough:///podd",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(c.dialer.dial),
		grpc.WithNoProxy(),
		grpc.WithAuthority("localhost"),
		grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(connectParams(cfg.StartFor)),
		grpc.WithStaticStreamWindowSize(window),
		grpc.WithStaticConnWindowSize(window),
		grpc.WithChainUnaryInterceptor(c.explainUnary, auth.unary),
		grpc.WithChainStreamInterceptor(c.explainStream, auth.stream),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(MaxMessageBytes),
			grpc.MaxCallSendMsgSize(MaxMessageBytes),
		),
	)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", cfg.Socket, err)
	}
	c.conn = conn
	return c, nil
}

// connectParams tries a local socket again sooner than gRPC would a host. An attempt has
// the time that podd may take to start.
func connectParams(startFor time.Duration) grpc.ConnectParams {
	return grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: minPause, Multiplier: 2, Jitter: 0.2, MaxDelay: maxPause},
		MinConnectTimeout: 5*time.Second + max(startFor, 0),
	}
}

// Close ends the connection; calls and streams under way end with an error.
func (c *Client) Close() error {
	if err := c.conn.Close(); err != nil {
		return fmt.Errorf("close the connection to podd: %w", err)
	}
	return nil
}

// Conn is the connection itself, for calls that are known by their names alone. They
// get the token and podd's errors as all others do.
func (c *Client) Conn() grpc.ClientConnInterface { return c.conn }

// Pods is the generated client of PodService. Submit and Stream of Client do more.
func (c *Client) Pods() poddv1.PodServiceClient { return poddv1.NewPodServiceClient(c.conn) }

// Alerts is the generated client of AlertService. StreamAlerts of Client does more.
func (c *Client) Alerts() poddv1.AlertServiceClient { return poddv1.NewAlertServiceClient(c.conn) }

// Approvals is the generated client of ApprovalService.
func (c *Client) Approvals() poddv1.ApprovalServiceClient {
	return poddv1.NewApprovalServiceClient(c.conn)
}

// MCP is the generated client of McpService.
func (c *Client) MCP() poddv1.McpServiceClient { return poddv1.NewMcpServiceClient(c.conn) }

// Admin is the generated client of AdminService.
func (c *Client) Admin() poddv1.AdminServiceClient { return poddv1.NewAdminServiceClient(c.conn) }
