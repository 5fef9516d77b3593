package client

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"podd/pkg/item"
	"podd/pkg/paths"
	poddv1 "podd/proto/podd/v1"
)

// MaxMessageBytes is the largest message that podd and its clients exchange. It is
// above the largest entry that a log can hold.
const MaxMessageBytes = 16 << 20

// MaxRequestBytes is the largest message that podd accepts from a client. It is above the
// largest submit with its images: many clients at once must not exhaust podd's memory.
const MaxRequestBytes = 16 << 20

// defaultRetryFor is long enough for a supervisor to restart podd.
const defaultRetryFor = 30 * time.Second

// window is how many bytes a stream, and a connection, may have in flight. A fixed window
// turns off gRPC's bandwidth estimation, which sends a ping with almost every message and
// is pointless on a local socket.
const window = 1 << 20

// Config says which podd to use, and how to wait for it.
type Config struct {
	// Socket is the path of podd's socket; required. With Dial, it only names podd in errors.
	Socket string
	// Dial, if set, makes the connections to podd. Its ctx bounds the connecting.
	Dial func(ctx context.Context) (net.Conn, error)
	// Token, if set, is the client token in place of the one in StateDir; "" sends none.
	Token func(ctx context.Context) (string, error)
	// StateDir is podd's state directory, which contains the client token. It is read when a
	// call needs the token; if empty, such calls are sent without it.
	StateDir string
	// RetryFor is how long a call that may be repeated (Submit, the streams) retries after
	// podd went away; default 30 seconds, negative: not at all. For a podd that never
	// answered, it waits only for StartFor.
	RetryFor time.Duration
	// StartFor is how long the first call waits for a podd that does not listen yet, because
	// it is starting; default: not at all.
	StartFor time.Duration
	// Patient streams wait for podd without a limit, even if it never answered. Calls do not.
	Patient bool
	// Waiting, if set, is called once for each Submit that has to wait for podd, with the
	// reason.
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

// New creates a Client. It does not connect: if podd cannot be reached, the first call
// returns an error of kind unavailable and reason UNREACHABLE.
func New(cfg Config) (*Client, error) {
	if cfg.RetryFor == 0 {
		cfg.RetryFor = defaultRetryFor
	}
	if cfg.Socket == "" {
		return nil, item.Errorf(item.KindInvalid, "NO_SOCKET", "a client needs the path of podd's socket")
	}
	if cfg.Dial == nil {
		if err := paths.CheckSocketLength(cfg.Socket); err != nil {
			return nil, err
		}
		cfg.Dial = func(ctx context.Context) (net.Conn, error) { return Dial(ctx, cfg.Socket) }
	}
	if cfg.Token == nil {
		cfg.Token = tokenIn(cfg.StateDir)
	}
	c := &Client{
		dialer:   &dialer{socket: cfg.Socket, open: cfg.Dial, startFor: cfg.StartFor},
		retryFor: cfg.RetryFor, patient: cfg.Patient, waiting: cfg.Waiting,
	}
	auth := token{read: cfg.Token}
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

// connectParams retries a local socket sooner than gRPC would retry a host. An attempt may
// take as long as podd may take to start.
func connectParams(startFor time.Duration) grpc.ConnectParams {
	return grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: minPause, Multiplier: 2, Jitter: 0.2, MaxDelay: maxPause},
		MinConnectTimeout: 5*time.Second + max(startFor, 0),
	}
}

// Close ends the connection; calls and streams in progress end with an error.
func (c *Client) Close() error {
	if err := c.conn.Close(); err != nil {
		return fmt.Errorf("close the connection to podd: %w", err)
	}
	return nil
}

// Conn is the connection itself, for calls by method name. They get the token and podd's
// errors like all others.
func (c *Client) Conn() grpc.ClientConnInterface { return c.conn }

// Pods is the generated client of PodService. Submit and Stream of Client do more.
func (c *Client) Pods() poddv1.PodServiceClient { return poddv1.NewPodServiceClient(c.conn) }

// Alerts is the generated client of AlertService. StreamAlerts of Client does more.
func (c *Client) Alerts() poddv1.AlertServiceClient { return poddv1.NewAlertServiceClient(c.conn) }

// Approvals is the generated client of ApprovalService.
func (c *Client) Approvals() poddv1.ApprovalServiceClient {
	return poddv1.NewApprovalServiceClient(c.conn)
}

// Fleet is the generated client of FleetService.
func (c *Client) Fleet() poddv1.FleetServiceClient { return poddv1.NewFleetServiceClient(c.conn) }

// Files is the generated client of FileService.
func (c *Client) Files() poddv1.FileServiceClient { return poddv1.NewFileServiceClient(c.conn) }

// Checkouts is the generated client of CheckoutService.
func (c *Client) Checkouts() poddv1.CheckoutServiceClient {
	return poddv1.NewCheckoutServiceClient(c.conn)
}

// Letters is the generated client of LetterService.
func (c *Client) Letters() poddv1.LetterServiceClient { return poddv1.NewLetterServiceClient(c.conn) }

// Triggers is the generated client of TriggerService.
func (c *Client) Triggers() poddv1.TriggerServiceClient {
	return poddv1.NewTriggerServiceClient(c.conn)
}

// Imports is the generated client of ImportService.
func (c *Client) Imports() poddv1.ImportServiceClient { return poddv1.NewImportServiceClient(c.conn) }

// Jobs is the generated client of JobService. ReadJob of Client does more.
func (c *Client) Jobs() poddv1.JobServiceClient { return poddv1.NewJobServiceClient(c.conn) }

// Plugins is the generated client of PluginService.
func (c *Client) Plugins() poddv1.PluginServiceClient { return poddv1.NewPluginServiceClient(c.conn) }

// MCP is the generated client of McpService.
func (c *Client) MCP() poddv1.McpServiceClient { return poddv1.NewMcpServiceClient(c.conn) }

// Web is the service of paired browsers.
func (c *Client) Web() poddv1.WebServiceClient { return poddv1.NewWebServiceClient(c.conn) }

// Admin is the generated client of AdminService.
func (c *Client) Admin() poddv1.AdminServiceClient { return poddv1.NewAdminServiceClient(c.conn) }
