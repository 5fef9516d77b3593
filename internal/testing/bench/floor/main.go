// Command floor is the yardstick for podd: a bare daemon of podd's shape and nothing
// else. It serves pods over gRPC on a Unix socket and has one goroutine per pod. One
// writer commits waiting entries as a group, keeps every entry in bbolt, and syncs it
// before anything that depends on it. The daemon streams entries and fragments to its
// subscribers, asks a model and runs shell commands. It has no approvals, sandbox,
// limits, recovery, pruning, request ids, hooks or checks.
//
// It asks the model through the typed API of openai-go. With -own-sse, the second floor,
// it sends its own bytes and reads the answer with a small stream reader.
//
// openai-go's typed API takes minutes to compile, so only the build tag typed includes it.
//
// internal/testing/bench/README.md says what is compared with it. Rank 6; not part of podd.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"google.golang.org/grpc"

	poddv1 "podd/proto/podd/v1"
)

// typedModel makes models of openai-go's typed API; nil without the build tag typed.
var typedModel func(baseURL string) func() model

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("dir", "", "the directory of the database and of the socket, floor.sock")
	baseURL := flag.String("base-url", "", "the model endpoint")
	own := flag.Bool("own-sse", false, "own request bytes and stream reader in place of openai-go's typed API")
	shell := flag.String("shell", "bash", "the shell that runs commands by -c")
	flag.Parse()
	newModel := typedModel
	if *own {
		newModel = ownModel
	}
	if newModel == nil {
		return errors.New("the typed API is not built in; build with -tags typed, or pass -own-sse")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt) //nolint:forbidigo // main's own context
	defer stop()

	st, err := openStore(filepath.Join(*dir, "floor.db"))
	if err != nil {
		return err
	}
	defer st.close()
	h := &host{store: st, ctx: ctx, shell: *shell, pods: map[string]*pod{}, newModel: newModel(*baseURL)}
	if err := h.load(); err != nil {
		return err
	}
	listener, err := net.Listen("unix", filepath.Join(*dir, "floor.sock"))
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	poddv1.RegisterPodServiceServer(server, &service{host: h})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintln(os.Stderr, "floor ready")
	select {
	case <-ctx.Done():
		h.running.Wait()
		server.Stop()
		return <-served
	case err = <-served:
		return err
	}
}
