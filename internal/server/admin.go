package server

import (
	"bufio"
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"podd/internal/endpoints"
	"podd/internal/guard/spending"
	"podd/internal/guard/trust"
	"podd/internal/spec"
	"podd/pkg/catalog"
	"podd/pkg/item"
	"podd/pkg/pod"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// Status describes a running podd.
type Status struct {
	Version   string
	PID       int
	StartedAt time.Time
	Socket    string
	StateDir  string
	// Store names the file or the database that keeps the pods.
	Store string
	// Node is the name of this node and Lease the age of its lease; zero for a podd that has
	// the store alone.
	Node  string
	Lease time.Duration
	// Config is the configuration file; empty without one.
	Config string
	// Sandbox is what shell commands run in: none, bwrap, landlock.
	Sandbox string
	// SandboxNote says why podd uses this sandbox and not a better one; may be empty.
	SandboxNote string
	// ShellCommands says how podd runs them: confine, ask, refuse, run.
	ShellCommands string
	// HiddenCredentials is how many of the user's files and directories are hidden from them.
	HiddenCredentials int
	// Network says whether they reach the network unasked in a pod that does not say it.
	Network bool
	// LauncherNote says why commands start by podd's own binary; empty if they start by the
	// smaller podd-launch.
	LauncherNote string
	// Ask is when the calls of a pod that does not say it ask a person.
	Ask string
	// Model is the configured model; empty if podd chooses it at the first request.
	Model string
	// Others are the other models that the configuration names.
	Others []string
	// Endpoint is the endpoint of models that name none, Endpoints are all of them.
	Endpoint  string
	Endpoints []endpoints.Endpoint
	// ConfigLoadedAt is when the current configuration was read.
	ConfigLoadedAt time.Time
	// NeedRestart are keys whose values in the file take effect at the next start.
	NeedRestart []string
	// Spending is what counts towards the limit of a day.
	Spending spending.Status
	// ConfigError is why the last reload failed; empty if it succeeded.
	ConfigError string
}

// reaches says whether the commands of a pod reach the network unasked. Nothing keeps them
// from it without a sandbox.
func (s Status) reaches(spec item.PodSpec, above []item.Pod) bool {
	return s.Sandbox == "none" || spec.ReachesNetwork(above, s.Network)
}

// Reloaded is the result of a reload.
type Reloaded struct {
	// Keys have new values, which are in effect. NeedRestart have values that take effect
	// when podd starts the next time.
	Keys, NeedRestart []string
	// Warnings say what is probably wrong with it.
	Warnings []string
}

// admin serves AdminService.
type admin struct {
	poddv1.UnimplementedAdminServiceServer
	host   *pod.Host
	keeper Keeper
	status func() Status
	reload func(context.Context) (Reloaded, error)
	// catalog replaces what is known about models.
	catalog func(ctx context.Context, next *catalog.Catalog) (before, after *catalog.Catalog, err error)
	// offers lists the models of an endpoint, or of all.
	offers func(ctx context.Context, endpoint string) ([]endpoints.Listing, error)
	trust  *trust.Book
}

// GetStatus describes the daemon and its settings.
func (s *admin) GetStatus(ctx context.Context, _ *poddv1.GetStatusRequest) (*poddv1.GetStatusResponse, error) {
	list, err := s.host.List(ctx, "")
	if err != nil {
		return nil, err
	}
	list = reaching(ctx).within(ctx, list)
	counts := s.host.Counts()
	status := s.status()
	answer := &poddv1.GetStatusResponse{
		Version:        status.Version,
		Pid:            int64(status.PID),
		StartedAt:      timestamppb.New(status.StartedAt),
		Socket:         status.Socket,
		StateDir:       status.StateDir,
		Store:          status.Store,
		Config:         status.Config,
		Pods:           int32(len(list)),
		PodsLoaded:     int32(counts.Loaded),
		PodsRunning:    int32(counts.Running),
		Jobs:           int32(counts.Jobs),
		Sandbox:        status.Sandbox,
		SandboxNote:    status.SandboxNote,
		ShellCommands:  status.ShellCommands,
		Model:          status.Model,
		Endpoint:       status.Endpoint,
		ConfigLoadedAt: timestamppb.New(status.ConfigLoadedAt),
		NeedRestart:    status.NeedRestart,
		ConfigError:    status.ConfigError,
		ApiLevel:       wire.APILevel(),

		HiddenCredentials: int32(status.HiddenCredentials),
		Network:           status.Network,
		LauncherNote:      status.LauncherNote,
	}
	if status.Node != "" {
		answer.Node, answer.LeaseAge = status.Node, durationpb.New(status.Lease)
	}
	for _, e := range status.Endpoints {
		shown := &poddv1.Endpoint{Name: e.Name, BaseUrl: e.Address(), Api: e.API, KeySource: e.KeySource()}
		if answer.Endpoints = append(answer.Endpoints, shown); e.Name == status.Endpoint {
			answer.BaseUrl, answer.Api, answer.HasKey = shown.BaseUrl, shown.Api, shown.KeySource != ""
		}
	}
	for _, p := range list {
		if p.Status.Pause.FromStart() {
			answer.PodsLeft++
		}
	}
	answer.Spending = spent(status.Spending, list)
	return answer, nil
}

// spent is what pods spent today, and how many of them wait for the next day; nil without
// a limit.
func spent(s spending.Status, pods []item.Pod) *poddv1.Spending {
	if s.Cap == 0 {
		return nil
	}
	out := &poddv1.Spending{
		SpentToday: s.USD, MaxCostPerDay: s.Cap, Left: max(0, s.Cap-s.USD), UnpricedRequests: s.Unpriced, NextDay: timestamppb.New(s.NextDay),
	}
	for _, p := range pods {
		if pause := p.Status.Pause; pause.ByItself() && pause.By == spending.Name {
			out.WaitingPods++
		}
	}
	return out
}

// Check verifies the whole store, or logs.
func (s *admin) Check(ctx context.Context, r *poddv1.CheckRequest) (*poddv1.CheckResponse, error) {
	if r.GetLogs() {
		found, err := spec.Pods(ctx, s.host.Store, r.GetPods()...)
		return &poddv1.CheckResponse{Findings: found}, err
	}
	harm, harmless, err := s.keeper.Check(ctx)
	if err != nil {
		return nil, err
	}
	return &poddv1.CheckResponse{Findings: harm, Harmless: harmless}, nil
}

// backupChunk is the size of a message of a backup, in bytes.
const backupChunk = 256 << 10

// Backup streams a copy of the store.
func (s *admin) Backup(_ *poddv1.BackupRequest, out poddv1.AdminService_BackupServer) error {
	w := bufio.NewWriterSize(chunks{out}, backupChunk)
	if err := s.keeper.Backup(out.Context(), w); err != nil {
		return err
	}
	return w.Flush()
}

// chunks is a writer that sends.
type chunks struct {
	out poddv1.AdminService_BackupServer
}

// Write sends p, in several messages if needed.
func (c chunks) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, backupChunk) {
		if err := c.out.Send(&poddv1.BackupResponse{Chunk: part}); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// CompactStore returns unused space to the disk.
func (s *admin) CompactStore(ctx context.Context, _ *poddv1.CompactStoreRequest) (*poddv1.CompactStoreResponse, error) {
	before, after, err := s.keeper.Compact(ctx)
	if err != nil {
		return nil, err
	}
	return &poddv1.CompactStoreResponse{BytesBefore: before, BytesAfter: after}, nil
}

// Reload rereads the configuration.
func (s *admin) Reload(ctx context.Context, _ *poddv1.ReloadRequest) (*poddv1.ReloadResponse, error) {
	r, err := s.reload(ctx)
	if err != nil {
		return nil, err
	}
	return &poddv1.ReloadResponse{Reloaded: r.Keys, NeedRestart: r.NeedRestart, Warnings: r.Warnings}, nil
}
